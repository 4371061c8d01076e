// Whether this run is recorded or replayed, and what that means for its session. What does either is loaded only then.

import { CrabError } from '../core/errors.ts';
import type { OpenRequest } from '../core/platform.ts';
import type { Tapes } from '../core/tape.ts';
import type { Arguments } from './arguments.ts';
import type { Environment } from './home.ts';
import type { Traffic } from './traffic.ts';

export interface RecordFlags {
  readonly args: Arguments;
  readonly env: Environment;
  warn(text: string): void;
}

/** Throws `CrabError usage`. */
export async function trafficFor({ args, env, warn }: RecordFlags): Promise<Traffic | undefined> {
  if (!args.has('record') && !args.has('replay')) return undefined;
  const old = (['continue', 'resume', 'session', 'no-session'] as const).some((flag) => args.has(flag));
  const { trafficOf } = await import('./traffic.ts');
  return trafficOf({ args, env, isNew: !old, warn });
}

/** The session of the recording; one that is kept already is not written a second time. */
export async function asRecorded(
  open: OpenRequest,
  traffic: Traffic | undefined,
  tapes: Tapes,
  warn: (text: string) => void,
): Promise<OpenRequest> {
  const id = traffic?.session;
  if (traffic === undefined || id === undefined) return open;
  if (!traffic.isReplay || !(await isKept(tapes, id))) return { ...open, session: { kind: 'new', id } };
  warn(`session ${id} of the recording is kept already; this replay leaves no other`);
  return { ...open, session: { kind: 'memory' } };
}

async function isKept(tapes: Tapes, id: string): Promise<boolean> {
  try {
    await tapes.find(id);
    return true;
  } catch (thrown) {
    if (thrown instanceof CrabError && thrown.code === 'session-unknown') return false;
    throw thrown;
  }
}
