// Puts a delivery on a socket. Everything here ends with the connection: a client that goes away takes the
// pending delay with it.

import type { ServerResponse } from 'node:http';
import type { Delivery, Headers, Repeated } from './delivery.ts';

export type OnWrite = (bytes: Uint8Array) => Promise<void> | undefined;

/** Resolves to true when the last byte was given to the kernel, to false if that is not going to happen. */
export async function send(
  response: ServerResponse,
  delivery: Delivery,
  onWrite: OnWrite = () => undefined,
): Promise<boolean> {
  const { socket } = response;
  if (delivery.kind === 'reset') {
    socket?.resetAndDestroy();
    return false;
  }
  if (delivery.kind === 'whole') {
    response.writeHead(delivery.status, dated(delivery.headers));
    return finish(response, delivery.body);
  }
  response.writeHead(200, dated(delivery.headers));
  const { writes, delayMs, ending, before } = delivery;
  if (before !== undefined) await repeat(response, before);
  if (response.destroyed) return false;
  const last = writes.at(-1) ?? '';
  for (const bytes of writes.slice(0, -1)) {
    response.write(bytes);
    await pause(response, delayMs);
    const held = onWrite(bytes);
    if (held !== undefined) await Promise.race([held, closed(response)]);
    if (response.destroyed) return false;
  }
  if (ending === 'end') return finish(response, last);
  if (last === '') response.flushHeaders();
  else response.write(last);
  if (ending === 'cut') socket?.destroySoon();
  if (ending === 'reset') response.write('', () => socket?.resetAndDestroy());
  return false;
}

/** `{{date+N}}` is the date in N seconds, in the form of HTTP. */
function dated(headers: Headers): Headers {
  const fill = (value: string) =>
    value.replace(/\{\{date\+(\d+)\}\}/g, (_, seconds: string) =>
      new Date(Date.now() + Number(seconds) * 1000).toUTCString(),
    );
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
}

async function repeat(response: ServerResponse, { bytes, times, everyMs }: Repeated): Promise<void> {
  response.flushHeaders();
  for (let time = 0; time < times && !response.destroyed; time++) {
    const fits = response.write(bytes);
    if (everyMs > 0) await pause(response, everyMs);
    else if (!fits) await drained(response);
  }
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (response.destroyed) resolve();
    else response.once('close', resolve);
  });
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
    // Without a delay it is enough that the write before goes out alone.
    if (ms === 0) return void setImmediate(resolve);
    const done = () => {
      clearTimeout(timer);
      response.off('close', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    response.once('close', done);
  });
}
