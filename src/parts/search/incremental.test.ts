// Whatever happens to session files, an index that followed along finds what one made anew finds. As long as nothing is taken
// away, it ranks the same, too: FTS5 goes on counting what was deleted, which shifts all scores a little.

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { SPOKEN_ROLES } from '../../core/search.ts';
import { seeded } from '../../core/seeded.ts';
import type { OpenSearch } from './open-search.ts';
import { SearchHome, type WrittenSession } from './testing.ts';

const SEEDS = 4;
const STEPS = 12;
const WORDS = [
  'okapi',
  'quokka',
  'numbat',
  'wombat',
  'koala',
  'dingo',
  'emu',
  'parseUrl',
  '検索',
  'the',
  'a',
];

/** Every reply with its scores, to nine digits. */
async function ranked(search: OpenSearch): Promise<readonly unknown[]> {
  const replies: unknown[] = [];
  for (const query of [...WORDS, 'okapi quokka', 'the parseUrl emu', '検索 koala a'])
    for (const role of [undefined, ...SPOKEN_ROLES]) {
      const filters = role === undefined ? {} : { role };
      const { hits, ...rest } = await search.search({ query, filters, before: 1, after: 1 });
      replies.push({
        query,
        ...rest,
        hits: hits.map((hit) => ({ ...hit, score: hit.score.toPrecision(9) })),
      });
    }
  return replies;
}

/** By word, every session that has it, and every message in it. */
async function all(search: OpenSearch): Promise<readonly unknown[]> {
  const replies: unknown[] = [];
  for (const query of WORDS) {
    const { hits, ...rest } = await search.search({ query });
    assert.equal(rest.more, false);
    const sessions = hits.map(({ session_id, meta }) => ({ session_id, meta })).sort(byId);
    const messages: unknown[] = [];
    for (const { session_id: session } of sessions) {
      const reply = await search.search({ query, before: 1, after: 1, filters: { session } });
      const found = reply.hits.map(({ msg_idx, window }) => ({ msg_idx, window }));
      messages.push(found.sort((a, b) => a.msg_idx - b.msg_idx));
    }
    replies.push({ query, ...rest, sessions, messages });
  }
  return replies;
}

function byId(a: { readonly session_id: string }, b: { readonly session_id: string }): number {
  return a.session_id < b.session_id ? -1 : 1;
}

class Mischief {
  readonly #home: SearchHome;
  readonly #random: () => number;
  #sessions: WrittenSession[] = [];

  constructor(home: SearchHome, seed: number) {
    this.#home = home;
    this.#random = seeded(seed);
  }

  step(isHarmless: boolean): void {
    const harmless = [() => this.#begin(), () => this.#say(), () => this.#say()];
    const harm = [
      () => this.#name(),
      () => this.#cut(),
      () => this.#rename(),
      () => this.#remove(),
      () => this.#replace(),
    ];
    const kinds = isHarmless ? harmless : [...harmless, ...harm];
    (this.#sessions.length === 0 ? kinds[0] : this.#one(kinds))?.();
  }

  #begin(): void {
    this.#sessions.push(this.#home.session());
    this.#say();
  }

  #say(): void {
    const session = this.#session();
    for (let count = this.#below(5); count >= 0; count--)
      this.#home.say(session, this.#one([...SPOKEN_ROLES]), this.#text());
  }

  #name(): void {
    const body = this.#random() < 0.5 ? { type: 'session_info', name: this.#text() } : undefined;
    this.#home.add(this.#session(), body ?? { type: 'compaction', summary: this.#text() });
  }

  /** Often in the middle of a line, with which the next one is then merged. */
  #cut(): void {
    const { path } = this.#session();
    truncateSync(path, this.#below(statSync(path).size));
  }

  #rename(): void {
    const { id, path } = this.#session();
    const target = join(dirname(dirname(path)), `folder-${this.#below(3)}`, basename(path));
    mkdirSync(dirname(target), { recursive: true });
    renameSync(path, target);
    this.#sessions = this.#sessions.map((one) => (one.path === path ? { id, path: target } : one));
  }

  #remove(): void {
    const { path } = this.#session();
    unlinkSync(path);
    this.#sessions = this.#sessions.filter((one) => one.path !== path);
  }

  /** The same name, and what another session says. */
  #replace(): void {
    const { path } = this.#session();
    const other = this.#home.session();
    this.#home.say(other, 'user', this.#text());
    renameSync(other.path, path);
    if (this.#random() < 0.3) writeFileSync(path, 'no session at all\n');
  }

  #session(): WrittenSession {
    return this.#one(this.#sessions);
  }

  #text(): string {
    return Array.from({ length: 1 + this.#below(6) }, () => this.#one(WORDS)).join(' ');
  }

  #one<T>(all: readonly T[]): T {
    return all[this.#below(all.length)] as T;
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

for (const [name, isHarmless, look] of [
  ['finds what one made anew finds', false, all],
  ['ranks as one made anew does, where nothing was taken away', true, ranked],
] as const)
  for (let seed = 1; seed <= SEEDS; seed++)
    test(`an index that followed along ${name}: seed ${seed}`, async () => {
      await using home = new SearchHome();
      const mischief = new Mischief(home, seed);
      const following = home.open();
      for (let step = 1; step <= STEPS; step++) {
        for (let count = step % 4; count >= 0; count--) mischief.step(isHarmless);
        const followed = await look(following);
        const anew = home.open({ index: join(home.root, `anew-${step}`, 'sessions.db') });
        assert.deepEqual(followed, await look(anew), `step ${step}`);
        await anew.close();
      }
      assert.equal((await following.check()).damage, undefined);
    });

test('an index that missed one line is noticed', async () => {
  await using home = new SearchHome();
  const session = home.session();
  home.say(session, 'user', 'okapi quokka');
  const following = home.open({ freshMs: 60_000 });
  await all(following);
  home.say(session, 'user', 'okapi');
  const anew = home.open({ index: join(home.root, 'anew.db') });
  assert.notDeepEqual(await all(following), await all(anew));
});
