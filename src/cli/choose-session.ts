// `--resume` without an id: the sessions of this folder that were written last, to choose from.

import type { Lines } from '../channels/repl/lines.ts';
import type { Sink } from '../core/host.ts';
import type { SessionMeta, Tapes } from '../core/tape.ts';
import type { Progress } from './progress.ts';
import { sessionRow } from './session-row.ts';

const SHOWN = 15;

export interface Choosing {
  readonly tapes: Tapes;
  readonly lines: Lines;
  readonly stdout: Sink;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export async function chooseSession(choosing: Choosing): Promise<SessionMeta | 'none'> {
  const { lines, stdout, signal } = choosing;
  const sessions = await newest(choosing);
  if (sessions.length === 0) {
    await stdout.write('There is no session of this folder yet.\n');
    return 'none';
  }
  for (const [at, session] of sessions.entries())
    await stdout.write(`${String(at + 1).padStart(3)}  ${sessionRow(session)}\n`);
  const stopped = rejection(signal);
  for (;;) {
    lines.prompt('Which one? ');
    const line = await Promise.race([lines.read(), stopped]);
    if (line === undefined || line.trim() === '') return 'none';
    const chosen = sessions[Number(line.trim()) - 1];
    if (chosen !== undefined) return chosen;
    await stdout.write(`Type a number from 1 to ${sessions.length}, or nothing to leave.\n`);
  }
}

async function newest({ tapes, progress, signal }: Choosing): Promise<readonly SessionMeta[]> {
  const onProgress = (read: number, all: number) => progress.tell(`${read} of ${all} sessions`);
  try {
    return await tapes.list({ cwd: process.cwd(), limit: SHOWN }, { onProgress, signal });
  } finally {
    await progress.over();
  }
}

/** Rejects with the signal's reason. */
function rejection(signal: AbortSignal): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  if (signal.aborted) reject(signal.reason);
  else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  promise.catch(() => {});
  return promise;
}
