// A connection over the WebSocket that browsers and Node have: JSON-RPC, one message a text.

import { CrabError } from '../core/errors.ts';
import type { ServerConnection } from '../protocol/client.ts';
import type { Received } from '../protocol/connection.ts';
import { RpcClientEnd } from '../protocol/json-rpc-client.ts';
import type { ServerMessage } from '../protocol/messages.ts';

const Socket = globalThis.WebSocket;

/** The subprotocol. */
const SUBPROTOCOL = 'crab.v2';

/** Characters that may wait to be sent before a sender has to. */
const MAX_BUFFERED = 1024 * 1024;

/** Throws `CrabError daemon-failed`. */
export function webSocketConnection(address: string): Promise<ServerConnection> {
  const socket = new Socket(address, [SUBPROTOCOL]);
  const end = new RpcClientEnd();
  const arrived: Received<ServerMessage>[] = [];
  let isOver = false;
  let wake = () => {};
  socket.addEventListener('message', ({ data }) => {
    const received = typeof data === 'string' ? end.read(data) : undefined;
    if (received !== undefined) arrived.push(received);
    wake();
  });
  socket.addEventListener('close', () => {
    isOver = true;
    wake();
  });
  async function* received(): AsyncGenerator<Received<ServerMessage>, void> {
    for (;;) {
      yield* arrived.splice(0);
      if (arrived.length > 0) continue;
      if (isOver) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }
  return new Promise((resolve, reject) => {
    const failed = () =>
      reject(new CrabError('daemon-failed', `${address} cannot be reached, or refuses this client.`));
    socket.addEventListener('close', failed);
    socket.addEventListener('error', failed);
    socket.addEventListener('open', () =>
      resolve({
        async send(message) {
          if (socket.readyState !== Socket.OPEN) return;
          socket.send(end.write(message));
          // There is no event for it.
          while (socket.bufferedAmount > MAX_BUFFERED && socket.readyState === Socket.OPEN)
            await new Promise((soon) => setTimeout(soon, 5));
        },
        received: received(),
        close: () => socket.close(),
      }),
    );
  });
}
