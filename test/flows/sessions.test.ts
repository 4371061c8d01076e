// Which session a run goes on with, who may have it, and what of it a later process finds again.

import assert from 'node:assert/strict';
import { mkdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import {
  type FlowWire,
  type Journey,
  journey,
  onEachWire,
  onlySession,
  resultOf,
} from '../support/journey.ts';
import { filesBelow } from '../support/session-files.ts';
import { assistant, user } from '../support/spoken.ts';

const TALK: readonly Reply[] = [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }];

const talk = (wire: FlowWire) => journey(wire, { script: TALK });

/** What the last request held. */
const lastAsked = (at: Journey) => at.asked().at(-1)?.messages;

onEachWire(
  '--continue goes on with the newest session of this folder, its history before the prompt',
  async (wire) => {
    await using at = await talk(wire);
    await at.run(['-p', 'old']);
    await at.run(['-p', 'new']);
    const exit = await at.run(['-p', 'more', '--continue']);
    assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Two.\n', stderr: '' });
    assert.deepEqual(lastAsked(at), [user('new'), assistant('One.'), user('more')]);
    const again = await at.run(['-c', '-p', 'and more']);
    assert.equal(again.stdout, 'Three.\n');
    assert.deepEqual(
      (await at.sessions()).map(({ spoken }) => spoken),
      [
        [user('old'), assistant('One.')],
        [
          user('new'),
          assistant('One.'),
          user('more'),
          assistant('Two.'),
          user('and more'),
          assistant('Three.'),
        ],
      ],
    );
  },
);

onEachWire('the newest session is the one that was last spoken in', async (wire) => {
  await using at = await talk(wire);
  await at.run(['-p', 'first']);
  const first = await onlySession(at);
  await at.run(['-p', 'second']);
  await at.run(['-p', 'first again', '--resume', first.header.id]);
  await at.run(['-p', 'and again', '--continue']);
  assert.deepEqual(lastAsked(at)?.[0], user('first'));
});

onEachWire('--continue does not see the sessions of another folder', async (wire) => {
  await using at = await talk(wire);
  await mkdir(at.work.file('sub'));
  await at.run(['-p', 'above']);
  const nothing = await at.run(['-p', 'below', '--continue'], { cwd: at.work.file('sub') });
  assert.deepEqual({ code: nothing.code, stdout: nothing.stdout }, { code: 9, stdout: '' });
  assert.match(nothing.stderr, /There is no session in .*\/sub to continue\. \[session-unknown\]/);
  assert.equal(at.asked().length, 1);
});

onEachWire(
  'a file that strayed into the folder of another is told by the folder in its header',
  async (wire) => {
    await using at = await talk(wire);
    await mkdir(at.work.file('sub'));
    const sub = { cwd: at.work.file('sub') };
    await at.run(['-p', 'below'], sub);
    const below = await onlySession(at);
    await at.run(['-p', 'above']);
    const above = (await at.sessions())[1]?.path ?? '';
    await rename(below.path, join(above, '..', `${below.header.id}.jsonl`));
    await at.run(['-p', 'more', '--continue']);
    assert.deepEqual(lastAsked(at)?.[0], user('above'));
    assert.equal((await at.run(['-p', 'more', '--continue'], sub)).code, 9);
  },
);

onEachWire('two starts in one folder never share a session', async (wire) => {
  await using at = await talk(wire);
  await Promise.all([at.run(['-p', 'left']), at.run(['-p', 'right'])]);
  await at.run(['-p', 'later']);
  const spoken = (await at.sessions()).map((session) => session.spoken);
  assert.deepEqual(
    spoken
      .slice(0, 2)
      .map(([prompt]) => prompt)
      .toSorted(byText),
    [user('left'), user('right')],
  );
  assert.deepEqual(spoken[2], [user('later'), assistant('One.')]);
  assert.deepEqual(lastAsked(at), [user('later')]);
});

function byText(a: unknown, b: unknown): number {
  return JSON.stringify(a) < JSON.stringify(b) ? -1 : 1;
}

const IDS = [
  '01K0000000AAAAAAAAAAAAAAAA',
  '01K0000000AAAAAAAAAAAAAAAB',
  '01K0000001AAAAAAAAAAAAAAAA',
] as const;

/** Three sessions with known ids. */
async function three(wire: FlowWire): Promise<Journey> {
  const at = await talk(wire);
  for (const id of IDS) await at.run(['-p', `I am ${id}`, '--session-id', id]);
  return at;
}

onEachWire('--session-id names a new session; one that is taken or no ULID is refused', async (wire) => {
  await using at = await three(wire);
  assert.deepEqual(
    (await at.sessions()).map(({ header }) => header.id),
    [...IDS],
  );
  for (const id of [IDS[0], 'mine', '../../x', IDS[0].toLowerCase()]) {
    const exit = await at.run(['-p', 'again', '--session-id', id]);
    assert.deepEqual({ id, code: exit.code, stdout: exit.stdout }, { id, code: 2, stdout: '' });
    assert.match(exit.stderr, /\[session-id-invalid\]|is not a ULID/);
  }
  assert.equal(at.asked().length, 3);
  assert.equal((await at.sessions()).length, 3);
});

onEachWire('--resume takes the beginning of an id, in any case and from any folder', async (wire) => {
  await using at = await three(wire);
  await mkdir(at.work.file('sub'));
  for (const [prefix, cwd] of [
    ['01K0000001', at.work.path],
    ['01k0000001', at.work.file('sub')],
  ] as const) {
    const exit = await at.run(['-p', 'more', '--resume', prefix], { cwd });
    assert.equal(exit.code, 0, exit.stderr);
    assert.deepEqual(lastAsked(at)?.[0], user(`I am ${IDS[2]}`));
  }
});

const REFUSED = [
  { id: '01K0000000', code: 9, error: 'session-ambiguous' },
  { id: '01K0000002', code: 9, error: 'session-unknown' },
  { id: '../x', code: 2, error: 'session-id-invalid' },
  { id: '/etc/passwd', code: 2, error: 'session-id-invalid' },
  { id: 'a b', code: 9, error: 'session-unknown' },
  { id: 'x'.repeat(300), code: 2, error: 'session-id-invalid' },
] as const;

onEachWire('--resume refuses what is ambiguous, unknown or no id, and names what it found', async (wire) => {
  await using at = await three(wire);
  for (const { id, code, error } of REFUSED) {
    const exit = await at.run(['-p', 'more', '--resume', id, '--output-format', 'json']);
    const result = resultOf(exit);
    assert.deepEqual(
      { id, code: exit.code, is_error: result['is_error'], error: Object(result['error']).code },
      { id, code, is_error: true, error },
    );
  }
  const { stderr } = await at.run(['-p', 'more', '--resume', '01K0000000']);
  assert.ok(stderr.includes(`${IDS[0]}, ${IDS[1]}`), stderr);
  assert.equal(at.asked().length, 3);
});

onEachWire('--resume without an id asks for one where nobody can choose', async (wire) => {
  await using at = await talk(wire);
  const exit = await at.run(['-p', 'more', '--resume']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 2, stdout: '' });
  assert.match(exit.stderr, /--resume needs an id here/);
});

onEachWire('--session goes on with a file, wherever it lies, or with an id', async (wire) => {
  await using at = await three(wire);
  const [first] = await at.sessions();
  await rename(first?.path ?? '', at.work.file('mine.jsonl'));
  const byFile = await at.run(['-p', 'more', '--session', 'mine.jsonl']);
  assert.equal(byFile.stdout, 'Two.\n');
  assert.deepEqual(lastAsked(at), [user(`I am ${IDS[0]}`), assistant('One.'), user('more')]);
  const byId = await at.run(['-p', 'more', '--session', IDS[2]]);
  assert.equal(byId.stdout, 'Two.\n');
  assert.deepEqual(lastAsked(at)?.[0], user(`I am ${IDS[2]}`));
  const missing = await at.run(['-p', 'more', '--session', './other.jsonl']);
  assert.deepEqual({ code: missing.code, stdout: missing.stdout }, { code: 9, stdout: '' });
  assert.match(missing.stderr, /other\.jsonl\. \[session-unknown\]/);
});

onEachWire('ways to choose a session exclude each other', async (wire) => {
  await using at = await talk(wire);
  const exit = await at.run(['-p', 'x', '--continue', '--no-session']);
  assert.deepEqual({ code: exit.code, stdout: exit.stdout }, { code: 2, stdout: '' });
  assert.match(exit.stderr, /--continue and --no-session cannot be used together/);
});

onEachWire(
  '--no-session leaves nothing of what was said behind, only what it cost',
  async (wire) => {
    await using at = await talk(wire);
    const exit = await at.run(['-p', 'hello', '--no-session']);
    assert.deepEqual(exit, { code: 0, signal: null, stdout: 'One.\n', stderr: '' });
    const [ledger = '', ...others] = await filesBelow(at.work.home);
    assert.match(ledger, /\/\.crab\/usage\/[\d-]+\.jsonl$/);
    assert.doesNotMatch(await readFile(ledger, 'utf8'), /hello|One\./);
    assert.deepEqual(others, []);
    assert.deepEqual(await filesBelow(at.work.path), []);
  },
  { near: true },
);

onEachWire('--name stays with the session', async (wire) => {
  await using at = await talk(wire);
  await at.run(['-p', 'hello', '--name', 'fix the parser']);
  const named = await onlySession(at);
  const { stdout } = await at.run(['-p', ',status', '--continue']);
  assert.match(stdout, new RegExp(`^session +${named.header.id} \\(fix the parser\\)$`, 'm'));
  await at.run(['-p', 'more', '--continue', '-n', 'another name']);
  assert.match((await at.run(['-p', ',status', '--continue'])).stdout, /\(another name\)$/m);
});

onEachWire(
  'a session that a live process holds is refused with its pid, and passed over by --continue',
  async (wire) => {
    const script = {
      scripts: [{ when: 'stall', replies: [{ text: 'At last.', fault: { stallAfter: 0 }, times: 1 }] }],
    };
    await using at = await journey(wire, { script });
    await at.run(['-p', 'before']);
    await using holder = at.start([
      '-p',
      'stall',
      '--output-format',
      'stream-json',
      '--replay-user-messages',
    ]);
    await holder.waitFor('"isReplay":true');
    const [, held] = await at.sessions();
    const refused = await at.run(['-p', 'me too', '--resume', held?.header.id ?? '']);
    assert.deepEqual({ code: refused.code, stdout: refused.stdout }, { code: 9, stdout: '' });
    assert.ok(refused.stderr.includes(`is open in process ${holder.pid}. [session-held]`), refused.stderr);
    const passed = await at.run(['-p', 'go on', '--continue']);
    assert.equal(passed.code, 0, passed.stderr);
    assert.deepEqual(lastAsked(at), [user('before'), assistant('Done.'), user('go on')]);
    holder.kill('SIGKILL');
    await holder.exited;
    const free = await at.run(['-p', 'me now', '--resume', held?.header.id ?? '']);
    assert.deepEqual({ code: free.code, stdout: free.stdout }, { code: 0, stdout: 'At last.\n' });
  },
  { near: true },
);

onEachWire(
  'ten processes at once share one home',
  async (wire) => {
    const script = [{ calls: [{ name: 'read', input: { path: 'a.txt' } }] }, { text: 'It says {{result}}' }];
    await using at = await journey(wire, { script, files: { 'a.txt': 'hello\n' } });
    const prompts = Array.from({ length: 10 }, (_, number) => `prompt ${number}`);
    const exits = await Promise.all(prompts.map((prompt) => at.run(['-p', prompt])));
    assert.deepEqual(
      exits,
      Array(10).fill({ code: 0, signal: null, stdout: 'It says 1\thello\n', stderr: '' }),
    );
    const sessions = await at.sessions();
    assert.deepEqual(sessions.map(({ spoken }) => spoken[0]).toSorted(byText), prompts.map(user));
    assert.deepEqual(
      sessions.map(({ spoken }) => spoken.length),
      Array(10).fill(4),
    );
    const left = (await filesBelow(join(at.work.home, '.crab/sessions'))).filter(
      (path) => !path.endsWith('.jsonl'),
    );
    assert.deepEqual(left, [], 'no lock and no partial answer is left');
  },
  { near: true },
);

onEachWire('a resumed conversation keeps its system prompt byte for byte, and its model', async (wire) => {
  const other = wire === 'anthropic' ? 'claude-haiku-4-5' : 'gpt-4.1';
  await using at = await journey(wire, { script: TALK, files: { 'AGENTS.md': 'Say please.\n' }, git: true });
  await at.run(['-p', 'first', '--model', `${wire}/${other}`]);
  await at.work.write('AGENTS.md', 'Say thanks.\n');
  await at.work.git('commit', '--quiet', '--all', '--message=second');
  await at.run(['-p', 'second', '--continue']);
  const [first, second] = at.asked();
  assert.match(first?.system ?? '', /Say please\./);
  assert.equal(second?.system, first?.system);
  assert.deepEqual([first?.model, second?.model], [other, other]);
  const third = wire === 'anthropic' ? 'claude-opus-4-1' : 'gpt-4o';
  await at.run(['-p', 'third', '--continue', '--model', third]);
  assert.equal(at.asked().at(-1)?.model, third, 'a model that is named counts more');
});

onEachWire('a session that is resumed in another folder speaks of that folder', async (wire) => {
  await using at = await talk(wire);
  await mkdir(at.work.file('sub'));
  await at.run(['-p', 'first']);
  const { header } = await onlySession(at);
  await at.run(['-p', 'second', '--resume', header.id], { cwd: at.work.file('sub') });
  const lines = at.asked().at(-1)?.system.split('\n') ?? [];
  assert.ok(lines.includes(`Working directory: ${at.work.file('sub')}`), lines.join('\n'));
});

const write = (content: string): Reply => ({
  calls: [{ name: 'write', input: { path: 'a.txt', content } }],
});

const READ_THEN_WRITE: readonly Reply[] = [
  { calls: [{ name: 'read', input: { path: 'a.txt' } }] },
  { text: 'Seen.' },
  write('mine\n'),
  { text: '{{result}}' },
];

onEachWire('what a tool knew survives a resume: a file that was read may be replaced', async (wire) => {
  await using at = await journey(wire, { script: READ_THEN_WRITE, files: { 'a.txt': 'hello\n' } });
  await at.run(['-p', 'read it']);
  const exit = await at.run(['-p', 'write it', '--continue', '--permission-mode', 'acceptEdits']);
  assert.equal(exit.code, 0);
  assert.equal(await at.work.read('a.txt'), 'mine\n');
});

onEachWire('what a tool knew survives a resume: a file that changed meanwhile may not', async (wire) => {
  await using at = await journey(wire, { script: READ_THEN_WRITE, files: { 'a.txt': 'hello\n' } });
  await at.run(['-p', 'read it']);
  await at.work.write('a.txt', 'theirs\n');
  const exit = await at.run(['-p', 'write it', '--continue', '--permission-mode', 'acceptEdits']);
  assert.match(exit.stdout, /a\.txt has changed since/);
  assert.equal(await at.work.read('a.txt'), 'theirs\n');
});

test('sessions are for their owner alone', async () => {
  await using at = await talk('anthropic');
  await at.run(['-p', 'hello']);
  const { path } = await onlySession(at);
  const modes = await Promise.all(
    [path, join(path, '..')].map(async (each) => (await stat(each)).mode & 0o777),
  );
  assert.deepEqual(modes, [0o600, 0o700]);
});

test('which tools the model had is on the tape, each time that it changes', async () => {
  await using at = await talk('anthropic');
  await at.run(['-p', 'one']);
  await at.run(['-p', '-c', 'two']);
  await at.run(['-p', '-c', '--tools', 'read,grep', 'three']);
  const lists = (await onlySession(at)).entries.flatMap((entry) =>
    entry.type === 'active_tools_change' ? [entry.tools] : [],
  );
  assert.equal(lists.length, 2);
  assert.ok(lists[0]?.includes('bash'));
  assert.deepEqual(lists[1], ['read', 'grep']);
});
