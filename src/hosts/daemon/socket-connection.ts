// A connection over a socket: frames of the binary form, one way and the other. Reading stops while nobody takes what
// came, and sending waits for the other end to read.

import type { Socket } from 'node:net';
import type { Connection, Received } from '../../protocol/connection.ts';
import {
  type ByteOrder,
  FrameError,
  FrameReader,
  HEADER,
  MAX_FRAME,
  sealFrame,
} from '../../protocol/frames.ts';
import {
  type ClientMessage,
  readClientMessage,
  readServerMessage,
  type ServerMessage,
  writeClientMessage,
  writeServerMessage,
} from '../../protocol/messages.ts';

export interface Limits {
  /** Bytes of a frame that is taken at the moment. Default: `MAX_FRAME`. */
  maxFrame?(): number;
  /** Milliseconds that the other end may leave unread what was sent to it. Default: for ever. */
  readonly stallMs?: number;
  /** What cannot be written is the sender's own affair, and ends nothing. Default: the other end waits for it, and is cut off. */
  readonly mayFail?: boolean;
}

export interface Codec<Out, In> {
  readonly order: ByteOrder;
  /** A frame, its header not yet written. */
  write(message: Out): Uint8Array<ArrayBuffer>;
  /** Throws what is wrong with it. */
  read(payload: Uint8Array): In;
}

export function serverEnd(socket: Socket, limits: Limits = {}): Connection<ServerMessage, ClientMessage> {
  return socketConnection(
    socket,
    { order: 'big', write: (message) => writeServerMessage(message, HEADER), read: readClientMessage },
    limits,
  );
}

export function clientEnd(socket: Socket): Connection<ClientMessage, ServerMessage> {
  return socketConnection(
    socket,
    { order: 'big', write: (message) => writeClientMessage(message, HEADER), read: readServerMessage },
    { mayFail: true },
  );
}

export function socketConnection<Out, In>(
  socket: Socket,
  codec: Codec<Out, In>,
  { maxFrame, stallMs, mayFail }: Limits,
): Connection<Out, In> {
  socket.setNoDelay(true);
  // What a socket has to say of its end is that it ended.
  socket.on('error', () => {});
  return {
    async send(message) {
      // Whoever waited with others may find that one of them was faster: one message at a time is ahead of the reader.
      while (socket.writable && socket.writableNeedDrain) await drained(socket, stallMs);
      if (!socket.writable) return;
      let frame: Uint8Array;
      try {
        frame = sealFrame(codec.write(message), codec.order);
      } catch (error) {
        // Half an answer would be worse than none: the other end could not tell what is missing.
        if (mayFail !== true) socket.destroy();
        throw error;
      }
      if (!socket.write(frame)) await drained(socket, stallMs);
    },
    received: receive(socket, codec, maxFrame),
    close: () => void socket.destroySoon(),
  };
}

/** Until the other end has read, or is gone; one that takes not a byte for so long is cut off. */
function drained(socket: Socket, stallMs = 0): Promise<void> {
  return new Promise((resolve) => {
    const cut = () => socket.destroy();
    const done = () => {
      socket.setTimeout(0, cut);
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
    // Node's own timeout looks at the bytes that the system has taken, also within one large write.
    if (stallMs > 0) socket.setTimeout(stallMs, cut);
  });
}

async function* receive<Out, In>(
  socket: Socket,
  codec: Codec<Out, In>,
  maxFrame = () => MAX_FRAME,
): AsyncGenerator<Received<In>, void> {
  const reader = new FrameReader(codec.order);
  try {
    const chunks: AsyncIterable<Uint8Array> = socket.iterator({ destroyOnReturn: false });
    for await (const bytes of chunks) {
      reader.limit = maxFrame();
      for (const payload of reader.push(bytes)) yield received(payload, codec);
    }
  } catch (error) {
    if (error instanceof FrameError)
      yield { kind: 'broken', code: 413, reason: `${error.message}${guess(error, codec.order)}` };
  }
}

function received<Out, In>(payload: Uint8Array, codec: Codec<Out, In>): Received<In> {
  try {
    return { kind: 'message', message: codec.read(payload) };
  } catch (error) {
    return { kind: 'malformed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Those who speak another protocol are told so: the first bytes of theirs are no length of ours. */
function guess({ message }: FrameError, order: ByteOrder): string {
  const [, length] = /^A frame of (\d+) bytes/.exec(message) ?? [];
  const bytes = Buffer.alloc(HEADER);
  if (order === 'big') bytes.writeUInt32BE(Number(length ?? 0));
  else bytes.writeUInt32LE(Number(length ?? 0));
  if (/^(?:GET |POST|PUT |HEAD|OPTI|PRI )/.test(bytes.toString('latin1')))
    return ' This looks like HTTP, which is not spoken here.';
  if (bytes[0] === 0x16 && bytes[1] === 3) return ' This looks like TLS, which is not spoken here.';
  if (order === 'little')
    return bytes[0] === 0
      ? ' This looks like a frame of the binary form, which is spoken on daemon.sock.'
      : '';
  if (bytes[3] === 0 && (bytes[0] ?? 0) > 0)
    return ' This looks like a frame of JSON, which is spoken on daemon-json.sock.';
  return '';
}
