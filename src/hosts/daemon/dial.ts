// The way to the daemon of a home: through the folder that only its user can enter. Nothing is sent before it is clear
// that the folder is one's own.

import { connect as connectSocket, type Socket } from 'node:net';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { type Client, connect } from '../../protocol/client.ts';
import type { HelloMsg, HelloReply } from '../../protocol/messages.ts';
import { VERSION } from '../../protocol/serve.ts';
import { checkRunFolder, runFolder } from './run-folder.ts';
import { clientEnd } from './socket-connection.ts';

export interface DialOptions {
  /** `$CRAB_HOME`. */
  readonly home: string;
  readonly uid: number | undefined;
  /** The program and its version, such as `crab/1.0.0`. */
  readonly name: string;
  /** Default: all that Crab's own clients understand. */
  readonly capabilities?: HelloMsg['capabilities'];
  /** Milliseconds that the daemon has to say hello. Default: enough for one that its socket has just started. */
  readonly helloMs?: number;
}

const HELLO_MS = 10_000;

export interface Dialled {
  readonly client: Client;
  readonly server: HelloReply;
}

/** Undefined when no daemon is running there. Throws `CrabError daemon-failed`, or `RequestFailure` when it is refused. */
export async function dial(options: DialOptions): Promise<Dialled | undefined> {
  const { home, uid, name, capabilities = ['core-events', 'permissions'], helloMs = HELLO_MS } = options;
  const folder = runFolder(home);
  checkRunFolder(folder, uid);
  const socket = await reached(folder.socket);
  if (socket === undefined) return undefined;
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    socket.destroy();
  }, helloMs);
  try {
    return await connect(clientEnd(socket), { version: VERSION, client: name, capabilities });
  } catch (cause) {
    if (!isLate) throw cause;
    throw new CrabError('daemon-failed', `The daemon said nothing for ${helloMs / 1000} s.`, {
      cause,
      hint: `Its process is in ${folder.pid}, and \`crab daemon logs\` tells what it said before.`,
    });
  } finally {
    clearTimeout(timer);
  }
}

const NOBODY = new Set(['ENOENT', 'ECONNREFUSED', 'ENOTDIR']);

function reached(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
    const failed = (cause: Error) => {
      if (NOBODY.has(errnoOf(cause) ?? '')) resolve(undefined);
      else
        reject(new CrabError('daemon-failed', `${path} cannot be reached: ${messageOf(cause)}.`, { cause }));
    };
    socket.once('error', failed);
  });
}
