// Searches of one home: the index is brought up to date, asked, and what it names is read from the session files. Whatever
// is the matter with the database, it is begun anew and the search goes on.

import type { Clock } from '../../core/host.ts';
import {
  MAX_HITS,
  type SearchFilters,
  type SearchReply,
  type SearchRequest,
  type SessionHit,
} from '../../core/search.ts';
import { type CatchUp, catchUp } from './catch-up.ts';
import { BUSY_MS, isDamaged, openDatabase, removeDatabase, setAside } from './database.ts';
import { hitOf, windowSize } from './hit.ts';
import { rank, WEIGHTS, type Weights } from './ranking.ts';
import { readSession } from './read-session.ts';
import { SessionIndex } from './session-index.ts';

export interface SearchOptions {
  /** The index's file, absolute. Its folder is made. */
  readonly index: string;
  /** The folder of all sessions: `<agent>/<folder>/<id>.jsonl` below it. */
  readonly sessions: string;
  readonly clock: Clock;
  /** Milliseconds that a search may spend on what is not indexed yet. */
  readonly patienceMs?: number;
  /** Milliseconds for which a search may miss what another process wrote. */
  readonly freshMs?: number;
  readonly weights?: Weights;
}

export interface IndexReport {
  readonly path: string;
  /** Why it is not sound; absent when it is. */
  readonly damage?: string;
  readonly sessions: number;
  readonly messages: number;
  readonly pending: number;
  readonly bytes: number;
}

const PATIENCE_MS = 3000;
/** So long what was seen of the files is believed, or so many times longer than it took: looking at 20,000 takes 100 ms. */
const FRESH_MS = 1000;
const FRESH_FACTOR = 50;
const MAX_FRESH_MS = 10_000;
const DEFAULT_AROUND = 4;

export class OpenSearch {
  readonly #options: SearchOptions;
  #opening: Promise<SessionIndex> | undefined;
  /** Until then the index is believed to hold everything. */
  #freshUntil = Number.NEGATIVE_INFINITY;

  constructor(options: SearchOptions) {
    this.#options = options;
  }

  async search(request: SearchRequest, signal?: AbortSignal): Promise<SearchReply> {
    signal?.throwIfAborted();
    const { clock, patienceMs = PATIENCE_MS } = this.#options;
    const until = clock.monotonic() + patienceMs;
    const goOn = () => signal?.aborted !== true && clock.monotonic() < until;
    return this.#withIndex(async (index) => {
      const isFresh = clock.monotonic() < this.#freshUntil;
      const { pending, unreadable }: Partial<CatchUp> = isFresh ? {} : await this.#catchUp(index, goOn);
      signal?.throwIfAborted();
      const found = answer(index, request, this.#options.weights ?? WEIGHTS);
      return { ...found, pending: pending ?? 0, ...(unreadable !== undefined && { unreadable }) };
    });
  }

  /** Takes in what is new in these files, as far as they can be read and the database is free. */
  async read(paths: readonly string[]): Promise<void> {
    await this.#withIndex(async (index) => {
      // A person may be typing in this process.
      index.waitForOthers(0);
      try {
        for (const path of paths) if (!readOne(index, path)) this.#freshUntil = Number.NEGATIVE_INFINITY;
      } finally {
        index.waitForOthers(BUSY_MS);
      }
    });
  }

  /** Begins anew and takes in everything; of the old index nothing stays. */
  async rebuild(onProgress: (pending: number) => void, signal: AbortSignal): Promise<CatchUp> {
    await this.close();
    removeDatabase(this.#options.index);
    return this.#withIndex((index) => this.#catchUp(index, () => !signal.aborted, onProgress));
  }

  async check(): Promise<IndexReport> {
    return this.#withIndex(async (index) => {
      const { pending } = await this.#catchUp(index, () => false);
      const one = (sql: string) => Number(Object.values(index.statement(sql).get() ?? {})[0]);
      const damage = damageIn(index);
      return {
        path: this.#options.index,
        ...(damage !== undefined && { damage }),
        sessions: one("SELECT count(*) FROM sessions WHERE session <> ''"),
        messages: one('SELECT count(*) FROM messages'),
        pending,
        bytes: one('SELECT page_count * page_size FROM pragma_page_count, pragma_page_size'),
      };
    });
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    this.#freshUntil = Number.NEGATIVE_INFINITY;
    (await opening)?.database.close();
  }

  async #catchUp(
    index: SessionIndex,
    goOn: () => boolean,
    onProgress?: (pending: number) => void,
  ): Promise<CatchUp> {
    const { sessions, clock, freshMs } = this.#options;
    const startedAt = clock.monotonic();
    const caught = await catchUp(index, { sessions, goOn, ...(onProgress && { onProgress }) });
    const tookMs = clock.monotonic() - startedAt;
    if (caught.pending === 0)
      this.#freshUntil =
        startedAt + (freshMs ?? Math.max(FRESH_MS, Math.min(FRESH_FACTOR * tookMs, MAX_FRESH_MS)));
    return caught;
  }

  /** Does `task`; where the database turns out to be damaged, once more with one that is new. */
  async #withIndex<T>(task: (index: SessionIndex) => Promise<T>): Promise<T> {
    try {
      return await task(await this.#index());
    } catch (error) {
      if (!isDamaged(error)) throw error;
      await this.close();
      setAside(this.#options.index);
      return await task(await this.#index());
    }
  }

  #index(): Promise<SessionIndex> {
    this.#opening ??= openDatabase(this.#options.index).then((database) => new SessionIndex(database));
    return this.#opening;
  }
}

/** Whether the file is read to its end. */
function readOne(index: SessionIndex, path: string): boolean {
  try {
    return index.transaction(() => readSession(index, path));
  } catch (error) {
    if (isDamaged(error)) throw error;
    return false;
  }
}

function answer(index: SessionIndex, request: SearchRequest, weights: Weights): Omit<SearchReply, 'pending'> {
  const { query, before = DEFAULT_AROUND, after = DEFAULT_AROUND, page = 0 } = request;
  const limit = Math.min(Math.max(1, Math.trunc(request.limit ?? MAX_HITS)), MAX_HITS);
  const skip = limit * Math.max(0, Math.trunc(page));
  const filters: SearchFilters = request.filters ?? {};
  const { ranked, more, plan } = rank(index, query, { filters, limit, skip, weights });
  const around = windowSize(before, after);
  const hits: SessionHit[] = ranked.flatMap((each) => hitOf(index, each, around, plan.words) ?? []);
  return { hits, more, ignored: plan.ignored };
}

function damageIn(index: SessionIndex): string | undefined {
  try {
    const found = index.statement('PRAGMA quick_check(1)').get()?.['quick_check'];
    if (found !== 'ok') return String(found);
    index.statement("INSERT INTO words (words) VALUES ('integrity-check')").run();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
