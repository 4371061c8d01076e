// Asks once whether a project's own settings may be obeyed, before the conversation begins. It is asked only where they
// ask for something: a question without a consequence would teach people to answer without reading.

import type { Lines } from '../channels/repl/lines.ts';
import { messageOf } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { visibleLine, visibleStrictly } from '../faces/visible.ts';
import { addTrust } from '../parts/config/decisions.ts';
import { wishesOf } from './policy.ts';
import type { Project } from './project.ts';

export interface TrustQuestion {
  readonly home: string;
  readonly lines: Lines;
  readonly stdout: Sink;
  now(): number;
  warn(text: string): void;
}

/** Undefined when the person leaves it open; an answer is kept. */
export async function askTrust(project: Project, asking: TrustQuestion): Promise<boolean | undefined> {
  const { lines, stdout, home, now, warn } = asking;
  const rows = [
    `${shown(project.root)} has settings of its own, which ask to:`,
    ...wishesOf(project).map((wish) => `  ${shown(wish)}`),
    'Obey them only if you know who wrote them. Without trust they can forbid and ask, and nothing else.',
  ];
  await stdout.write(`${rows.join('\n')}\n`);
  for (;;) {
    lines.prompt('Trust this project? y / n / l (ask me later): ');
    const line = (await lines.read())?.trim().toLowerCase();
    if (line === undefined || line === 'l') return undefined;
    const trusted = line === 'y' || line === 'yes' ? true : line === 'n' || line === 'no' ? false : undefined;
    if (trusted === undefined) {
      await stdout.write('Type y, n or l.\n');
      continue;
    }
    try {
      addTrust(home, { path: project.root, trusted }, now());
    } catch (error) {
      warn(`the answer holds for this run only: ${messageOf(error)}`);
    }
    return trusted;
  }
}

function shown(text: string): string {
  return visibleStrictly(visibleLine(text, 500));
}
