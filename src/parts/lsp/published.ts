// What a server says of files without being asked. The newest word on each file is kept, of as many files as somebody
// may ask about. A word on what a file was before its last change does not count, nor one that another follows at once.

import type { Clock } from '../../core/host.ts';
import { type Diagnostic, fields, pathOf, readDiagnostics } from './protocol.ts';

const MAX_FILES = 500;

const MAX_EACH = 200;

/** Milliseconds without a further word after which the last one counts. Many servers send an empty list first. */
const SETTLED_MS = 300;
const SETTLED_EMPTY_MS = 1000;

interface Word {
  readonly diagnostics: readonly Diagnostic[];
  /** By the monotonic clock. */
  readonly heardAt: number;
}

export class PublishedDiagnostics {
  readonly #clock: Clock;
  readonly #words = new Map<string, Word>();
  /** The version of a file that the server was last told of. */
  readonly #versions = new Map<string, number>();
  #next = Promise.withResolvers<void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The parameters of `textDocument/publishDiagnostics`. */
  take(params: unknown): void {
    const { uri, diagnostics, version } = fields(params);
    const path = pathOf(uri);
    if (path === undefined) return;
    if (typeof version === 'number' && version < (this.#versions.get(path) ?? 0)) return;
    this.#words.delete(path);
    this.#words.set(path, {
      diagnostics: readDiagnostics(diagnostics, MAX_EACH),
      heardAt: this.#clock.monotonic(),
    });
    const [oldest] = this.#words.keys();
    if (this.#words.size > MAX_FILES && oldest !== undefined) this.#words.delete(oldest);
    this.#next.resolve();
    this.#next = Promise.withResolvers();
  }

  /** The server is about to be told of a change: what it said before is of the past. */
  expect(path: string, version: number): void {
    this.#words.delete(path);
    this.#versions.set(path, version);
  }

  /** The word on the file once it has settled; undefined when there was none in `ms`. Rejects when aborted. */
  async settled(path: string, ms: number, signal: AbortSignal): Promise<readonly Diagnostic[] | undefined> {
    const end = this.#clock.monotonic() + ms;
    for (;;) {
      const word = this.#words.get(path);
      const until = word === undefined ? end : Math.min(end, word.heardAt + settledMs(word));
      const left = until - this.#clock.monotonic();
      if (left <= 0) return word?.diagnostics;
      await this.#within(left, this.#next.promise, signal);
    }
  }

  /** Resolves with `happened` or after `ms`; rejects when the signal aborts. */
  async #within(ms: number, happened: Promise<void>, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const time = this.#clock.sleep(ms, AbortSignal.any([signal, over.signal]));
    time.catch(() => {});
    await Promise.race([happened, time]);
    over.abort();
  }
}

function settledMs({ diagnostics }: Word): number {
  return diagnostics.length > 0 ? SETTLED_MS : SETTLED_EMPTY_MS;
}
