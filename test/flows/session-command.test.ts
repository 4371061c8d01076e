// `crab session`: what is there, what changes and what never does.

import assert from 'node:assert/strict';
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Journey, journey, onlySession } from '../support/journey.ts';
import { assistant, user } from '../support/spoken.ts';

const TALK: readonly Reply[] = [{ text: 'One.' }, { text: 'Two.' }];

async function talked(...prompts: readonly string[]): Promise<Journey> {
  const at = await journey('openai', { script: TALK });
  for (const prompt of prompts) await at.run(['-p', prompt]);
  return at;
}

async function ok(at: Journey, args: readonly string[]): Promise<string> {
  const exit = await at.run(['session', ...args]);
  assert.deepEqual({ args, code: exit.code, stderr: exit.stderr }, { args, code: 0, stderr: '' });
  return exit.stdout;
}

test('a list has the sessions of this folder, and as JSON all that is known of them', async () => {
  await using at = await talked('first', 'second');
  const [first, second] = await at.sessions();
  const rows = (await ok(at, ['list'])).trimEnd().split('\n');
  assert.deepEqual(
    rows.map((row) => row.replace(/^[0-9-]{10} [0-9:]{5}/, 'TIME')),
    [`TIME  ${second?.header.id}  2 messages  second`, `TIME  ${first?.header.id}  2 messages  first`],
  );
  const [only, ...others] = JSON.parse(await ok(at, ['list', '--json', '--limit', '1', '--offset', '1']));
  assert.deepEqual(others, []);
  assert.deepEqual(only, {
    id: first?.header.id,
    path: first?.path,
    cwd: at.work.path,
    messages: 2,
    firstPrompt: 'first',
    agent: 'crab',
    sender: `cli:${first?.header.id}`,
    created: first?.header.timestamp,
    updated: only.updated,
  });
  assert.ok(Date.parse(only.updated) >= Date.parse(first?.header.timestamp ?? ''));
  assert.equal((await ok(at, ['list', '--folder', '.'])).trimEnd().split('\n').length, 2);
  const named = await at.run(['session', 'list', '--folder', at.work.path], { cwd: at.work.home });
  assert.equal(named.stdout, `${rows.join('\n')}\n`);
  assert.equal(await ok(at, ['list', '--folder', '/nowhere']), 'There is no session here.\n');
  assert.equal((await at.run(['session', 'list', '--folder', '.', '--all'])).code, 2);
  const elsewhere = await at.run(['session', 'list'], { cwd: at.work.home });
  assert.equal(elsewhere.stdout, 'There is no session here.\n');
  const all = await at.run(['session', 'list', '--all', '--json'], { cwd: at.work.home });
  assert.equal(JSON.parse(all.stdout).length, 2);
});

test('a session without a name is known by what was said first, and by the clock of the person', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'yes' }] });
  await writeFile(at.work.file('AGENTS.md'), 'Be brief.\n'.repeat(3000));
  const said = `\u001b[31m  Fix the\nparser, ${'please '.repeat(20)}`;
  await at.run(['-p', said]);
  const { path } = await onlySession(at);
  await utimes(path, 0, Date.parse('2026-01-31T23:30:00Z') / 1000);
  const { stdout } = await at.run(['session', 'list'], { env: { TZ: 'Asia/Tokyo' } });
  assert.match(
    stdout,
    /^2026-02-01 08:30 {2}\w+ {2}2 messages {2}\[31m Fix the parser, (?:please )+plea?s?…\n$/,
  );
  await ok(at, ['rename', path, 'parser']);
  assert.match(await ok(at, ['list']), / {2}2 messages {2}parser\n$/);
});

test('a name is a line of at most 100 letters, which every line of the file can repeat', async () => {
  await using at = await talked('first');
  const { header, path } = await onlySession(at);
  await ok(at, ['rename', header.id, `two\nlines ${'𝄞'.repeat(20_000)}`]);
  const name = `two lines ${'𝄞'.repeat(89)}…`;
  const exit = await at.run(['-p', 'more', '--resume', name]);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  assert.ok((await stat(path)).size < 100_000);
  const [meta] = JSON.parse(await ok(at, ['list', '--json']));
  assert.deepEqual([meta.title, meta.messages], [name, 4]);
});

test('a session shows its last messages, or those that are asked for', async () => {
  await using at = await talked('first');
  await at.run(['-c', '-p', 'second']);
  const shown = await ok(at, ['show']);
  assert.ok(shown.endsWith('\n› first\n\nOne.\n\n› second\n\nTwo.\n'), shown);
  const {
    shown: page,
    costUsd,
    tokens,
    ...facts
  } = JSON.parse(await ok(at, ['show', '--json', '--offset', '1', '--limit', '2']));
  assert.deepEqual(
    page.map(({ role }: { role: string }) => role),
    ['assistant', 'user'],
  );
  assert.ok(tokens > 0 && costUsd > 0);
  assert.deepEqual(facts.messages, 4);
});

test('names, labels and the head change from the shell, and the next run finds them', async () => {
  await using at = await talked('first');
  const { header, entries } = await onlySession(at);
  const answer = entries.findLast(({ type }) => type === 'message')?.id ?? '';
  await ok(at, ['rename', header.id.toLowerCase(), 'the parser']);
  await ok(at, ['label', 'the parser', answer.slice(-8), 'good']);
  await at.run(['-c', '-p', 'astray']);
  await ok(at, ['move', 'the parser', 'good', '--summary', 'No.']);
  await at.run(['-p', 'again', '--resume', 'the parser']);
  const asked = at.asked().at(-1)?.messages ?? [];
  assert.deepEqual(asked.slice(0, 2), [user('first'), assistant('One.')]);
  assert.match(JSON.stringify(asked[2]), /No\..*again/);
  const tree = JSON.parse(await ok(at, ['tree', 'the parser', '--json']));
  assert.deepEqual(
    tree.map(({ kind, text, label, isOnBranch }: Record<string, unknown>) => ({
      kind,
      text,
      label,
      isOnBranch,
    })),
    [
      { kind: 'user', text: 'first', label: undefined, isOnBranch: true },
      { kind: 'assistant', text: 'One.', label: 'good', isOnBranch: true },
      { kind: 'user', text: 'astray', label: undefined, isOnBranch: false },
      { kind: 'assistant', text: 'Two.', label: undefined, isOnBranch: false },
      { kind: 'branch_summary', text: 'No.', label: undefined, isOnBranch: true },
      { kind: 'user', text: 'again', label: undefined, isOnBranch: true },
      { kind: 'assistant', text: 'Two.', label: undefined, isOnBranch: true },
    ],
  );
  await ok(at, ['label', 'the parser', 'good', '-']);
  assert.doesNotMatch(await ok(at, ['tree']), /\[good\]/);
});

test('a fork and a clone are sessions of their own, also of one that is open', async () => {
  await using at = await talked('first');
  const source = await onlySession(at);
  const prompt = source.entries.find(({ type }) => type === 'message')?.id ?? '';
  await writeFile(`${source.path}.lock`, '{"pid":1,"start":"","host":"elsewhere"}\n');
  const forked = (await ok(at, ['fork', source.header.id, prompt, '--name', 'f'])).trim();
  const { id: cloned } = JSON.parse(await ok(at, ['clone', source.header.id, '--json']));
  const sessions = await at.sessions();
  const said = (id: string) => sessions.find(({ header }) => header.id === id)?.spoken;
  assert.deepEqual(said(forked), source.spoken.slice(0, 1));
  assert.deepEqual(said(cloned), source.spoken);
  assert.deepEqual(await readFile(source.path, 'utf8').then((text) => text.length > 0), true);
});

test('a deleted session is gone from every list, and comes back', async () => {
  await using at = await talked('first');
  const { header } = await onlySession(at);
  const told = await ok(at, ['delete', header.id]);
  assert.equal(told, `Deleted ${header.id}; \`crab session restore ${header.id}\` brings it back.\n`);
  assert.equal(await ok(at, ['list']), 'There is no session here.\n');
  assert.equal((await at.run(['-c', '-p', 'x'])).code, 9);
  assert.match(await ok(at, ['list', '--trash']), new RegExp(header.id));
  await ok(at, ['restore', header.id]);
  await at.run(['-c', '-p', 'second']);
  assert.equal((await onlySession(at)).spoken.length, 4);
});

const REFUSED: readonly (readonly [readonly string[], number, RegExp])[] = [
  [['bogus'], 2, /There is no `crab session bogus`/],
  [['show', 'a', 'b'], 2, /The form is `crab session show \[SESSION\]`/],
  [['list', '--limit', '-1'], 2, /--limit/],
  [['list', '--bogus'], 2, /bogus/],
  [['show', ''], 2, /An empty text is no session id/],
  [['show', 'x'.repeat(300)], 2, /is no session id/],
  [['show', '../x'], 9, /There is no session file .*\/x\./],
  [['show', 'nobody'], 9, /No session’s id begins with nobody/],
  [['delete', '/etc/passwd'], 9, /is no session/],
  [['delete', './none.jsonl'], 9, /There is no session file .*none\.jsonl/],
  [['restore', '/etc/passwd'], 9, /\/etc\/passwd is no session in .*\.trash/],
  [['restore', 'nobody'], 9, /No session’s id begins with nobody/],
  [['label', 'SESSION', 'nowhere', 'x'], 9, /No entry has the label or id "nowhere"/],
  [['move', 'SESSION', 'nowhere'], 9, /No entry has/],
  [['fork', 'SESSION', 'nowhere'], 9, /No entry has/],
  [['rename', 'SESSION', ' '], 2, /cannot be called nothing/],
];

test('what cannot be meant is refused with its reason, and changes nothing', async () => {
  await using at = await talked('first');
  const before = await onlySession(at);
  for (const [args, code, reason] of REFUSED) {
    const words = args.map((word) => (word === 'SESSION' ? before.header.id : word));
    const exit = await at.run(['session', ...words]);
    assert.deepEqual({ args, code: exit.code, stdout: exit.stdout }, { args, code, stdout: '' });
    assert.match(exit.stderr, reason);
  }
  assert.deepEqual(await onlySession(at), before);
  const help = await at.run(['session', '--help']);
  assert.deepEqual([help.code, help.stderr], [0, '']);
  const bare = await at.run(['session']);
  assert.deepEqual([bare.code, bare.stdout], [2, help.stdout]);
});

test('damage is found and mended, and the session goes on', async () => {
  await using at = await talked('first', 'second');
  assert.match(await ok(at, ['verify']), /^2 sessions, \d+ entries: all sound\.\n$/);
  const [first] = await at.sessions();
  const path = first?.path ?? '';
  await writeFile(path, (await readFile(path, 'utf8')).replace('"first"', '"fiRst"'));
  const found = await at.run(['session', 'verify']);
  assert.equal(found.code, 1);
  assert.match(found.stdout, /Line 4 is not what its checksum says\.\n.*Line 5 hangs from/);
  assert.match(found.stdout, /2 sessions, \d+ entries: 1 damaged;/);
  const [, { faults }] = JSON.parse((await at.run(['session', 'verify', '--json'])).stdout).sort(
    (a: { faults: number }, b: { faults: number }) => a.faults - b.faults,
  );
  assert.equal(faults, 2);
  assert.match(
    await ok(at, ['repair', path]),
    /^Written anew, it holds 4 entries; damaged: line 4\. .*\.damaged-/,
  );
  assert.match(await ok(at, ['verify', path]), /all sound/);
  const exit = await at.run(['-p', 'on', '--session', path]);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
});

test('a session that is open elsewhere is read and not changed; a dead process holds nothing', async () => {
  await using at = await talked('first');
  const { path, header } = await onlySession(at);
  const holding = (pid: number) => `${JSON.stringify({ pid, start: '', host: 'elsewhere' })}\n`;
  await writeFile(`${path}.lock`, holding(1));
  for (const args of [
    ['rename', header.id, 'x'],
    ['delete', header.id],
    ['move', header.id, 'start'],
    ['repair', header.id],
  ]) {
    const exit = await at.run(['session', ...args]);
    assert.deepEqual({ args, code: exit.code, stdout: exit.stdout }, { args, code: 9, stdout: '' });
    assert.match(exit.stderr, /is open in process 1 on elsewhere.*\[session-held\]/);
  }
  await ok(at, ['show', header.id]);
  await ok(at, ['verify', header.id]);
  const { stdout } = await at.run(['session', 'tree', header.id, '--json']);
  assert.equal(JSON.parse(stdout).length, 2);
  const own = JSON.stringify({ pid: 2 ** 22 + 1, start: '1', host: hostname() });
  await writeFile(`${path}.lock`, `${own}\n`);
  await ok(at, ['rename', header.id, 'mine']);
});
