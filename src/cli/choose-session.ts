// `--resume` without an id: the newest sessions of this folder, to choose from.

import type { Lines } from '../channels/repl/lines.ts';
import type { SessionInfo } from '../core/conversation.ts';
import type { Sink } from '../core/host.ts';
import { timeOf } from '../core/ids.ts';
import type { Tapes } from '../core/tape.ts';
import type { Progress } from './progress.ts';

const SHOWN = 15;

export interface Choosing {
  readonly tapes: Tapes;
  readonly lines: Lines;
  readonly stdout: Sink;
  readonly progress: Progress;
  readonly signal: AbortSignal;
}

export async function chooseSession(choosing: Choosing): Promise<SessionInfo | 'none'> {
  const { lines, stdout, signal } = choosing;
  const sessions = await newest(choosing);
  if (sessions.length === 0) {
    await stdout.write('There is no session of this folder yet.\n');
    return 'none';
  }
  for (const [at, session] of sessions.entries()) await stdout.write(`${row(at + 1, session)}\n`);
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

async function newest({ tapes, progress, signal }: Choosing): Promise<readonly SessionInfo[]> {
  const onProgress = (read: number, all: number) => progress.tell(`${read} of ${all} sessions`);
  try {
    const all = await tapes.list({ cwd: process.cwd() }, { onProgress, signal });
    return [...all].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, SHOWN);
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

function row(number: number, { id, name, messages }: SessionInfo): string {
  const when = new Date(timeOf(id)).toISOString().slice(0, 16).replace('T', ' ');
  const title = name === undefined ? '' : `  ${name.replaceAll(/\p{Cc}/gu, ' ')}`;
  return `${String(number).padStart(3)}  ${when}  ${id}  ${messages} messages${title}`;
}
