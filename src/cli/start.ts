// Chooses the mode that a command line asks for and runs it. Each mode is loaded when it is chosen, so that none pays
// for another.

import { CrabError } from '../core/errors.ts';
import { type Arguments, readArguments } from './arguments.ts';
import type { Environment } from './home.ts';
import { quickAnswer } from './quick-answer.ts';

type Subcommand = (argv: readonly string[], env: Environment) => Promise<number>;

const SUBCOMMANDS: Readonly<Record<string, Subcommand>> = {
  agents: async (...run) => (await import('./agents-command.ts')).agentsCommand(...run),
  auth: async (...run) => (await import('./auth-command.ts')).auth(...run),
  daemon: async (...run) => (await import('./daemon-command.ts')).daemonCommand(...run),
  demo: async (...run) => (await import('./demo.ts')).demo(...run),
  doctor: async (...run) => (await import('./doctor-command.ts')).doctor(...run),
  dev: async (argv) => (await import('./dev.ts')).dev(argv),
  import: async (argv, env) =>
    (await import('./session-command.ts')).sessionCommand(['import', ...argv], env),
  memory: async (...run) => (await import('./memory-command.ts')).memoryCommand(...run),
  models: async (...run) => (await import('./models-command.ts')).modelsCommand(...run),
  permissions: async (...run) => (await import('./permissions-command.ts')).permissionsCommand(...run),
  rpc: async (...run) => (await import('./rpc-command.ts')).rpcCommand(...run),
  'sandbox-bridge': async (argv) => (await import('../parts/sandbox/bridge.ts')).runBridge(argv),
  search: async (...run) => (await import('./search-command.ts')).searchCommand(...run),
  serve: async (...run) => (await import('./serve-command.ts')).serveCommand(...run),
  session: async (...run) => (await import('./session-command.ts')).sessionCommand(...run),
  tools: async (...run) => (await import('./tools-command.ts')).toolsCommand(...run),
  trust: async (...run) => (await import('./trust-command.ts')).trustCommand(...run),
  usage: async (...run) => (await import('./usage-command.ts')).usage(...run),
  watch: async (...run) => (await import('./watch-command.ts')).watchCommand(...run),
  worktree: async (...run) => (await import('./worktree-command.ts')).worktreeCommand(...run),
};

/** Runs to the end and returns the exit status. Throws `CrabError` for what no channel could report. */
export async function start(argv: readonly string[]): Promise<number> {
  const [first = '', ...rest] = argv;
  const subcommand = Object.hasOwn(SUBCOMMANDS, first) ? SUBCOMMANDS[first] : undefined;
  if (subcommand !== undefined) return subcommand(rest, process.env);
  const given = readArguments(argv);
  const args = given.has('template')
    ? await (await import('./template-flags.ts')).withTemplate(given, process.env)
    : given;
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
