// The sandbox through the whole program: what a command may do without being asked about it again, what the model and
// the person are told of what it may not, and what happens where there is none.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply, ScriptedCall } from '../../src/dev/scenario.ts';
import { runCrab } from '../support/crab.ts';
import { type Journey, journey, linesOf, nearTest, onEachWire, onlySession } from '../support/journey.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { messagesOf, setting } from './bad-setting.ts';

const bash = (command: string, more: Readonly<Record<string, unknown>> = {}): ScriptedCall => ({
  name: 'bash',
  input: { command, ...more },
});

const oneByOne = (...calls: readonly ScriptedCall[]): readonly Reply[] => [
  ...calls.map((call) => ({ calls: [call] })),
  { text: 'That is all.' },
];

const BYPASS = ['--permission-mode', 'bypassPermissions'];

/** What the model was told of each call. */
function told(at: Journey): readonly string[] {
  const messages = at.asked().at(-1)?.messages ?? [];
  return messages.flatMap((said) => (said.role === 'result' ? [said.text] : []));
}

async function settings(at: Journey, toml: string): Promise<void> {
  await mkdir(join(at.work.home, '.crab'), { recursive: true });
  await writeFile(join(at.work.home, '.crab/config.toml'), toml);
}

onEachWire('a command is confined, and what it was kept from is told to everybody', async (wire) => {
  const calls = [
    bash('echo in > inside.txt; echo out > ../outside.txt'),
    bash('mkdir -p .vscode; echo {} > .vscode/tasks.json'),
  ];
  await using at = await journey(wire, { script: oneByOne(...calls) });
  await mkdir(join(at.work.home, '.ssh'), { recursive: true });
  const exit = await at.run(['-p', 'go', '--output-format', 'stream-json', ...BYPASS]);
  assert.equal(exit.code, 0, exit.stderr);
  assert.equal(readFileSync(at.work.file('inside.txt'), 'utf8'), 'in\n');
  assert.equal(existsSync(at.work.file('../outside.txt')), false);
  assert.equal(existsSync(at.work.file('.vscode/tasks.json')), false);
  assert.match(
    told(at)[1] ?? '',
    /\[sandbox\] .*tasks\.json was made by a program in the sandbox and taken away/,
  );
  const events = linesOf(exit).filter(({ subtype }) => subtype === 'sandbox_violation');
  assert.deepEqual(
    events.map(({ tool_name, what, target }) => ({ tool_name, what, target })),
    [{ tool_name: 'bash', what: 'planted', target: at.work.file('.vscode/tasks.json') }],
  );
  const kept = (await onlySession(at)).entries.filter(
    (entry) => entry.type === 'custom' && entry.customType === 'crab.sandboxViolation',
  );
  assert.equal(kept.length, 1);
});

onEachWire('a blocked write says how to go on', async (wire) => {
  await using at = await journey(wire, { script: oneByOne(bash('echo x > /etc/crab-test')) });
  const exit = await at.run(['-p', 'go', ...BYPASS]);
  assert.equal(existsSync('/etc/crab-test'), false);
  assert.match(
    told(at)[0] ?? '',
    /\[sandbox\] \/etc\/crab-test is read-only in the sandbox\.\n\[sandbox\] Do it another way/,
  );
  assert.match(exit.stderr, /bash: \/etc\/crab-test is read-only in the sandbox/);
});

test('a model that runs into the sandbox with the same call again and again is told so', async () => {
  const calls = [1, 2, 3].map(() => bash('echo x > /etc/crab-test'));
  await using at = await journey('anthropic', { script: oneByOne(...calls) });
  assert.equal((await at.run(['-p', 'go', ...BYPASS])).code, 0);
  assert.deepEqual(
    told(at).map((text) => /\[sandbox\] This very call was refused 3 times\./.test(text)),
    [false, false, true],
  );
});

onEachWire('keys and logins of the person cannot be read by a command', async (wire) => {
  const calls = [bash('cat ~/.ssh/id_test ~/.crab/config.toml; ls ~/.ssh')];
  await using at = await journey(wire, { script: oneByOne(...calls) });
  await settings(at, '# the-settings');
  await mkdir(join(at.work.home, '.ssh'), { recursive: true });
  await writeFile(join(at.work.home, '.ssh/id_test'), 'the-private-key');
  await at.run(['-p', 'go', ...BYPASS]);
  assert.doesNotMatch(told(at)[0] ?? '', /the-private-key|the-settings/);
});

onEachWire(
  'leaving the sandbox is refused where nobody can be asked, and always where it is required',
  async (wire) => {
    const leave = { dangerously_disable_sandbox: true };
    const script = oneByOne(bash('echo x > ../outside.txt', leave));
    for (const args of [
      ['--allowedTools', 'Bash'],
      ['--sandbox', 'required', ...BYPASS],
    ]) {
      await using at = await journey(wire, { script });
      const exit = await at.run(['-p', 'go', ...args]);
      assert.equal(exit.code, 7);
      assert.match(told(at)[0] ?? '', /outside the sandbox|leave the sandbox/);
      assert.equal(existsSync(at.work.file('../outside.txt')), false);
    }
    await using at = await journey(wire, { script });
    await at.run(['-p', 'go', ...BYPASS]);
    assert.equal(readFileSync(at.work.file('../outside.txt'), 'utf8'), 'x\n');
  },
);

onEachWire('without the sandbox it says so each time', async (wire) => {
  await using at = await journey(wire, { script: oneByOne(bash('echo x > ../outside.txt')) });
  const exit = await at.run(['-p', 'go', '--sandbox', 'off', ...BYPASS]);
  assert.match(exit.stderr, /The sandbox is off: commands run with all your rights/);
  assert.equal(readFileSync(at.work.file('../outside.txt'), 'utf8'), 'x\n');
});

onEachWire('only the hosts of the settings are reached', async (wire) => {
  const url = 'http://localhost';
  const script = oneByOne(
    bash(`curl -sS -m 10 --noproxy "" ${url}:$PORT/v1/models; curl -sS -m 10 http://example.org`),
  );
  await using at = await journey(wire, { script });
  await settings(at, '[sandbox]\nprivate_hosts = ["localhost"]\n');
  const { port } = new URL(at.provider.url);
  const exit = await at.run(['-p', 'go', '--output-format', 'stream-json', ...BYPASS], {
    env: { PORT: port },
  });
  assert.match(
    told(at)[0] ?? '',
    /example\.org:80 is blocked by the sandbox: it is not among the allowed hosts/,
  );
  assert.doesNotMatch(told(at)[0] ?? '', /localhost:\d+ (?:is blocked|cannot be reached)/);
  const events = linesOf(exit).filter(({ subtype }) => subtype === 'sandbox_violation');
  assert.deepEqual(
    events.map(({ what, target }) => ({ what, target })),
    [{ what: 'network', target: 'example.org:80' }],
  );
});

const SERVING = `node -e 'require("http").createServer((_, response) => response.end("served")).listen(3000, "127.0.0.1")'`;
const ASKING = 'until curl -sf -m 5 http://127.0.0.1:3000/; do sleep 0.05; done';

onEachWire('a server in the background is reached by later commands, and by nobody else', async (wire) => {
  await using at = await journey(wire, {
    script: oneByOne(
      bash(SERVING, { run_in_background: true }),
      bash(ASKING),
      bash('curl -sS -m 5 http://127.0.0.1:$PORT/v1/models'),
      bash('curl -s -m 5 http://127.0.0.1:3000/ | grep served || echo nobody', {
        dangerously_disable_sandbox: true,
      }),
    ),
  });
  const { port } = new URL(at.provider.url);
  const exit = await at.run(['-p', 'go', ...BYPASS], { env: { PORT: port } });
  assert.equal(exit.code, 0, exit.stderr);
  const [, next = '', machine = '', outside = ''] = told(at);
  assert.match(next, /served/);
  assert.match(machine, /this conversation's own: servers of its running commands and jobs are reached/);
  assert.match(outside, /^nobody/);
});

test('a server in the background is reached by a command on a terminal', async () => {
  const calls = [bash(SERVING, { run_in_background: true }), bash(ASKING, { pty: true })];
  await using at = await journey('anthropic', { script: oneByOne(...calls) });
  await at.run(['-p', 'go', ...BYPASS]);
  assert.match(told(at)[1] ?? '', /served/);
});

nearTest('a server in the background is reached also for a user who owns nothing', async () => {
  await using at = await setting(oneByOne(bash(SERVING, { run_in_background: true }), bash(ASKING)));
  const exit = await at.runAsNobody(['-p', 'go', '--sandbox', 'required', ...BYPASS]);
  assert.equal(exit.code, 0, exit.stderr);
  assert.match(messagesOf(at).at(-2) ?? '', /^toolResult: served/);
});

for (const args of [BYPASS, [...BYPASS, '--sandbox', 'off']])
  test(`a command that takes too much is ended, and everybody is told (${args.at(-1)})`, async () => {
    const script = oneByOne(bash(`echo up; perl -e '$held = "x" x (150 << 20); sleep 60'`));
    await using at = await journey('anthropic', { script });
    await settings(at, '[sandbox]\nmax_memory_mib = 100\n');
    const exit = await at.run(['-p', 'go', '--output-format', 'stream-json', ...args]);
    assert.equal(exit.code, 0, exit.stderr);
    const sentence = /It was ended: it used \d+ MiB of memory, and 100 MiB is the limit \(max_memory_mib\)\./;
    assert.match(told(at)[0] ?? '', /^up\n[\s\S]*\[sandbox\] It was ended/);
    assert.match(told(at)[0] ?? '', sentence);
    const [event] = linesOf(exit).filter(({ subtype }) => subtype === 'sandbox_violation');
    assert.equal(event?.['what'], 'limit');
    assert.match(String(event?.['detail']), sentence);
  });

test('what a command is kept from while its session is closed is in the session', async () => {
  const planting = `trap 'echo {} > .mcp.json; exit' TERM; echo > up; while :; do sleep 0.05; done`;
  const script = oneByOne(
    bash(planting, { run_in_background: true }),
    bash('until [ -e up ]; do sleep 0.05; done'),
  );
  await using at = await journey('anthropic', { script });
  assert.equal((await at.run(['-p', 'go', ...BYPASS])).code, 0);
  assert.equal(existsSync(at.work.file('.mcp.json')), false);
  const kept = (await onlySession(at)).entries.flatMap((entry) =>
    entry.type === 'custom' && entry.customType === 'crab.sandboxViolation'
      ? [Object(entry.data).target]
      : [],
  );
  assert.deepEqual(kept, [at.work.file('.mcp.json')]);
});

test('kill -9 leaves nothing running, also of what nothing confined', async () => {
  const naps = [1, 2, 3].map((part) => `sleep 60.${process.pid}${part}`);
  const command = (nap: string) => `trap '' HUP INT TERM; (setsid ${nap} &); env -i ${nap} & ${nap}; ${nap}`;
  const [behind = '', before = '', terminal = ''] = naps.map(command);
  const calls = [
    bash(behind, { run_in_background: true }),
    bash(terminal, { pty: true, run_in_background: true }),
    bash(before),
  ];
  await using at = await journey('anthropic', { script: oneByOne(...calls) });
  await using crab = at.start(['-p', 'go', ...BYPASS, '--sandbox', 'off']);
  crab.stdin.end();
  for (const nap of naps) await eventually('three naps', async () => (await processesWith(nap)).length >= 4);
  crab.kill('SIGKILL');
  await crab.exited;
  for (const nap of naps) await eventually('no nap', async () => (await processesWith(nap)).length === 0);
});

test('one backend can be demanded, and doctor says which it is and what a command may take', async () => {
  await using at = await journey('anthropic', {
    script: oneByOne(bash('cat /proc/1/comm; echo x > /tmp/new')),
  });
  await settings(at, '[sandbox]\nbackend = "landlock"\nmax_memory_mib = 2048\n');
  const file = join(at.work.home, '.crab/config.toml');
  const doctor = async () => {
    const exit = await runCrab({ args: ['doctor', '--json'], cwd: at.work.path, home: at.work.home });
    const checks: readonly { name: string; detail: string }[] = JSON.parse(exit.stdout).checks;
    return new Map(checks.map(({ name, detail }) => [name, detail]));
  };
  const details = await doctor();
  assert.equal(details.get('sandbox: bubblewrap'), 'holds');
  assert.match(
    details.get('sandbox') ?? '',
    new RegExp(`^commands are confined by landlock \\(${file}:2\\); but `),
  );
  assert.match(
    details.get('limits') ?? '',
    new RegExp(
      `^a command: 2048 MiB of memory \\(${file}:3\\), \\d+ processes and threads \\(the default\\)$`,
    ),
  );
  await at.run(['-p', 'go', ...BYPASS]);
  // Where bubblewrap confines, the first process is its own, and /tmp can be written.
  assert.doesNotMatch(told(at)[0] ?? '', /bwrap/);
  assert.match(told(at)[0] ?? '', /\/tmp\/new: Permission denied/);
});

test('doctor tries everything and says what holds', async () => {
  await using at = await journey('anthropic', { script: [] });
  const exit = await runCrab({ args: ['doctor', '--json'], cwd: at.work.path, home: at.work.home });
  const report = JSON.parse(exit.stdout);
  const checks: readonly { name: string; state: string }[] = report.checks;
  const states = new Map(checks.map(({ name, state }) => [name, state]));
  assert.deepEqual(
    { code: exit.code, ok: report.ok, failed: checks.filter(({ state }) => state === 'fail') },
    { code: 0, ok: true, failed: [] },
  );
  assert.equal([...states.keys()].filter((name) => name.startsWith('closed: ')).length, 17);
  await mkdir(join(at.work.home, '.crab'), { mode: 0o777, recursive: true });
  const { chmodSync } = await import('node:fs');
  chmodSync(join(at.work.home, '.crab'), 0o777);
  const second = await runCrab({ args: ['doctor'], cwd: at.work.path, home: at.work.home });
  assert.equal(second.code, 1);
  assert.match(second.stdout, /✗ home +.*may be written by others/);
});

test('what the settings name alone is read and started, with a network of single hosts and on a terminal, too', async () => {
  const calls = [
    bash('cat in.txt; cat ~/notes/a; cat ~/private/a; echo said; ls'),
    bash('cat in.txt; cat ~/private/a; ls', { pty: true }),
    { name: 'read', input: { path: 'in.txt' } },
  ];
  await using at = await journey('anthropic', {
    script: oneByOne(...calls),
    files: { 'in.txt': 'inside\n' },
  });
  for (const name of ['notes', 'private']) {
    await mkdir(join(at.work.home, name), { recursive: true });
    await writeFile(join(at.work.home, name, 'a'), `of ${name}\n`);
  }
  const lists = '[sandbox]\nmode = "required"\nreadable = ["~/notes"]\nexecutable = ["/usr/bin/cat"]\n';
  for (const more of ['', 'allowed_hosts = ["example.org"]\n']) {
    await settings(at, lists + more);
    await at.run(['-p', 'go', '--output-format', 'stream-json', ...BYPASS]);
    const [out = '', onTerminal = '', file = ''] = told(at);
    assert.match(out, /^inside\nof notes\n/);
    assert.match(
      out,
      /\nsaid\n.*ls: Permission denied\n[\s\S]*\[sandbox\] \/usr\/bin\/ls is none of the programs/,
    );
    assert.doesNotMatch(out, /of private|^in\.txt/m);
    if (more === '') assert.match(onTerminal, /inside[\s\S]*ls: Permission denied/);
    assert.doesNotMatch(onTerminal, /of private/);
    assert.match(file, /inside/);
  }
});
