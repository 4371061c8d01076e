// The search as a running process has it: what it appends itself is found at once.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSessionSearch } from './session-search.ts';
import { SearchHome } from './testing.ts';

function searchOf({ index, sessions }: SearchHome) {
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => {} };
  // Nothing but being told would make it look at a file again.
  return createSessionSearch({ index, sessions, clock, freshMs: 3_600_000 });
}

test('what was appended is found at once, and nothing before it is searched for', async () => {
  await using home = new SearchHome();
  const search = searchOf(home);
  const session = home.session();
  assert.equal(existsSync(home.index), false);
  await search.search({ query: 'okapi' });
  for (const word of ['okapi', 'quokka']) {
    home.say(session, 'user', word);
    search.appended(session.path);
    const { hits } = await search.search({ query: word });
    assert.deepEqual(
      hits.map(({ session_id }) => session_id),
      [session.id],
    );
  }
});

test('a run that lasts is indexed while it runs', async () => {
  await using home = new SearchHome();
  const session = home.session();
  home.say(session, 'user', 'okapi');
  const search = searchOf(home);
  search.appended(session.path);
  search.appended('/nowhere/at/all.jsonl');
  const other = home.open({ patienceMs: -1 });
  let found = 0;
  for (let tries = 0; found === 0 && tries < 200; tries++) {
    await sleep(50);
    if (existsSync(home.index)) found = (await other.search({ query: 'okapi' })).hits.length;
  }
  assert.equal(found, 1);
});
