// A socket in the run folder, or a pipe where the system has no such sockets. A daemon that was killed leaves its socket behind: one that nobody answers at is taken over.
// Two daemons cannot race for it, since whoever binds holds the lock of the folder.

import { chmodSync, unlinkSync } from 'node:fs';
import { connect, type Server } from 'node:net';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { checkOwner, checkSocketPath, isPipe } from './run-folder.ts';

const PROBE_MS = 2000;

const RUNNING = 'Run `crab daemon status`, and `crab daemon stop` to end it.';

/** Throws `CrabError daemon-failed` that says who is in the way, or why it cannot be. */
export async function bindUnixSocket(server: Server, path: string, uid: number | undefined): Promise<void> {
  // Node makes the first instance of a pipe for itself alone, and gives others no right to write to it.
  if (isPipe(path)) return bound(server, { path });
  checkSocketPath(path);
  if (checkOwner(path, uid, 'socket') !== undefined) {
    if (await answers(path))
      throw new CrabError('daemon-failed', `Somebody answers at ${path} already.`, { hint: RUNNING });
    unlinkSync(path);
  }
  await bound(server, { path });
  chmodSync(path, 0o600);
}

/** Whether somebody listens there. What is full, or too slow to say, counts as alive. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const timer = setTimeout(() => done(true), PROBE_MS);
    const done = (is: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(is);
    };
    socket.on('connect', () => done(true));
    socket.on('error', (error) => done(!['ECONNREFUSED', 'ENOENT'].includes(errnoOf(error) ?? '')));
  });
}

/** Throws `CrabError daemon-failed`. */
export function bound(
  server: Server,
  where:
    | { readonly path: string }
    | { readonly host: string; readonly port: number }
    | { readonly fd: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error) => reject(bindFailure(cause, where));
    server.once('error', failed);
    server.listen({ ...where, exclusive: true }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

function bindFailure(cause: Error, where: Parameters<typeof bound>[1]): CrabError {
  if (!('port' in where)) {
    const what = 'path' in where ? where.path : `The socket ${where.fd} that was handed over`;
    if (errnoOf(cause) === 'EADDRINUSE')
      return new CrabError('daemon-failed', `Somebody answers at ${what} already.`, { cause, hint: RUNNING });
    return new CrabError('daemon-failed', `${what} cannot be listened at: ${messageOf(cause)}.`, { cause });
  }
  const { host, port } = where;
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'is in use; another daemon may be running',
    EACCES: 'may not be used by this user',
    EADDRNOTAVAIL: 'is no address of this machine',
    EAFNOSUPPORT: 'is of a kind that this machine does not speak',
  };
  const reason = why[errnoOf(cause) ?? ''] ?? `cannot be listened at: ${messageOf(cause)}`;
  return new CrabError('daemon-failed', `${host} port ${port} ${reason}.`, {
    cause,
    hint: 'Choose another with --port, or leave TCP out with --no-tcp.',
  });
}
