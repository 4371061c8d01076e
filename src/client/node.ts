// `crab/client` in Node: over the daemon's socket, over TCP, or over WebSocket.

import { connect as connectSocket, type Socket } from 'node:net';
import { CrabError } from '../core/errors.ts';
import { clientEnd } from '../hosts/daemon/socket-connection.ts';
import { Crab, type CrabOptions } from './crab.ts';
import { webSocketConnection } from './web-socket.ts';

export { CrabError } from '../core/errors.ts';
export type * from '../core/event.ts';
export type { OpenReply, OpenRequest, Prompt } from '../core/platform.ts';
export type { Answer, Question } from '../core/question.ts';
export { RequestFailure } from '../protocol/failure.ts';
export type * as messages from '../protocol/messages.ts';
export { type Conversation, Crab, type CrabOptions, type Entrance, type Heard } from './crab.ts';

/**
 * `address`: the path of a socket, such as `/home/me/.crab/run/daemon.sock`; `tcp://HOST:PORT`; `ws://…` or `wss://…`.
 * Throws `CrabError`, or `RequestFailure` where this client is refused.
 */
export async function connect(address: string, options: CrabOptions = {}): Promise<Crab> {
  const [, scheme = 'unix'] = /^([a-z][\w+.-]*):\/\//i.exec(address) ?? [];
  if (!SCHEMES.has(scheme) || (scheme !== 'unix' && !URL.canParse(address)))
    throw new CrabError('usage', `${address} is no address of a Crab.`, {
      hint: 'It is the path of a socket, tcp://HOST:PORT, ws://HOST:PORT or wss://HOST:PORT.',
    });
  const dial = /^wss?:/.test(address)
    ? () => webSocketConnection(address)
    : async () => clientEnd(await socketTo(address));
  return Crab.over(dial, options);
}

const SCHEMES = new Set(['unix', 'tcp', 'ws', 'wss']);

function socketTo(address: string): Promise<Socket> {
  const url = address.startsWith('tcp:') ? new URL(address) : undefined;
  const where =
    url === undefined
      ? { path: address.replace(/^unix:/, '') }
      : { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6688) };
  return new Promise((resolve, reject) => {
    const socket = connectSocket(where);
    const failed = (cause: Error) =>
      reject(new CrabError('daemon-failed', `${address} cannot be reached: ${cause.message}.`, { cause }));
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
