// Chooses the mode that a command line asks for and runs it. Each mode is loaded when it is chosen, so that none pays
// for another.

import { CrabError } from '../core/errors.ts';
import { type Arguments, readArguments } from './arguments.ts';
import type { Environment } from './home.ts';
import { quickAnswer } from './quick-answer.ts';

type Subcommand = (argv: readonly string[], env: Environment) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  auth: async (...run) => (await import('./auth-command.ts')).auth(...run),
  demo: async (...run) => (await import('./demo.ts')).demo(...run),
  dev: async (argv) => (await import('./dev.ts')).dev(argv),
  import: async (argv, env) =>
    (await import('./session-command.ts')).sessionCommand(['import', ...argv], env),
  memory: async (...run) => (await import('./memory-command.ts')).memoryCommand(...run),
  models: async (...run) => (await import('./models-command.ts')).modelsCommand(...run),
  search: async (...run) => (await import('./search-command.ts')).searchCommand(...run),
  session: async (...run) => (await import('./session-command.ts')).sessionCommand(...run),
  usage: async (...run) => (await import('./usage-command.ts')).usage(...run),
};

/** Runs to the end and returns the exit status. Throws `CrabError` for what no channel could report. */
export async function start(argv: readonly string[]): Promise<number> {
  const [first = '', ...rest] = argv;
  const subcommand = Object.hasOwn(SUBCOMMANDS, first) ? SUBCOMMANDS[first] : undefined;
  if (subcommand !== undefined) return subcommand(rest, process.env);
  const args = readArguments(argv);
  if (args.has('version')) return await quickAnswer('version');
  if (args.has('help') || args.words[0] === 'help') return await quickAnswer('help');
  const talks = args.words[0] === 'chat';
  const words = talks || args.words[0] === 'run' ? args.words.slice(1) : args.words;
  if (talks && (words.length > 0 || args.has('print')))
    throw new CrabError('usage', '`crab chat` takes no prompt.', {
      hint: 'Leave out `chat` for a single answer.',
    });
  const prints = !talks && (words.length > 0 || wantsPrint(args) || !process.stdin.isTTY);
  if (prints) return (await import('./print.ts')).print({ args, words, env: process.env });
  return (await import('./repl.ts')).repl({ args, env: process.env });
}

function wantsPrint(args: Arguments): boolean {
  return args.has('print') || args.has('prompt') || args.has('output-format') || args.has('input-format');
}
