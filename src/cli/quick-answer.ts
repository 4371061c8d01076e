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

/** Returns the exit status. Throws `CrabError` when nobody can read it. */
export async function quickAnswer(asked: Quick): Promise<number> {
  const text = asked === 'version' ? `crab ${VERSION}\n` : (await import('./help.ts')).helpText();
  const bytes = Buffer.from(text);
  const written = writeNow(bytes);
  // The stream knows how to wait for a full pipe, and how to say what is wrong with a broken one.
  if (written < bytes.length) {
    const { sinkOf } = await import('./sink.ts');
    await sinkOf(process.stdout, process.env).write(bytes.toString('utf8', written));
  }
  return 0;
}

function writeNow(bytes: Uint8Array): number {
  try {
    return writeSync(1, bytes);
  } catch {
    return 0;
  }
}
