// A client's WebSocket as a connection of the protocol: each text is one message of JSON-RPC. A client that sends faster
// than it may is read more slowly and told nothing; one that does not read is dropped.

import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock } from '../../core/host.ts';
import type { Connection, Received } from '../../protocol/connection.ts';
import { MAX_FRAME } from '../../protocol/frames.ts';
import { RpcServerEnd } from '../../protocol/json-rpc.ts';
import type { ClientMessage, ServerMessage } from '../../protocol/messages.ts';
import { CLOSE, type Limits } from './limits.ts';
import { TextQueue } from './text-queue.ts';

const OPEN = 1;

export class RpcConnection implements Connection<ServerMessage, ClientMessage> {
  readonly received: AsyncIterable<Received<ClientMessage>>;
  readonly #client: WebSocket;
  readonly #socket: Duplex;
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #texts: TextQueue;
  readonly #end = new RpcServerEnd();
  readonly #closed = new AbortController();
  #draining: Promise<void> | undefined;

  constructor(client: WebSocket, socket: Duplex, clock: Clock, limits: Limits) {
    this.#client = client;
    this.#socket = socket;
    this.#clock = clock;
    this.#limits = limits;
    this.#texts = new TextQueue(client);
    this.received = this.#read();
    client.on('close', () => this.#closed.abort());
  }

  async *#read(): AsyncGenerator<Received<ClientMessage>, void> {
    const { burst, rate } = this.#limits;
    let credit = burst;
    let at = this.#clock.monotonic();
    for await (const text of this.#texts) {
      const now = this.#clock.monotonic();
      credit = Math.min(burst, credit + ((now - at) / 1000) * rate) - 1;
      at = now;
      if (credit < 0) await this.#clock.sleep((-credit / rate) * 1000, this.#closed.signal).catch(() => {});
      const received = this.#end.read(text);
      if (received.kind === 'message') yield received;
      else if (received.answer !== undefined) await this.#say(received.answer);
    }
  }

  async send(message: ServerMessage): Promise<void> {
    await this.#say(this.#end.write(message));
  }

  /** For `ServeOptions.answered`. */
  async answered(requestId: number): Promise<void> {
    await this.#say(this.#end.answered(requestId));
  }

  async #say(text: string | undefined): Promise<void> {
    if (text === undefined) return;
    // A client would refuse it, and could not tell what is missing.
    if (text.length * 3 > MAX_FRAME && Buffer.byteLength(text) > MAX_FRAME)
      return this.#client.close(CLOSE.tooLarge, 'The answer is too large.');
    while (this.#isOpen && this.#socket.writableLength > this.#limits.queueBytes) {
      this.#draining ??= this.#waitForDrain();
      await this.#draining;
    }
    if (this.#isOpen) this.#client.send(text);
  }

  get #isOpen(): boolean {
    return this.#client.readyState === OPEN;
  }

  /** Until what was sent is on its way, or the client was dropped. */
  async #waitForDrain(): Promise<void> {
    const over = new AbortController();
    const stop = () => over.abort();
    this.#socket.once('drain', stop);
    this.#socket.once('close', stop);
    try {
      await this.#clock.sleep(this.#limits.stallMs, over.signal);
      this.drop();
    } catch {
      // It has read.
    } finally {
      this.#socket.off('drain', stop);
      this.#socket.off('close', stop);
      this.#draining = undefined;
    }
  }

  /** Without a farewell, which would wait behind everything else that is not read. */
  drop(): void {
    this.#client.terminate();
    this.#texts.end();
  }

  close(): void {
    this.#client.close();
  }
}
