// `crab worktree`: the copies of repositories that conversations made, for a person to see and to clear away.

import { resolve } from 'node:path';
import { CrabError, EXIT, ToolFailure } from '../core/errors.ts';
import { visibleLine } from '../faces/visible.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { createExec } from '../parts/process/exec.ts';
import {
  type CopiesOptions,
  type Copy,
  listCopies,
  readVisitor,
  removeCopy,
  requireUnused,
} from '../parts/worktree/copies.ts';
import { copyLine } from '../parts/worktree/copy-line.ts';
import { type GitContext, topFolder } from '../parts/worktree/git.ts';
import { systemClock } from './clock.ts';
import { type Environment, workingFolder } from './home.ts';
import { presenceOf, worktreeFolder } from './presence.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { chosenCommand, subcommandArguments, subcommandUsage } from './subcommand.ts';

const HELP = `Usage: crab worktree COMMAND

  list                    the worktrees that conversations made of this repository: path, branch, what would be lost with
                          each (clean: nothing), and whose conversation is in it or left it
  remove NAME|PATH...     with its branch; one with changes or commits of its own is refused without --force
  prune                   remove those that nobody is in and with which nothing would be lost

  --all                   list, prune: of every repository
  --dry-run               prune: only say which
  --force                 remove: also what would be lost
  --json                  list: JSON

  One that a conversation is in at this moment is never removed. They lie in $CRAB_HOME/worktrees.
`;

const FLAGS = {
  all: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

interface Call {
  readonly words: readonly string[];
  readonly flags: ReturnType<typeof flagsOf>['values'];
  readonly options: CopiesOptions;
  readonly context: GitContext;
  print(text: string): Promise<void>;
  warn(text: string): Promise<void>;
}

const COMMANDS: Readonly<Record<string, (call: Call) => Promise<number>>> = { list, remove, prune };

function flagsOf(argv: readonly string[]) {
  return subcommandArguments('worktree', argv, FLAGS);
}

export async function worktreeCommand(argv: readonly string[], env: Environment): Promise<number> {
  const asked = flagsOf(argv);
  const stdout = sinkOf(process.stdout, env);
  const stderr = sinkOf(process.stderr, env);
  const hint = 'Run `crab worktree --help`; for a prompt that begins so, use `crab -p`.';
  const chosen = await chosenCommand(
    { name: 'worktree', commands: COMMANDS, help: HELP, hint },
    asked,
    stdout,
  );
  if (typeof chosen === 'number') return chosen;
  const exec = createExec({ env, clock: systemClock });
  const options = { folder: worktreeFolder(env), files: createLocalFiles(), presence: presenceOf(env) };
  const stop = stopOnSignals(() => exec.killAll());
  try {
    return await chosen.run({
      words: chosen.words,
      flags: asked.values,
      options,
      context: { exec, signal: stop.signal },
      print: (text) => stdout.write(text),
      warn: (text) => stderr.write(`crab: ${visibleLine(text, 2000)}\n`),
    });
  } catch (error) {
    if (error instanceof ToolFailure) throw new CrabError('tool-failed', error.message, { cause: error });
    throw error;
  } finally {
    stop.release();
  }
}

async function list(call: Call): Promise<number> {
  if (call.words.length > 0) throw usage('The form is `crab worktree list`.');
  const copies = await found(call);
  if (call.flags.json === true) await call.print(`${JSON.stringify(copies.map(plain), null, 2)}\n`);
  else if (copies.length === 0) await call.print('There is no worktree here.\n');
  else for (const copy of copies) await call.print(`${visibleLine(copyLine(copy), 2000)}\n`);
  return EXIT.success;
}

/** All that are named are looked at before any is removed. */
async function remove(call: Call): Promise<number> {
  const { words, flags, options, context } = call;
  if (words.length === 0) throw usage('The form is `crab worktree remove NAME|PATH...`.');
  const here = await found(call);
  const chosen: Copy[] = [];
  for (const word of words) {
    const path = resolve(workingFolder(), word);
    const known = here.find((copy) => copy.name === word || copy.path === path);
    const copy = known ?? (await listCopies(options, context)).find((each) => each.path === path);
    if (copy === undefined)
      throw new CrabError('tool-failed', `There is no worktree ${word} of this repository.`, {
        hint: 'See `crab worktree list`, and `--all` for those of others, which are named by their paths.',
      });
    requireUnused(copy);
    requireExpendable(copy, flags.force === true);
    chosen.push(copy);
  }
  for (const copy of chosen) await taken(copy, call);
  return EXIT.success;
}

async function prune(call: Call): Promise<number> {
  if (call.words.length > 0) throw usage('The form is `crab worktree prune`.');
  let removed = 0;
  for (const copy of await found(call)) {
    const { condition, use, losses } = copy;
    if (use === 'used' || losses.length > 0 || condition === 'unknown') continue;
    removed++;
    if (call.flags['dry-run'] === true) await call.print(`Would remove ${visibleLine(copy.path, 2000)}\n`);
    else await taken(copy, call);
  }
  if (removed === 0) await call.print('There is nothing to remove.\n');
  return EXIT.success;
}

async function found({ flags, options, context }: Call): Promise<readonly Copy[]> {
  if (flags.all === true) return listCopies(options, context);
  const top = await repositoryHere(options, context);
  if (top !== undefined) return listCopies(options, context, top);
  throw usage(`${workingFolder()} is in no git repository.`, 'Add --all for those of every repository.');
}

/** Inside of a copy, that which it is of. */
async function repositoryHere(options: CopiesOptions, context: GitContext): Promise<string | undefined> {
  const top = await topFolder(context, workingFolder());
  if (top === undefined) return undefined;
  return (await readVisitor(options.files, top))?.top ?? top;
}

function requireExpendable({ path, condition, losses }: Copy, force: boolean): void {
  const lost = losses.join(' and ');
  if (condition === 'unknown')
    throw new CrabError('tool-failed', `${path} is kept: nobody can say what would be lost but ${lost}.`, {
      hint: 'Look into it, and remove the folder yourself.',
    });
  if (losses.length > 0 && !force)
    throw new CrabError('tool-failed', `${path} is kept: ${lost} would be lost.`, {
      hint: 'Add --force to lose them.',
    });
}

async function taken({ path, visitor, losses }: Copy, { options, context, print }: Call): Promise<void> {
  if (visitor === undefined) return;
  await removeCopy(path, visitor, { files: options.files, force: losses.length > 0 }, context);
  await print(`Removed ${visibleLine(path, 2000)} and its branch ${visitor.branch}\n`);
}

function plain({ name, path, condition, losses, use, visitor }: Copy): object {
  const { top, branch, session, agent, entered } = visitor ?? {};
  return { name, path, repository: top, branch, condition, losses, use, agent, session, entered };
}

const usage = (message: string, hint?: string) => subcommandUsage('worktree', message, hint);
