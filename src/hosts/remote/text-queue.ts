// The texts of a WebSocket in the order in which they came, read when there is time for them: when too much waits, the
// socket is read no further.

import type { WebSocket } from 'ws';
import { CLOSE } from './limits.ts';

/** What is read ahead of its turn: messages, and characters of them. */
const AHEAD = 64;
const AHEAD_LENGTH = 1024 * 1024;

export class TextQueue implements AsyncIterable<string> {
  readonly #socket: WebSocket;
  readonly #texts: string[] = [];
  #length = 0;
  #isOver = false;
  #wake: () => void = () => {};

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('close', () => this.end());
    // What went wrong closes it, too.
    socket.on('error', () => {});
  }

  #take(data: Buffer, isBinary: boolean): void {
    if (isBinary) {
      this.#socket.close(CLOSE.notText, 'Messages are text.');
      return;
    }
    const text = data.toString('utf8');
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#texts.length >= AHEAD || this.#length >= AHEAD_LENGTH) this.#socket.pause();
    this.#wake();
  }

  /** What came already is still read. */
  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string, void> {
    for (;;) {
      const text = this.#texts.shift();
      if (text !== undefined) {
        this.#length -= text.length;
        if (this.#socket.isPaused && this.#length < AHEAD_LENGTH) this.#socket.resume();
        yield text;
      } else if (this.#isOver) return;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
