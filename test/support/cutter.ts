// A listener in front of another one, whose connections can be cut in the middle of anything.

import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net';

export type Place = { readonly path: string } | { readonly host: string; readonly port: number };

export interface Cutter extends AsyncDisposable {
  /** Where it listens, if that is a port. */
  readonly port: number;
  /** Connections that were made so far. */
  readonly connections: number;
  cut(): void;
  /** Lets nobody through until it is called again. */
  block(isBlocked: boolean): void;
}

export async function cutter(to: Place, at: Place = { host: '127.0.0.1', port: 0 }): Promise<Cutter> {
  const sockets = new Set<Socket>();
  let isBlocked = false;
  let connections = 0;
  const listener = createServer((near) => {
    near.on('error', () => {});
    if (isBlocked) return near.destroy();
    connections++;
    const far = createConnection(to);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => listener.listen(at, resolve));
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (listener.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    cut,
    block(is) {
      isBlocked = is;
      if (is) cut();
    },
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
