// Two ends of a connection within one process: what is sent at one end is received at the other, as the same object.

import type { Connection, Received } from './connection.ts';

/** Messages that may wait before a sender has to. */
const ROOM = 256;

export function createPipe<Up, Down>(): readonly [Connection<Up, Down>, Connection<Down, Up>] {
  const up = new Lane<Up>();
  const down = new Lane<Down>();
  const close = () => {
    up.end();
    down.end();
  };
  return [
    { send: (message) => up.put(message), received: down, close },
    { send: (message) => down.put(message), received: up, close },
  ];
}

class Lane<Message> implements AsyncIterable<Received<Message>> {
  #messages: Message[] = [];
  #isOver = false;
  #arrived: () => void = () => {};
  #taken: () => void = () => {};

  async put(message: Message): Promise<void> {
    while (this.#messages.length >= ROOM && !this.#isOver) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const before = this.#taken;
      this.#taken = () => {
        before();
        resolve();
      };
      await promise;
    }
    if (this.#isOver) return;
    this.#messages.push(message);
    this.#arrived();
  }

  end(): void {
    this.#isOver = true;
    this.#arrived();
    this.#taken();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Received<Message>, void> {
    for (;;) {
      const messages = this.#messages;
      this.#messages = [];
      const taken = this.#taken;
      this.#taken = () => {};
      taken();
      for (const message of messages) yield { kind: 'message', message };
      if (this.#messages.length > 0) continue;
      if (this.#isOver) return;
      await new Promise<void>((resolve) => {
        this.#arrived = resolve;
      });
    }
  }
}
