// The front door of `crab`: reads the command line, builds one platform and hands it to one channel. Each mode is
// loaded when it is chosen, so that none pays for another.

import { readArguments } from './cli/arguments.ts';
import { VERSION } from './cli/version.ts';
import { CrabError, EXIT } from './core/errors.ts';

async function main(argv: readonly string[]): Promise<number> {
  const [first, ...rest] = argv;
  if (first === 'dev') return (await import('./cli/dev.ts')).dev(rest);
  if (first === 'demo') return (await import('./cli/demo.ts')).demo(rest, process.env);
  const args = readArguments(argv);
  if (args.has('version')) return say(`crab ${VERSION}\n`);
  if (args.has('help') || args.words[0] === 'help') return say((await import('./cli/help.ts')).helpText());
  const talks = args.words[0] === 'chat';
  const words = talks || args.words[0] === 'run' ? args.words.slice(1) : args.words;
  if (talks && (words.length > 0 || args.has('print')))
    throw new CrabError('usage', '`crab chat` takes no prompt.', {
      hint: 'Leave out `chat` for a single answer.',
    });
  const prints = !talks && (words.length > 0 || wantsPrint(args) || !process.stdin.isTTY);
  if (prints) return (await import('./cli/print.ts')).print({ args, words, env: process.env });
  return (await import('./cli/repl.ts')).repl({ args, env: process.env });
}

function wantsPrint(args: ReturnType<typeof readArguments>): boolean {
  return args.has('print') || args.has('prompt') || args.has('output-format') || args.has('input-format');
}

function say(text: string): Promise<number> {
  return new Promise((resolve) => process.stdout.write(text, () => resolve(EXIT.success)));
}

function complain(thrown: unknown): number {
  if (!(thrown instanceof CrabError)) {
    process.stderr.write(`crab: ${thrown instanceof Error ? thrown.stack : String(thrown)}\n`);
    return EXIT.failure;
  }
  process.stderr.write(`crab: ${thrown.message}\n${thrown.hint}\n`);
  return thrown.exitCode;
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (thrown: unknown) => process.exit(complain(thrown)),
);
