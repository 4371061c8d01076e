// The daemon of this home, for commands that speak to it.

import { CrabError } from '../core/errors.ts';
import { type Dialled, dial } from '../hosts/daemon/dial.ts';
import { refusalOf } from '../protocol/failure.ts';
import { crabHome, type Environment } from './home.ts';
import { VERSION } from './version.ts';

/** Undefined when none is running. Throws `CrabError daemon-failed`. */
export async function findDaemon(env: Environment): Promise<Dialled | undefined> {
  try {
    return await dial({ home: crabHome(env), uid: process.getuid?.(), name: `crab/${VERSION}` });
  } catch (error) {
    throw refusalOf(error, 'The daemon');
  }
}

/** Runs `work` with the daemon and hangs up. Throws `CrabError daemon-failed` when none is running. */
export async function withDaemon<Result>(
  env: Environment,
  work: (daemon: Dialled) => Promise<Result>,
): Promise<Result> {
  const daemon = await findDaemon(env);
  if (daemon === undefined)
    throw new CrabError('daemon-failed', `No daemon is running for ${crabHome(env)}.`, {
      hint: 'Start one with `crab daemon run`.',
    });
  try {
    return await work(daemon);
  } catch (error) {
    throw refusalOf(error, 'The daemon');
  } finally {
    daemon.client.close();
  }
}
