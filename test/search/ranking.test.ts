// What a search is worth: for most labelled queries the session that was meant is among the first three. The weights of the
// columns stay as they are as long as this holds; the second test shows that it can fail.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WEIGHTS, type Weights } from '../../src/parts/search/ranking.ts';
import { found, SearchHome } from '../../src/parts/search/testing.ts';
import { QUERIES, SESSIONS } from './labelled.ts';

const LEAST_RATE = 0.8;
const TOP = 3;

async function missed(weights: Weights): Promise<readonly string[]> {
  await using home = new SearchHome();
  const ids = new Map<string, string>();
  for (const [name, { title, summary, said }] of Object.entries(SESSIONS)) {
    const session = home.session();
    ids.set(name, session.id);
    if (title !== undefined) home.add(session, { type: 'session_info', name: title });
    for (const [role, text] of said) home.say(session, role, text);
    if (summary !== undefined) home.add(session, { type: 'compaction', summary });
  }
  const search = home.open({ weights });
  const wrong: string[] = [];
  for (const [query, name] of QUERIES) {
    const top = (await found(search, query)).slice(0, TOP).map(([id]) => id);
    if (!top.includes(ids.get(name) ?? name)) wrong.push(query);
  }
  return wrong;
}

function rate(wrong: readonly string[]): number {
  return 1 - wrong.length / QUERIES.length;
}

test('the session that was meant is among the first three', async () => {
  assert.ok(QUERIES.length >= 50);
  assert.ok(QUERIES.every(([, name]) => name in SESSIONS));
  const wrong = await missed(WEIGHTS);
  assert.ok(rate(wrong) >= LEAST_RATE, `${wrong.length} of ${QUERIES.length} missed: ${wrong.join('; ')}`);
});

test('wrong weights are noticed', async () => {
  const wrong = await missed({ summary: 0.1, title: 0.1, user: 0.1, assistant: 1, tool: 3 });
  assert.ok(rate(wrong) < LEAST_RATE, `only ${wrong.length} of ${QUERIES.length} missed`);
});
