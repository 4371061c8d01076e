// A client of the daemon that has nothing but JSON.

import type { Socket } from 'node:net';
import { FrameReader, HEADER, sealFrame } from '../../src/protocol/frames.ts';

export type Json = Readonly<Record<string, unknown>>;

export function frame(text: string): Uint8Array {
  const bytes = new Uint8Array(HEADER + Buffer.byteLength(text));
  bytes.set(Buffer.from(text), HEADER);
  return sealFrame(bytes, 'little');
}

/** Speaks as a client does that has nothing but JSON. */
export function jsonClient(socket: Socket) {
  const reader = new FrameReader('little');
  const heard: Json[] = [];
  let wake = () => {};
  socket.on('data', (bytes) => {
    for (const payload of reader.push(bytes)) heard.push(JSON.parse(Buffer.from(payload).toString()));
    wake();
  });
  const next = async (): Promise<Json> => {
    for (;;) {
      const first = heard.shift();
      if (first !== undefined) return first;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return {
    socket,
    next,
    say: (value: unknown) => void socket.write(frame(JSON.stringify(value))),
    async ask(value: unknown): Promise<Json> {
      socket.write(frame(JSON.stringify(value)));
      return next();
    },
  };
}
