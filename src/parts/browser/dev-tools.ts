// The DevTools protocol over two pipes (chromedevtools.github.io/devtools-protocol): JSON messages that end with NUL. Pipes
// and no socket, because whoever can reach a debugging port owns the browser.

import { ToolFailure } from '../../core/errors.ts';
import type { Clock, ProcessChannel } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';

/** Milliseconds for the answer to one command. */
const COMMAND_MS = 30_000;
/** Characters of one message: a screenshot of a long page is the longest. */
const MAX_MESSAGE = 64 * 1024 * 1024;

export interface DevToolsEvent {
  readonly method: string;
  readonly params: JsonObject;
  /** Of the page that it is about; empty for the browser itself. */
  readonly session: string;
}

interface Waiting {
  readonly method: string;
  resolve(result: JsonObject): void;
  reject(error: Error): void;
}

export class DevTools {
  readonly #channel: ProcessChannel;
  readonly #clock: Clock;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Set<(event: DevToolsEvent) => void>();
  #last = 0;
  #isClosed = false;
  /** Resolves when the browser has closed its end. */
  readonly closed: Promise<void>;

  constructor(channel: ProcessChannel, clock: Clock) {
    this.#channel = channel;
    this.#clock = clock;
    this.closed = this.#listen().finally(() => this.#close());
    this.closed.catch(() => {});
  }

  listen(listener: (event: DevToolsEvent) => void): void {
    this.#listeners.add(listener);
  }

  /** Rejects with `ToolFailure` for what the browser refuses, and when it does not answer or is gone. */
  async send(method: string, params: JsonObject = {}, session = ''): Promise<JsonObject> {
    if (this.#isClosed) throw gone();
    const id = ++this.#last;
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    this.#waiting.set(id, { method, resolve, reject });
    const timer = new AbortController();
    const late = this.#clock.sleep(COMMAND_MS, timer.signal).then(() => {
      throw new ToolFailure(`The browser did not answer ${method} within ${COMMAND_MS / 1000} seconds.`);
    });
    late.catch(() => {});
    try {
      const message = { id, method, params, ...(session !== '' && { sessionId: session }) };
      await this.#channel.write(`${JSON.stringify(message)}\0`);
      return await Promise.race([promise, late]);
    } finally {
      this.#waiting.delete(id);
      timer.abort();
    }
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder();
    let pieces: string[] = [];
    let length = 0;
    for await (const bytes of this.#channel.output) {
      const [first = '', ...others] = decoder.decode(bytes, { stream: true }).split('\0');
      pieces.push(first);
      length += first.length;
      if (length > MAX_MESSAGE) throw new ToolFailure('The browser sent a message of more than 64 MiB.');
      for (const next of others) {
        this.#take(pieces.join(''));
        pieces = [next];
        length = next.length;
      }
    }
  }

  #take(text: string): void {
    const message: JsonObject = JSON.parse(text);
    const { id, method, params, result, error, sessionId } = message;
    if (typeof id === 'number') {
      const waiting = this.#waiting.get(id);
      if (error === undefined) waiting?.resolve(objectIn(result));
      else
        waiting?.reject(
          new ToolFailure(`The browser refuses ${waiting.method}: ${String(objectIn(error)['message'])}`),
        );
      return;
    }
    const event = { method: String(method), params: objectIn(params), session: String(sessionId ?? '') };
    for (const listener of this.#listeners) listener(event);
  }

  #close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.values()) reject(gone());
  }
}

function gone(): ToolFailure {
  return new ToolFailure('The browser is gone; browser_navigate starts another one.');
}

export function objectIn(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? (value as JsonObject) : {};
}

export function listIn(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.map(objectIn) : [];
}
