import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DenialsOptions, denialsIn } from './denials.ts';

const told = (output: string, options: Partial<DenialsOptions> = {}) =>
  denialsIn(output, { network: true, ...options }).map(({ what, target }) => `${what} ${target}`);

test('a program’s own words say what it was kept from', () => {
  assert.deepEqual(
    told('bash: line 1: /etc/x: Read-only file system\ncurl: (6) Could not resolve host: a.org'),
    ['write /etc/x', 'network a.org'],
  );
  assert.deepEqual(told("Error: EROFS: read-only file system, open '/x/y'"), ['write /x/y']);
  assert.deepEqual(told('Could not resolve host: a.org', { network: false }), []);
});

test('what may be somebody else’s refusal is judged by the path', () => {
  const kept = (path: string) => (path === '/mine' ? 'write' : path === '/key' ? 'read' : undefined);
  const output =
    "sh: /theirs: Permission denied\ntouch: cannot touch '/mine': Permission denied\ncat: /key: Permission denied";
  assert.deepEqual(told(output, { kept }), ['write /mine', 'read /key']);
  assert.deepEqual(told("EACCES: permission denied, open '/mine'", { kept }), ['write /mine']);
  assert.deepEqual(told(output), []);
});

test('that there were too many processes is told with the limit', () => {
  const output = 'bash: fork: retry: Resource temporarily unavailable';
  assert.deepEqual(denialsIn(output, { network: false, processes: 40 }), [
    {
      what: 'limit',
      target: '',
      detail: 'A command may have 40 processes and threads at once (max_processes).',
    },
  ]);
  assert.deepEqual(told(output), []);
});

const details = (output: string, network = true) =>
  denialsIn(output, { network }).map(({ detail }) => detail);

test('a server of another command that cannot be reached is told as what it is', () => {
  for (const [said, address] of [
    [
      'curl: (7) Failed to connect to 127.0.0.1 port 8765 after 0 ms: Couldn’t connect to server',
      '127.0.0.1',
    ],
    ['curl: (7) Failed to connect to localhost port 3000', 'localhost'],
    ['Error: connect ECONNREFUSED ::1:3000', '::1'],
  ] as const)
    assert.deepEqual(details(said), [
      `In the sandbox ${address} is each command's own: a server that runs in another command or job is not reached. Start it and use it in one command.`,
    ]);
});

test('where commands share a network, a server that cannot be reached is none of theirs', () => {
  const said = 'curl: (7) Failed to connect to localhost port 3000';
  assert.deepEqual(
    denialsIn(said, { network: true, shared: true }).map(({ detail }) => detail),
    [
      "In the sandbox localhost is this conversation's own: servers of its running commands and jobs are reached, once they listen, and none of this machine's.",
    ],
  );
});

test('nothing is said of it where the network is the machine’s, or of addresses elsewhere', () => {
  assert.deepEqual(details('connect ECONNREFUSED 127.0.0.1:3000', false), []);
  assert.deepEqual(details('connect ECONNREFUSED 10.0.0.7:3000'), []);
});
