// Processes that index at once, and are killed while they do, as often as `CRAB_CAMPAIGN` says: what is left is always a
// sound index, from which the next one goes on and in the end finds what an index made in peace finds.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { SLOTS } from './database.ts';
import type { OpenSearch } from './open-search.ts';
import { SearchHome } from './testing.ts';

const ROUNDS = Number(process.env['CRAB_CAMPAIGN'] ?? 12);
const SESSIONS = 150;
const MESSAGES = 20;
const WORDS = ['okapi', 'quokka', 'numbat', 'wombat', 'koala', 'dingo', 'emu'];

/** Searches once, and says when it begins. */
const CHILD = `
  const { OpenSearch } = await import(${JSON.stringify(new URL('./open-search.ts', import.meta.url).href)});
  const [index, sessions] = process.argv.slice(1);
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => {} };
  const search = new OpenSearch({ index, sessions, clock, patienceMs: 60_000 });
  process.stdout.write('ready');
  const { pending, hits } = await search.search({ query: 'okapi' });
  process.stdout.write(' ' + pending + ' ' + hits.length);
  await search.close();
`;

function start({ index, sessions }: SearchHome) {
  const args = ['--input-type=module', '--eval', CHILD, index, sessions];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      resolve();
    });
  });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, printed }));
  return { child, ready, ended };
}

function write(home: SearchHome): void {
  for (let at = 0; at < SESSIONS; at++) {
    const session = home.session();
    for (let n = 0; n < MESSAGES; n++) {
      const text = `${WORDS[(at + n) % WORDS.length]} ${'and so on '.repeat((at * n) % 40)}${WORDS[n % WORDS.length]}`;
      home.say(session, n % 2 === 0 ? 'user' : 'assistant', text);
    }
  }
}

async function pages(search: OpenSearch): Promise<readonly unknown[]> {
  const replies: unknown[] = [];
  for (const query of WORDS)
    for (let page = 0; page < 8; page++)
      replies.push(await search.search({ query, page, before: 0, after: 0 }));
  return replies;
}

/** Fails unless the index is sound and finds what it should. */
async function judge(home: SearchHome): Promise<void> {
  const search = home.open();
  const anew = home.open({ index: join(home.root, 'judge.db') });
  const found = await pages(search);
  assert.equal((await search.check()).damage, undefined);
  assert.deepEqual(found, await pages(anew));
  await search.close();
  await anew.close();
}

test('killed at any moment, an index stays sound and goes on where it was', async () => {
  let interrupted = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await using home = new SearchHome();
    write(home);
    for (let kill = 0; kill < 3; kill++) {
      const { child, ready, ended } = start(home);
      await ready;
      const timer = setTimeout(() => child.kill('SIGKILL'), (round * 3 + kill) * (200 / (3 * ROUNDS)));
      const { code } = await ended;
      clearTimeout(timer);
      if (code === null) interrupted++;
    }
    await judge(home);
  }
  assert.ok(interrupted > 0, 'every process had ended before it was killed');
});

test('several processes that index at once make one whole index', async () => {
  await using home = new SearchHome();
  write(home);
  const ends = await Promise.all(Array.from({ length: 3 }, () => start(home).ended));
  assert.deepEqual(
    ends.map(({ code }) => code),
    [0, 0, 0],
  );
  await judge(home);
});

test('one message that is missing from the words is noticed', async () => {
  await using home = new SearchHome();
  write(home);
  const search = home.open();
  await search.search({ query: 'okapi' });
  await search.close();
  const database = new DatabaseSync(home.index);
  const row = database.prepare('SELECT max(doc) AS doc FROM messages').get();
  assert.ok(Number(row?.['doc']) > SLOTS);
  database.prepare('DELETE FROM words WHERE rowid = ?').run(Number(row?.['doc']));
  database.close();
  await assert.rejects(judge(home), assert.AssertionError);
});
