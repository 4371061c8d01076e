// The folder with a daemon's sockets and its token. Who may enter it may command the daemon, so it belongs to one user and
// to nobody else, and a link in its place is refused: whoever planted one would be spoken to as the daemon.

import { chmodSync, lstatSync, type Stats } from 'node:fs';
import { join, win32 } from 'node:path';
import { CrabError, messageOf } from '../../core/errors.ts';
import { fingerprint } from '../../core/fingerprint.ts';
import { makeFolder } from '../../disk/make-folder.ts';

/** What `sun_path` holds beside its last zero: 108 bytes on Linux, 104 elsewhere (unix(7), unix(4)). */
const LONGEST_PATH = process.platform === 'linux' ? 107 : 103;

export interface RunFolder {
  readonly path: string;
  /** Frames of the binary form: a path, or the name of a pipe. */
  readonly socket: string;
  /** Frames of JSON. */
  readonly jsonSocket: string;
  /** What a connection that does not come through the folder must show. */
  readonly token: string;
  readonly pid: string;
  /** The TCP port in use, in digits. */
  readonly port: string;
}

/** What tells the pipes of one daemon from those of others, where there are no sockets in folders. */
export interface PipeOwner {
  readonly platform: NodeJS.Platform;
  /** The name of the user. */
  readonly user: string;
}

const THIS: PipeOwner = { platform: process.platform, user: process.env['USERNAME'] ?? '' };

export function runFolder(home: string, owner = THIS): RunFolder {
  const path = join(home, 'run');
  const at = (name: string) => join(path, name);
  const pipe = owner.platform === 'win32' ? pipeName(home, owner.user) : undefined;
  return {
    path,
    socket: pipe ?? at('daemon.sock'),
    jsonSocket: pipe === undefined ? at('daemon-json.sock') : `${pipe}-json`,
    token: at('daemon.token'),
    pid: at('daemon.pid'),
    port: at('daemon.port'),
  };
}

/**
 * `\\\\.\\pipe\\crab-USER-FINGERPRINT`. Pipes have one namespace for the whole machine, in which a home is told by the
 * fingerprint of its path; that is compared as Windows compares paths, without regard to case.
 */
function pipeName(home: string, user: string): string {
  const name = user
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '_')
    .slice(0, 32);
  return `${PIPES}crab-${name}-${fingerprint(`${user}\0${win32.resolve(home)}`.toLowerCase())}`;
}

const PIPES = '\\\\.\\pipe\\';

/** Who makes the first instance of a pipe owns it: nobody can be taken over, and nothing is left behind. */
export function isPipe(address: string): boolean {
  return address.startsWith(PIPES);
}

/** Makes it where it is missing. Throws `CrabError` (`daemon-failed`, `storage-failed`). */
export function prepareRunFolder({ path }: RunFolder, uid: number | undefined): void {
  try {
    makeFolder(path);
  } catch (cause) {
    throw new CrabError('storage-failed', `${path} cannot be made: ${messageOf(cause)}.`, { cause });
  }
  const info = checkOwner(path, uid, 'directory');
  if (info !== undefined && (info.mode & 0o077) !== 0) chmodSync(path, 0o700);
}

/** For a client: that nobody else could have put a socket there. Throws `CrabError daemon-failed`. */
export function checkRunFolder({ path }: RunFolder, uid: number | undefined): void {
  const info = checkOwner(path, uid, 'directory');
  // Where there are no user ids, there are no such bits either.
  if (info !== undefined && uid !== undefined && (info.mode & 0o022) !== 0)
    throw new CrabError('daemon-failed', `${path} may be written by others: its socket could be anybody’s.`, {
      hint: `Run \`chmod 700 ${path}\` and start the daemon again.`,
    });
}

/** Undefined when nothing is there. Throws `CrabError daemon-failed` for what is a link, of another kind, or somebody else’s. */
export function checkOwner(
  path: string,
  uid: number | undefined,
  kind: 'directory' | 'file' | 'socket',
): Stats | undefined {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return undefined;
  const is = { directory: info.isDirectory(), file: info.isFile(), socket: info.isSocket() }[kind];
  if (!is)
    throw new CrabError('daemon-failed', `${path} is ${info.isSymbolicLink() ? 'a link' : `no ${kind}`}.`, {
      hint: 'Look who made it, and take it away.',
    });
  if (uid !== undefined && info.uid !== uid)
    throw new CrabError('daemon-failed', `${path} belongs to user ${info.uid}, and this is user ${uid}.`, {
      hint: 'Use a $CRAB_HOME of your own.',
    });
  return info;
}

/** Throws `CrabError daemon-failed`: the system would cut the path and bind another one. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes > LONGEST_PATH)
    throw new CrabError(
      'daemon-failed',
      `The path of a socket has at most ${LONGEST_PATH} bytes, and ${path} has ${bytes}.`,
      {
        hint: 'Use a shorter $CRAB_HOME, or one that is a link to it.',
      },
    );
}
