// A home whose sessions a test writes as it likes, and the search over it.

import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createIds } from '../../core/ids.ts';
import type { SearchRequest, SessionHit, SpokenRole } from '../../core/search.ts';
import { seeded } from '../../core/seeded.ts';
import { OpenSearch, type SearchOptions } from './open-search.ts';

export const START = Date.UTC(2026, 0, 1);

export interface WrittenSession {
  readonly id: string;
  readonly path: string;
}

export class SearchHome implements AsyncDisposable {
  readonly root = mkdtempSync(join(tmpdir(), 'crab-search-'));
  readonly sessions = join(this.root, 'sessions');
  readonly index = join(this.root, 'index', 'sessions.db');
  #now = START;
  readonly #ids = createIds({ now: () => this.#now, random: seeded(5) });
  readonly #open: OpenSearch[] = [];

  /** Each call is another process, as far as the index can tell. */
  open(options: Partial<SearchOptions> = {}): OpenSearch {
    const clock = { now: () => this.#now, monotonic: () => performance.now(), sleep: async () => {} };
    const { index, sessions } = this;
    const search = new OpenSearch({ index, sessions, clock, freshMs: 0, patienceMs: 60_000, ...options });
    this.#open.push(search);
    return search;
  }

  /** A session with nothing in it but its header. */
  session(
    header: { readonly agent?: string; readonly cwd?: string; readonly sender?: string } = {},
  ): WrittenSession {
    this.#now += 60_000;
    const id = this.#ids();
    const { agent = 'crab', cwd = '/work', sender = `cli:${id}` } = header;
    const path = join(this.sessions, agent, 'folder', `${id}.jsonl`);
    mkdirSync(dirname(path), { recursive: true });
    const timestamp = new Date(this.#now).toISOString();
    writeFileSync(path, line({ type: 'session', version: 3, id, timestamp, cwd, agent, sender }));
    return { id, path };
  }

  /** A second later, so that times tell messages apart. */
  say({ path }: WrittenSession, role: SpokenRole, text: string): void {
    this.#now += 1000;
    appendFileSync(path, line(this.entry({ type: 'message', message: messageOf(role, text, this.#now) })));
  }

  add({ path }: WrittenSession, fields: object): void {
    appendFileSync(path, line(this.entry(fields)));
  }

  entry(fields: object): object {
    return { id: this.#ids(), parentId: null, timestamp: new Date(this.#now).toISOString(), ...fields };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const search of this.#open) await search.close();
    rmSync(this.root, { recursive: true, force: true });
  }
}

export function line(record: object): string {
  return `${JSON.stringify(record)}\n`;
}

function messageOf(role: SpokenRole, text: string, timestamp: number): object {
  const content = [{ type: 'text', text }];
  if (role === 'user') return { role, content: text, timestamp };
  if (role === 'assistant') return { role, content, timestamp };
  return { role: 'toolResult', toolCallId: 'c', toolName: 'bash', content, isError: false, timestamp };
}

/** Of each hit the session and the message, without what is around it. */
export async function found(
  search: OpenSearch,
  query: string,
  more: Partial<SearchRequest> = {},
): Promise<readonly (readonly [string, number])[]> {
  const { hits } = await search.search({ query, before: 0, after: 0, ...more });
  return hits.map(({ session_id, msg_idx }: SessionHit) => [session_id, msg_idx] as const);
}
