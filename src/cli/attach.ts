// Whether a command does its work in the daemon of its home or in its own process. It attaches only where it comes to the
// same: the declaration is handed over whole, and what is no part of it must be what the daemon stands on itself.

import { realpathSync } from 'node:fs';
import { CrabError, messageOf } from '../core/errors.ts';
import { type Dialled, dial } from '../hosts/daemon/dial.ts';
import type { HelloReply } from '../protocol/messages.ts';
import { type RemotePlatform, remotePlatform } from '../protocol/remote-platform.ts';
import type { Arguments } from './arguments.ts';
import { basisOf, differences } from './basis.ts';
import { systemClock } from './clock.ts';
import type { FlagName } from './flags.ts';
import { crabHome, type Environment } from './home.ts';
import { VERSION } from './version.ts';

export interface AttachOptions {
  readonly args: Arguments;
  readonly env: Environment;
  /** A person types here: they can answer questions, and be woken. */
  readonly isInteractive: boolean;
  warn(text: string): void;
}

/** What a declaration cannot carry: with one of these a command does its work itself. */
const OWN_WORK: readonly (readonly [FlagName, string])[] = [
  ['record', 'a recording is made in this process'],
  ['replay', 'a recording is played in this process'],
  ['api-key-file', 'the key stays in this process'],
  ['config', 'its settings of providers and of the network are those of this command'],
  ['profile', 'its settings of providers and of the network are those of this command'],
];

/** Milliseconds that a daemon has to say hello: whoever has work to do does it without one that takes longer. */
const HELLO_MS = 2_000;

/** Undefined: the work is done here. Throws `CrabError` where `--daemon` cannot be obeyed. */
export async function attach(options: AttachOptions): Promise<RemotePlatform | undefined> {
  const { args, isInteractive, warn } = options;
  const isForced = args.has('daemon');
  if (args.has('no-daemon')) return undefined;
  const attached = await tried(options, isForced);
  if (typeof attached !== 'string') return attached;
  if (isForced)
    throw new CrabError('daemon-failed', `--daemon cannot be obeyed: ${attached}.`, { hint: HINT });
  // Whoever leaves the terminal should know whether the conversation goes on without it.
  if (args.has('verbose') || (isInteractive && attached !== NONE))
    warn(`not through the daemon: ${attached}`);
  return undefined;
}

const NONE = 'none is running';

const HINT = 'Leave out --daemon, or see what `crab daemon status` says.';

/** The platform, or why there is none. */
async function tried(options: AttachOptions, isForced: boolean): Promise<RemotePlatform | string> {
  const { args, env, isInteractive, warn } = options;
  const own = OWN_WORK.find(([flag]) => args.has(flag));
  if (own !== undefined) return `--${own[0]}: ${own[1]}`;
  const greeted = await greet(crabHome(env), isInteractive);
  if (typeof greeted === 'string') return greeted;
  const { client, server } = greeted;
  const unlike = unlikeness(server, options) ?? (isForced ? undefined : otherBasis(server, env));
  if (unlike !== undefined) {
    client.close();
    return unlike;
  }
  const other = isForced ? otherBasis(server, env) : undefined;
  if (other !== undefined) warn(`the daemon’s own counts: ${other}`);
  let count = 0;
  const name = `${process.pid.toString(36)}-${Date.now().toString(36)}`;
  return remotePlatform(client, () => `${name}-${++count}`, { clock: systemClock });
}

/** The daemon, or why there is none to speak to. */
async function greet(home: string, isInteractive: boolean): Promise<Dialled | string> {
  const capabilities = ['core-events', 'basis', ...(isInteractive ? ['permissions'] : [])];
  const own = { home, uid: process.getuid?.(), name: `crab/${VERSION}` };
  try {
    return (await dial({ ...own, capabilities, helloMs: HELLO_MS })) ?? NONE;
  } catch (error) {
    return messageOf(error).replace(/\.$/, '');
  }
}

/** In what the daemon is another than ours; nothing can make up for it. */
function unlikeness(server: HelloReply, { env, isInteractive }: AttachOptions): string | undefined {
  const needed = ['core-events', 'basis', ...(isInteractive ? ['wakeups'] : [])];
  const missing = needed.filter((one) => !server.capabilities.includes(one));
  const uid = process.getuid?.();
  if (server.server !== `crab/${VERSION}`) return `it is ${server.server}, and this is crab/${VERSION}`;
  if (server.uid !== uid) return `it runs as user ${server.uid}, and this is user ${uid}`;
  if (real(server.home) !== real(crabHome(env))) return `its home is ${server.home}`;
  return missing.length > 0 ? `it cannot do ${missing.join(', ')}` : undefined;
}

const NAMED = 5;

function otherBasis(server: HelloReply, env: Environment): string | undefined {
  const names = differences(basisOf(env), server.basis);
  if (names.length === 0) return undefined;
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : '';
  const told = `it was started with other values of ${names.slice(0, NAMED).join(', ')}${more}`;
  return names.every((name) => name.startsWith('/'))
    ? `${told}; \`crab daemon reload\` reads them again`
    : told;
}

/** With links followed, where it is there. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
