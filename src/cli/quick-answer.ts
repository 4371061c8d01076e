// What is answered without starting anything. It is written straight to the descriptor: the stream object behind
// `process.stdout` would cost more than everything else here.

import { writeSync } from 'node:fs';
import { VERSION } from './version.ts';

export type Quick = 'version' | 'help';

export function quickQuestion(argv: readonly string[]): Quick | undefined {
  if (argv.length !== 1) return undefined;
  if (argv[0] === '--version' || argv[0] === '-v') return 'version';
  return argv[0] === '--help' || argv[0] === '-h' ? 'help' : undefined;
}

/** Returns the exit status. */
export async function quickAnswer(asked: Quick): Promise<number> {
  const text = asked === 'version' ? `crab ${VERSION}\n` : (await import('./help.ts')).helpText();
  try {
    writeSync(1, text);
    return 0;
  } catch (error) {
    // A pipe without blocking that is full, or closed: the stream knows how to wait, and how to be quiet.
    if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return 1;
    return new Promise((resolve) => process.stdout.write(text, (failure) => resolve(failure ? 1 : 0)));
  }
}
