// What the tools for worktrees do. The copies lie in one folder of Crab's home. What would be lost with a copy is told, and
// thrown away only when a person says so: the model's own word is not enough.

import { join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import {
  type CopiesOptions,
  copiesOf,
  guardedFolder,
  listCopies,
  lookAt,
  readVisitor,
  removeCopy,
  requireUnused,
  writeVisitor,
} from './copies.ts';
import { copyLine } from './copy-line.ts';
import { currentCommit, git, topFolder } from './git.ts';

/** Where the state keeps the copy that the conversation is in. */
const STATE = 'worktree';

interface Worktree {
  readonly path: string;
  readonly branch: string;
  /** The repository's own folder. */
  readonly top: string;
}

export async function enterWorktree(
  options: CopiesOptions,
  input: JsonObject,
  context: ToolContext,
): Promise<ToolOutput> {
  const { folder, files, presence } = options;
  const name = nameIn(input);
  const { identity, state, control, clock } = context;
  const inside = currentIn(state.get(STATE), folder);
  if (inside !== undefined && inside.path === identity.cwd)
    throw new ToolFailure(
      `The conversation is in the worktree ${inside.path}: leave it with exit_worktree first.`,
    );
  const top = await topFolder(context, identity.cwd);
  if (top === undefined) throw new ToolFailure(`${identity.cwd} is in no git repository.`);
  if ((await guardedFolder(top, options, context)) === undefined)
    throw new ToolFailure(
      `No worktree of ${top} is made: its .git leads to a folder whose settings commands may have written.`,
    );
  const path = join(copiesOf(folder, top), name);
  const branch = `worktree-${name}`;
  if ((await files.info(path)) === undefined) {
    const base = await currentCommit(context, top);
    if (base === undefined)
      throw new ToolFailure(`${top} has no commit yet, so that there is nothing to begin a worktree from.`);
    const known = await git(context, top, ['branch', '--list', branch]);
    const which = known === '' ? ['-b', branch, path, base] : [path, branch];
    await git(context, top, ['worktree', 'add', ...which]);
  } else {
    await requireWorktree(path, top, options, context);
    requireUnused(await lookAt(path, options, context), identity.session);
  }
  const worktree: Worktree = { path, branch, top };
  const { session, agent } = identity;
  const entered = new Date(clock.now()).toISOString();
  await writeVisitor(files, path, { session, agent, top, branch, entered, residence: await presence.here() });
  await control.setFolder(path);
  state.set(STATE, worktree);
  return textOutput(
    `The working directory is ${path}, on the branch ${branch}. The user's own files in ${top} stay as they are. ` +
      'What git does not track is not in the copy.',
  );
}

async function requireWorktree(
  path: string,
  top: string,
  { files }: CopiesOptions,
  context: ToolContext,
): Promise<void> {
  const list = await git(context, top, ['worktree', 'list', '--porcelain']);
  const real = await files.resolve(path);
  if (!list.split('\n').includes(`worktree ${real}`))
    throw new ToolFailure(`${path} is there and is no worktree of ${top}: choose another name.`);
}

export async function exitWorktree(
  options: CopiesOptions,
  removes: boolean,
  context: ToolContext,
): Promise<ToolOutput> {
  const { state, control } = context;
  const worktree = currentIn(state.get(STATE), options.folder);
  if (worktree === undefined) throw new ToolFailure('The conversation is in no worktree.');
  const { path, branch, top } = worktree;
  if (removes) await removeAsked(worktree, options, context);
  else await leave(path, options, context);
  await control.setFolder(undefined);
  state.set(STATE, null);
  const what = removes ? 'removed' : 'kept';
  return textOutput(`Back in ${top}. The worktree ${path} and its branch ${branch} are ${what}.`);
}

/** What the record says of another conversation stays. */
async function leave(path: string, { files }: CopiesOptions, { identity }: ToolContext): Promise<void> {
  const visitor = await readVisitor(files, path);
  if (visitor?.session !== identity.session) return;
  const { residence, ...left } = visitor;
  await writeVisitor(files, path, left);
}

/** Those of the repository that the conversation works on. */
export async function listWorktrees(options: CopiesOptions, context: ToolContext): Promise<ToolOutput> {
  const top = await repositoryOf(options, context);
  const copies = await listCopies(options, context, top);
  if (copies.length === 0) return textOutput(`There is no worktree of ${top}.`);
  return textOutput(copies.map(copyLine).join('\n'));
}

export async function removeWorktree(
  options: CopiesOptions,
  input: JsonObject,
  context: ToolContext,
): Promise<ToolOutput> {
  const name = nameIn(input);
  const top = await repositoryOf(options, context);
  const path = join(copiesOf(options.folder, top), name);
  if (path === context.identity.cwd)
    throw new ToolFailure(`The conversation is in the worktree ${path}: leave it with exit_worktree.`);
  const copy = await lookAt(path, options, context);
  if (copy.visitor === undefined) throw new ToolFailure(`There is no worktree ${name} of ${top}.`);
  await removeAsked({ path, top, branch: copy.visitor.branch }, options, context);
  return textOutput(`The worktree ${path} and its branch ${copy.visitor.branch} are removed.`);
}

async function repositoryOf({ folder }: CopiesOptions, context: ToolContext): Promise<string> {
  const { identity, state } = context;
  const inside = currentIn(state.get(STATE), folder);
  if (inside?.path === identity.cwd) return inside.top;
  const top = await topFolder(context, identity.cwd);
  if (top === undefined) throw new ToolFailure(`${identity.cwd} is in no git repository.`);
  return top;
}

/** The person is asked where something would be lost. */
async function removeAsked(
  { path, branch, top }: Worktree,
  options: CopiesOptions,
  context: ToolContext,
): Promise<void> {
  const { files } = options;
  const copy = await lookAt(path, options, context);
  requireUnused(copy, context.identity.session);
  // Without a record, or with another's, the state says what it is of.
  if (copy.condition !== 'missing') await requireWorktree(path, top, options, context);
  if (copy.losses.length > 0) await requireYes(path, copy.losses, context);
  // By now nothing of it is missed: the commits are elsewhere, or a person agreed.
  await removeCopy(path, { top, branch }, { files, force: copy.losses.length > 0 }, context);
}

const DISCARD = 'Discard them';

async function requireYes(path: string, lost: readonly string[], context: ToolContext): Promise<void> {
  const what = lost.join(' and ');
  const text = `Remove the worktree ${path}? These would be lost: ${what}.`;
  const options = [{ label: 'Keep the worktree' }, { label: DISCARD }];
  const question = { kind: 'choice', questions: [{ header: 'Worktree', text, options }] } as const;
  const answer = await context.ask(question).catch(() => {
    context.signal.throwIfAborted();
    return undefined;
  });
  if (answer?.kind === 'choice' && answer.answers[0] === DISCARD) return;
  const who = answer === undefined ? 'nobody is here to agree' : 'the user did not agree';
  throw new ToolFailure(`The worktree ${path} is kept: ${what} would be lost, and ${who}.`);
}

/** From the tape, which somebody may have changed: nothing outside the folder of copies is a copy. */
function currentIn(value: unknown, folder: string): Worktree | undefined {
  const { path, branch, top } = Object(value) as JsonObject;
  const isText = [path, branch, top].every((each) => typeof each === 'string');
  if (!isText || !String(path).startsWith(`${folder}/`) || String(path).includes('..')) return undefined;
  if (!/^worktree-[A-Za-z0-9_-]{1,64}$/.test(String(branch))) return undefined;
  return { path: String(path), branch: String(branch), top: String(top) };
}

function nameIn({ name }: JsonObject): string {
  const given = String(name).trim();
  if (/^[A-Za-z0-9_][A-Za-z0-9_-]{0,63}$/.test(given)) return given;
  throw new ToolFailure(
    `${JSON.stringify(given)} is no name for a worktree: 1 to 64 letters, digits, - and _.`,
  );
}
