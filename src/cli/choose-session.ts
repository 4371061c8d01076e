// `--resume` without an id: the newest sessions of this folder, to choose from.

import type { Lines } from '../channels/repl/lines.ts';
import type { SessionInfo } from '../core/conversation.ts';
import type { Sink } from '../core/host.ts';
import { timeOf } from '../core/ids.ts';
import type { Tapes } from '../core/tape.ts';

const SHOWN = 15;

export async function chooseSession(tapes: Tapes, lines: Lines, stdout: Sink): Promise<SessionInfo | 'none'> {
  const all = await tapes.list({ cwd: process.cwd() });
  const sessions = [...all].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, SHOWN);
  if (sessions.length === 0) {
    await stdout.write('There is no session of this folder yet.\n');
    return 'none';
  }
  for (const [at, session] of sessions.entries()) await stdout.write(`${row(at + 1, session)}\n`);
  for (;;) {
    lines.prompt('Which one? ');
    const line = await lines.read();
    if (line === undefined || line.trim() === '') return 'none';
    const chosen = sessions[Number(line.trim()) - 1];
    if (chosen !== undefined) return chosen;
    await stdout.write(`Type a number from 1 to ${sessions.length}, or nothing to leave.\n`);
  }
}

function row(number: number, { id, name, messages }: SessionInfo): string {
  const when = new Date(timeOf(id)).toISOString().slice(0, 16).replace('T', ' ');
  const title = name === undefined ? '' : `  ${name.replaceAll(/\p{Cc}/gu, ' ')}`;
  return `${String(number).padStart(3)}  ${when}  ${id}  ${messages} messages${title}`;
}
