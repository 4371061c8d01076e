// The body of one HTTP answer, read by pulling. Chunks that came with one network read are handed over together,
// because a waiting reader goes on only after Node has emitted all of them.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { CrabError } from '../../core/errors.ts';
import type { Decoder } from './decompress.ts';
import type { HttpAnswer, HttpLimits } from './http.ts';
import { Patience } from './patience.ts';

/** Bytes that are taken from the socket ahead of the reader. */
const AHEAD_BYTES = 1024 * 1024;
/** How long and how much an unwanted rest of a body may take before its connection is given up. */
const LINGER_MS = 1000;
const LINGER_BYTES = 64 * 1024;

export class Answer implements HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #message: IncomingMessage;
  readonly #limits: HttpLimits;
  readonly #host: string;
  readonly #released: () => void;
  /** The message, or what decodes it. */
  #body: NodeJS.ReadableStream;
  #decoder: Decoder | undefined;
  #opening: Promise<void> | undefined;
  #chunks: Buffer[] = [];
  #ahead = 0;
  #received = 0;
  #ended = false;
  #error: Error | undefined;
  /** Set while a reader waits. */
  #wake: (() => void) | undefined;
  readonly #patience = new Patience(() => this.#tooSilent());
  #lingering: NodeJS.Timeout | undefined;

  /** `released` is called when the exchange is over, perhaps more than once. */
  constructor(message: IncomingMessage, limits: HttpLimits, host: string, released: () => void) {
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    this.#message = message;
    this.#limits = limits;
    this.#host = host;
    this.#released = released;
    this.#body = message;
    message.on('error', (error) => this.cut(error));
    message.once('close', () => {
      if (!message.complete) this.cut();
    });
    const encoding = (message.headers['content-encoding'] ?? 'identity').toLowerCase();
    if (encoding === 'identity' || encoding === '') this.#listen();
    else this.#opening = this.#decompress(encoding);
  }

  async read(): Promise<readonly Buffer[] | undefined> {
    if (this.#opening !== undefined) await this.#opening;
    for (;;) {
      if (this.#chunks.length > 0) return this.#take();
      if (this.#error !== undefined) throw this.#error;
      if (this.#ended) return undefined;
      this.#patience.begin(this.#patienceMs);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Ends the exchange with an error, which the reader gets after what arrived before it. */
  fail(error: Error): void {
    if (this.#ended || this.#error !== undefined) return;
    this.#error = error;
    this.#close();
    this.#wakeReader();
  }

  /** The connection is gone before the body was whole. */
  cut(cause?: NodeJS.ErrnoException): void {
    const text = cause?.code?.startsWith('HPE_')
      ? `${this.#host} broke the rules of HTTP after ${this.#received} bytes of the answer (${cause.message}).`
      : `The connection to ${this.#host} broke off after ${this.#received} bytes of the answer.`;
    this.fail(new CrabError('stream-cut', text, { cause, retryable: true }));
  }

  /** Ends the exchange with an error at once. */
  abort(error: Error): void {
    this.#chunks = [];
    this.fail(error);
  }

  finish(): void {
    if (this.#ended || this.#error !== undefined) return;
    if (this.#body !== this.#message) {
      this.destroy();
      return;
    }
    let rest = 0;
    this.#message.removeAllListeners('data');
    this.#message.on('data', (chunk: Buffer) => {
      rest += chunk.length;
      if (rest > LINGER_BYTES) this.destroy();
    });
    this.#patience.end();
    this.#lingering = setTimeout(() => this.destroy(), LINGER_MS).unref();
    this.#message.resume();
  }

  destroy(): void {
    this.#close();
    // A message that has arrived whole says nothing when it is closed, and whoever waits for what is made of it would
    // wait for ever.
    if (this.#wake !== undefined) this.cut();
  }

  #close(): void {
    if (!this.#ended) this.#message.destroy();
    // It would go on with what it has, which a bomb makes a thousand times larger.
    this.#decoder?.destroy();
    this.#release();
  }

  async #decompress(encoding: string): Promise<void> {
    const { decompressor } = await import('./decompress.ts');
    const decoder = decompressor(encoding);
    this.#opening = undefined;
    if (decoder === undefined) {
      const text = `${this.#host} answered in the encoding ${encoding}, which was not asked for.`;
      return this.fail(new CrabError('provider-protocol', text));
    }
    this.#decoder = decoder;
    decoder.on('error', (error) => {
      const text = `The answer of ${this.#host} is not valid ${encoding}: ${error.message}.`;
      this.fail(new CrabError('provider-protocol', text, { cause: error }));
    });
    this.#body = this.#message.pipe(decoder);
    this.#listen();
  }

  #listen(): void {
    this.#body.on('data', (chunk: Buffer) => this.#arrived(chunk));
    this.#body.once('end', () => {
      this.#ended = true;
      this.#release();
      this.#wakeReader();
    });
  }

  #arrived(chunk: Buffer): void {
    if (this.#error !== undefined) return;
    this.#received += chunk.length;
    if (this.#received > this.#limits.maxBytes) {
      const text = `The answer of ${this.#host} is longer than ${this.#limits.maxBytes} bytes.`;
      this.fail(new CrabError('provider-protocol', text));
      return;
    }
    this.#ahead += chunk.length;
    this.#chunks.push(chunk);
    if (this.#ahead > AHEAD_BYTES) this.#body.pause();
    this.#wakeReader();
  }

  #take(): Buffer[] {
    const chunks = this.#chunks;
    this.#chunks = [];
    if (this.#ahead > AHEAD_BYTES) this.#body.resume();
    this.#ahead = 0;
    return chunks;
  }

  #wakeReader(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  get #patienceMs(): number {
    return this.#received === 0 ? this.#limits.firstByteMs : this.#limits.stallMs;
  }

  #tooSilent(): void {
    // The reader is busy with what it has; its next call starts the clock again.
    if (this.#wake === undefined) return;
    const text = `${this.#host} sent nothing for ${this.#patienceMs / 1000} seconds.`;
    this.abort(new CrabError('provider-stalled', text, { retryable: true }));
  }

  #release(): void {
    this.#patience.end();
    clearTimeout(this.#lingering);
    this.#released();
  }
}
