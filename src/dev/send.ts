// Puts a delivery on a socket. Everything here ends with the connection: a client that goes away takes the
// pending delay with it.

import type { ServerResponse } from 'node:http';
import type { Delivery } from './delivery.ts';

const STREAM_HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' };

/** Resolves to true when the last byte was given to the kernel, to false if that is not going to happen. */
export async function send(response: ServerResponse, delivery: Delivery): Promise<boolean> {
  const { socket } = response;
  if (delivery.kind === 'reset') {
    socket?.resetAndDestroy();
    return false;
  }
  if (delivery.kind === 'whole') {
    response.writeHead(delivery.status, delivery.headers);
    return finish(response, delivery.body);
  }
  response.writeHead(200, STREAM_HEADERS);
  const { writes, delayMs, ending } = delivery;
  const last = writes.at(-1) ?? '';
  for (const bytes of writes.slice(0, -1)) {
    response.write(bytes);
    await pause(response, delayMs);
    if (response.destroyed) return false;
  }
  if (ending === 'end') return finish(response, last);
  if (last === '') response.flushHeaders();
  else response.write(last);
  if (ending === 'cut') socket?.destroySoon();
  return false;
}

function finish(response: ServerResponse, last: string | Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    response.once('finish', () => resolve(true));
    response.once('close', () => resolve(false));
    response.end(last);
  });
}

function pause(response: ServerResponse, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
  });
}
