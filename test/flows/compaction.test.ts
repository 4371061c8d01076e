// A conversation that outgrows the model's window, through the program: compacted by itself and when asked, taken
// back, killed in the middle, gone on with; and nothing of it is lost on disk.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CompactionBody, Entry } from '../../src/core/tape.ts';
import type { Reply, Scenario } from '../../src/dev/scenario.ts';
import {
  type FlowWire,
  type Journey,
  journey,
  type Line,
  linesOf,
  MODELS,
  onEachWire,
  onlySession,
} from '../support/journey.ts';

const SUMMARY = 'Fix the parser. It must stay fast.\n\n## Decisions\n- **recursive descent**: it is shorter';

const full = { input: 90_000, output: 100 };

/** What is said while the window fills, to be summarised, and after that. */
function scenario(before: readonly Reply[], summary: Reply = { text: SUMMARY }): Scenario {
  return {
    scripts: [
      { when: '<conversation>', replies: [summary] },
      {
        when: 'was compacted into this summary',
        replies: [{ text: 'Going on.' }],
        otherwise: { text: 'And on.' },
      },
      { replies: before },
    ],
  };
}

const TALK: readonly Reply[] = [
  { calls: [{ name: 'read', input: { path: 'parser.ts' } }] },
  { calls: [{ name: 'write', input: { path: 'new.ts', content: 'export {};\n' } }] },
  { text: 'I read it.', usage: full },
  { text: 'Not compacted.' },
];

async function opened(wire: FlowWire, script: Scenario, policy = ''): Promise<Journey> {
  const at = await journey(wire, { script, files: { 'parser.ts': 'let x = 1;\n' } });
  await mkdir(join(at.work.home, '.crab'), { recursive: true });
  const toml = `[models."${MODELS[wire]}"]\ncontext_window = 100_000\n[policy]\n${policy}`;
  await writeFile(join(at.work.home, '.crab/config.toml'), toml);
  return at;
}

const EDITS = ['--permission-mode', 'acceptEdits'];

const compactions = (entries: readonly Entry[]) =>
  entries.filter((entry): entry is Extract<Entry, CompactionBody> => entry.type === 'compaction');

const prompts = (...texts: readonly string[]) =>
  texts
    .map((content) => `${JSON.stringify({ type: 'user', message: { role: 'user', content } })}\n`)
    .join('');

const subtypes = (lines: readonly Line[]) =>
  lines.filter(({ type }) => type === 'system').map(({ subtype }) => subtype);

onEachWire('is compacted by itself before the request that would not fit', async (wire) => {
  await using at = await opened(wire, scenario(TALK));
  const exit = await at.run(
    ['-p', ...EDITS, '--input-format', 'stream-json', '--output-format', 'stream-json'],
    { stdin: prompts('read parser.ts', 'go on', 'and more') },
  );
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  const lines = linesOf(exit);
  const results = lines.filter(({ type }) => type === 'result').map(({ result }) => result);
  assert.deepEqual(results, ['I read it.', 'Going on.', 'And on.']);
  assert.deepEqual(
    subtypes(lines).filter((subtype) => /compact/.test(String(subtype))),
    ['compact_start', 'compact_boundary'],
  );
  const warning = lines.find(({ subtype }) => subtype === 'notice');
  assert.equal(warning?.['text'], 'The context is 90 % full: 90100 of 100000 tokens.');
  const session = await onlySession(at);
  const [entry] = compactions(session.entries);
  const { title, archiveName, readFiles, modifiedFiles } = entry?.details ?? {};
  assert.deepEqual(
    { tokensBefore: entry?.tokensBefore, title, readFiles, modifiedFiles },
    {
      tokensBefore: 90_100,
      title: 'Fix the parser',
      readFiles: [at.work.file('parser.ts')],
      modifiedFiles: [at.work.file('new.ts')],
    },
  );
  const asked = JSON.stringify(at.asked().at(-1)?.messages);
  assert.match(asked, /recursive descent/);
  assert.match(asked, /<modified-files>/);
  assert.doesNotMatch(asked, /read parser\.ts/);
  assert.equal(session.spoken.length, 10, 'every message is on the tape');
  const ledger = linesOf(await at.run(['usage', '--json', '--by', 'cause']))[0] ?? {};
  const causes = (ledger['rows'] as readonly Line[]).map(({ key, requests }) => `${key} ${requests}`);
  assert.deepEqual(causes.toSorted(), ['compaction 1', 'turn 5']);
  const listed = await at.run(['memory', 'list']);
  assert.match(listed.stdout, new RegExp(`${archiveName}`));
});

onEachWire('--no-auto-compact leaves it as it is', async (wire) => {
  await using at = await opened(wire, scenario(TALK));
  const exit = await at.run(['-p', ...EDITS, '--no-auto-compact', '--input-format', 'stream-json'], {
    stdin: prompts('read parser.ts', 'go on'),
  });
  assert.equal(exit.stdout, 'I read it.\nNot compacted.\n');
  assert.deepEqual(compactions((await onlySession(at)).entries), []);
});

test('is compacted when asked, gone on with, and taken back', async () => {
  await using at = await opened('anthropic', scenario(TALK));
  await at.run(['-p', ...EDITS, 'read parser.ts']);
  const used = await at.run(['-p', '-c', ',context']);
  const rows = [...used.stdout.matchAll(/^ {2}(\S.*?) {2,}([\d ]+?) {2,}[\d.]+ %$/gm)].map(
    ([, kind = '', tokens = '']) => [kind, Number(tokens.replaceAll(' ', ''))] as const,
  );
  assert.equal(
    rows.reduce((sum, [, tokens]) => sum + tokens, 0),
    100_000,
    used.stdout,
  );
  assert.match(used.stdout, /claude-sonnet-4-5: 90 100 tokens of 100 000 \(90\.1 %\)/);

  const compacted = await at.run(['-p', '-c', '/compact the grammar']);
  assert.match(
    compacted.stdout,
    /^A summary takes the place of 6 messages: Fix the parser\. It is in memory as \d{4}-/m,
  );
  assert.match(JSON.stringify(at.asked().at(-1)), /Look above all at: the grammar/);
  assert.equal((await at.run(['-p', '-c', 'more'])).stdout, 'Going on.\n');
  assert.match((await at.run(['-p', '-c', ',uncompact'])).stdout, /taken back/);
  assert.equal((await at.run(['-p', '--no-auto-compact', '-c', 'again'])).stdout, 'Done.\n');
  const asked = JSON.stringify(at.asked().at(-1)?.messages);
  assert.match(asked, /read parser\.ts/);
  assert.match(asked, /Going on/);
  assert.doesNotMatch(asked, /recursive descent/);
  const again = await at.run(['-p', '-c', ',uncompact']);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /Nothing was compacted/);
});

test('of a session that is kept nowhere no archive is kept either', async () => {
  await using at = await opened('anthropic', scenario(TALK));
  const { stdout } = await at.run(['chat', '--no-session', ...EDITS], {
    stdin: 'read parser.ts\n,compact\n',
  });
  assert.match(stdout, /A summary takes the place of 6 messages: Fix the parser\.\n/);
  assert.equal((await at.run(['memory', 'list'])).stdout, 'Nothing is remembered yet.\n');
});

test('what is left after a compaction is what the next request has', async () => {
  await using at = await opened('anthropic', scenario(TALK));
  await at.run(['-p', ...EDITS, 'read parser.ts']);
  const { stdout } = await at.run(['chat', '-c'], { stdin: ',compact\n,context\n' });
  const [, left] = /90100 → about (\d+) tokens/.exec(stdout) ?? [];
  const [, used] = /: ([\d ]+) tokens of [\d ]+ \([^)]*\), by estimate/.exec(stdout) ?? [];
  assert.equal(left, used?.replaceAll(' ', ''), stdout);
});

test('a summary that no model could write is made from what was said', async () => {
  const broken: Reply = { text: '', fault: { status: 400, message: 'no' } };
  await using at = await opened('anthropic', scenario(TALK, broken));
  await at.run(['-p', ...EDITS, 'We decided to use tabs. Read parser.ts.']);
  const exit = await at.run(['-p', '-c', '/compact']);
  assert.equal(exit.code, 0);
  assert.match(exit.stderr, /could not be summarised by a model/);
  const [entry] = compactions((await onlySession(at)).entries);
  assert.match(entry?.summary ?? '', /## Decisions\n- We decided to use tabs\./);
  assert.match(entry?.summary ?? '', /## Code changes\n- write .*new\.ts/);
});

test('killed while the summary is written, it is as it was', async () => {
  const stalls: Reply = { text: SUMMARY, fault: { stallAfter: 200 } };
  await using at = await opened('anthropic', scenario(TALK, stalls));
  await at.run(['-p', ...EDITS, 'read parser.ts']);
  const before = await onlySession(at);
  await using crab = at.start(['-p', '-c', '--verbose', 'go on']);
  await crab.waitFor('Compacting the conversation', { on: 'stderr' });
  crab.kill('SIGKILL');
  await crab.exited;
  const after = await onlySession(at);
  assert.deepEqual(compactions(after.entries), []);
  assert.deepEqual(after.spoken.slice(0, before.spoken.length), before.spoken);
  assert.equal((await at.run(['memory', 'list'])).stdout, 'Nothing is remembered yet.\n');
  assert.equal((await at.run(['-p', '-c', '--no-auto-compact', 'go on'])).stdout, 'Not compacted.\n');
});

test('an archive is found by recall', async () => {
  await using at = await opened('anthropic', scenario(TALK));
  await at.run(['-p', ...EDITS, 'read parser.ts']);
  await at.run(['-p', '-c', '/compact']);
  const found = await at.run(['memory', 'search', 'recursive descent']);
  assert.match(found.stdout, /Fix the parser/);
});

test('old results stand in a line each, where the person wants to pay for that', async () => {
  const long = Array.from({ length: 2000 }, (_, line) => `let x${line} = ${line};`).join('\n');
  const look = { calls: [{ name: 'read', input: { path: 'parser.ts' } }] };
  const talk: Scenario = {
    scripts: [
      { when: '<result number', replies: [{ text: '1. parser.ts: 2000 variables, x0 to x1999' }] },
      {
        replies: [
          look,
          { text: 'Read.', usage: { input: 72_000, output: 10 } },
          { text: 'On.', usage: { input: 78_000, output: 10 } },
          { text: 'And on.', usage: { input: 40_000, output: 10 } },
          { text: 'End.', usage: { input: 40_000, output: 10 } },
        ],
      },
    ],
  };
  await using at = await journey('anthropic', { script: talk, files: { 'parser.ts': long } });
  await mkdir(join(at.work.home, '.crab'), { recursive: true });
  const toml = `[models."${MODELS.anthropic}"]\ncontext_window = 100_000\n[policy]\ntell_results = true\n`;
  await writeFile(join(at.work.home, '.crab/config.toml'), toml);
  for (const prompt of [['read it'], ['-c', 'on'], ['-c', 'more'], ['-c', 'and more']])
    assert.equal((await at.run(['-p', '--no-auto-compact', ...prompt])).code, 0);
  const about = at.asked().filter(({ messages }) => JSON.stringify(messages).includes('<result number'));
  assert.equal(about.length, 1, 'each is asked about once');
  assert.match(
    JSON.stringify(at.asked().at(-1)?.messages),
    /\[Old tool result content cleared\] parser\.ts: 2000 variables, x0 to x1999/,
  );
});
