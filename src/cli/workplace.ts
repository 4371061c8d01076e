// Where a command does its work: in the daemon of its home, or in its own process. Whoever holds one cannot tell which.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Address } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { Clock, Files } from '../core/host.ts';
import type { OpenRequest, Platform } from '../core/platform.ts';
import type { Settings } from '../core/settings.ts';
import type { Tapes } from '../core/tape.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { type Arguments, conflict } from './arguments.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

export interface WorkplaceOptions {
  readonly args: Arguments;
  readonly env: Environment;
  readonly settings: Settings;
  /** A person types here: they can answer questions, and be woken. */
  readonly isInteractive: boolean;
  warn(text: string): void;
}

export interface Workplace {
  readonly platform: Platform;
  readonly files: Files;
  readonly clock: Clock;
  /** What others who have the conversation open make it say; absent where nobody else can. */
  readonly follow?: (address: Address, signal: AbortSignal) => AsyncIterable<readonly Event[]>;
  /** Stops what others make it do; there where `follow` is. */
  readonly stopOthers?: (address: Address) => Promise<void>;
  /** Calls the listener with prompts that the conversation sent itself; absent where they come with `follow`. */
  readonly onWakeup?: (listener: (prompt: string) => void) => () => void;
  /** What to open where nothing of this machine counts; absent where the command line and this folder say it. */
  readonly request?: () => OpenRequest;
  /** The Crab elsewhere that does the work. */
  readonly remote?: string;
  /** Who can be asked as a guest; absent where what is opened says it. */
  readonly guests?: () => Promise<readonly string[]>;
  /** Loads what every prompt needs, for a moment in which there is only waiting to do. */
  prepare(): void;
  tapes(): Promise<Tapes>;
  /** The whole name of a model; undefined where it is not known here. */
  modelName(name: string | undefined): Promise<string | undefined>;
  /** The request as a recording wants it. */
  recorded(open: OpenRequest): Promise<OpenRequest>;
  /** Ends every child process of this one at once. */
  killAll(): void;
  /** Everything acknowledged is on disk when it resolves. */
  close(): Promise<void>;
}

/** Throws `CrabError`, `usage` among them. */
export async function openWorkplace(options: WorkplaceOptions): Promise<Workplace> {
  const { args, env } = options;
  conflict(args, ['daemon', 'no-daemon', 'remote']);
  if (args.has('remote')) return (await import('./remote.ts')).remoteWorkplace(options);
  const odd = (['remote-cwd', 'remote-token-file'] as const).find((name) => args.has(name));
  if (odd !== undefined)
    throw new CrabError('usage', `--${odd} needs --remote: it is about a Crab elsewhere.`);
  if (args.has('daemon') || (!args.has('no-daemon') && isThere(join(crabHome(env), 'run', DAEMON_SIGN)))) {
    const { attach } = await import('./attach.ts');
    const far = await attach(options);
    if (far !== undefined)
      return {
        platform: far,
        follow: far.follow,
        stopOthers: far.stop,
        files: createLocalFiles(),
        clock: systemClock,
        prepare() {},
        tapes: () => localTapes(env),
        modelName: async (name) => name,
        recorded: async (open) => open,
        killAll() {},
        close: far.close,
      };
  }
  const { embed } = await import('./embed.ts');
  return embed(options);
}

/** What is in the run folder while a daemon runs: a pipe is in no folder. */
const DAEMON_SIGN = process.platform === 'win32' ? 'daemon.pid' : 'daemon.sock';

async function localTapes(env: Environment): Promise<Tapes> {
  const { createTapes } = await import('../parts/tape/tapes.ts');
  return createTapes({ home: crabHome(env), clock: systemClock, random: Math.random });
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
