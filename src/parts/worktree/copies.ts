// The copies of repositories in Crab's home: which there are, what would be lost with each, and who is in it. Beside each
// lies a record of the conversation that entered it last. Of a copy itself only the content is believed: its `.git` file
// is within reach of commands, and git would run the filters of whatever repository that names.

import { basename, dirname, join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type GitContext, git } from './git.ts';

/** The process that a conversation is in, in words of the host's own. */
export type Residence = string;

/** What of other conversations can be known on this machine. */
export interface Presence {
  here(): Promise<Residence>;
  lives(residence: Residence): Promise<boolean>;
  /** `closed`: nobody has the session open. `gone`: it was deleted, or never kept. */
  session(id: string): Promise<'open' | 'closed' | 'gone'>;
}

export interface CopiesOptions {
  /** Absolute; the copies lie two levels below it. */
  readonly folder: string;
  /** Crab's own. */
  readonly files: Files;
  readonly presence: Presence;
}

/** The conversation that entered a copy last. */
export interface Visitor {
  readonly session: string;
  readonly agent: string;
  /** The repository's own folder. */
  readonly top: string;
  readonly branch: string;
  /** ISO 8601. */
  readonly entered: string;
  /** Absent once it has left. */
  readonly residence?: Residence;
}

/** `missing`: its folder is gone. `unknown`: nothing can be said of it without believing what lies in it. */
export type Condition = 'clean' | 'changed' | 'missing' | 'unknown';

export interface Copy {
  readonly name: string;
  readonly path: string;
  readonly condition: Condition;
  /** What exists nowhere but in the copy, a phrase each. */
  readonly losses: readonly string[];
  readonly visitor?: Visitor;
  /** `used`: the visitor is in it at this moment. The others tell what became of it. */
  readonly use: 'used' | 'open' | 'closed' | 'gone';
}

/** Copies that are looked at beside each other. */
const AT_ONCE = 4;

/** Where the copies of one repository lie. */
export function copiesOf(folder: string, top: string): string {
  return join(folder, `${basename(top)}-${shortHash(top)}`);
}

/** By path. `top`: of this repository alone. */
export async function listCopies(
  options: CopiesOptions,
  context: GitContext,
  top?: string,
): Promise<readonly Copy[]> {
  const { folder, files } = options;
  const parents =
    top === undefined
      ? (await namesIn(files, folder, 'directory')).map((name) => join(folder, name))
      : [copiesOf(folder, top)];
  const paths: string[] = [];
  for (const parent of parents) {
    const folders = await namesIn(files, parent, 'directory');
    const records = (await namesIn(files, parent, 'file')).flatMap(
      (name) => /^(.+)\.json$/.exec(name)?.[1] ?? [],
    );
    for (const name of new Set([...folders, ...records])) paths.push(join(parent, name));
  }
  const found: Copy[] = [];
  const sorted = paths.sort();
  for (let at = 0; at < sorted.length; at += AT_ONCE)
    found.push(
      ...(await Promise.all(sorted.slice(at, at + AT_ONCE).map((path) => lookAt(path, options, context)))),
    );
  return found;
}

async function namesIn(files: Files, folder: string, kind: 'directory' | 'file'): Promise<readonly string[]> {
  if ((await files.info(folder)) === undefined) return [];
  return (await files.list(folder)).filter((entry) => entry.kind === kind).map(({ name }) => name);
}

export async function lookAt(path: string, options: CopiesOptions, context: GitContext): Promise<Copy> {
  const { files, presence } = options;
  const visitor = await readVisitor(files, path);
  const isThere = (await files.info(path, { follow: false })) !== undefined;
  return {
    name: basename(path),
    path,
    ...(await conditionOf(path, isThere, visitor, options, context)),
    ...(visitor !== undefined && { visitor }),
    use: visitor === undefined ? 'gone' : await useOf(visitor, presence),
  };
}

async function conditionOf(
  path: string,
  isThere: boolean,
  visitor: Visitor | undefined,
  options: CopiesOptions,
  context: GitContext,
): Promise<Pick<Copy, 'condition' | 'losses'>> {
  const unknown = (why: string) => ({ condition: 'unknown', losses: [`what is in it (${why})`] }) as const;
  if (visitor === undefined) return unknown('no conversation has left a word about it');
  const { top, branch } = visitor;
  if ((await options.files.info(join(top, '.git'))) === undefined)
    return unknown(`its repository ${top} is gone`);
  const losses = isThere
    ? await lossesOf(path, visitor, options, context)
    : await commitsLost({ top, branch, tip: `refs/heads/${branch}` }, context);
  if (losses === undefined)
    return unknown(
      `git does not know it as a worktree of ${top}, or it has settings that commands can write`,
    );
  if (!isThere) return { condition: 'missing', losses };
  return { condition: losses.length === 0 ? 'clean' : 'changed', losses };
}

async function useOf(visitor: Visitor, presence: Presence): Promise<Copy['use']> {
  const { session, residence } = visitor;
  const lives = residence !== undefined && (await presence.lives(residence));
  const state = await presence.session(session);
  // A session that is not kept is nowhere to be found while its process lives.
  if (lives && state !== 'closed') return 'used';
  return state;
}

/** What exists nowhere but in this copy; undefined where git does not know it. */
async function lossesOf(
  path: string,
  { top, branch }: Pick<Visitor, 'top' | 'branch'>,
  options: CopiesOptions,
  context: GitContext,
): Promise<readonly string[] | undefined> {
  const admin = await adminFolder(path, top, options, context);
  if (admin === undefined) return undefined;
  const of = [`--git-dir=${admin}`, `--work-tree=${path}`];
  const status = await git(context, path, [
    ...of,
    ...['status', '--porcelain', '--untracked-files=all', '--ignore-submodules=dirty'],
  ]);
  const changed = status === '' ? [] : status.split('\n');
  const named = changed.slice(0, 5).map((line) => line.slice(3));
  const more = changed.length > named.length ? ', …' : '';
  const tip = await git(context, path, [...of, 'rev-parse', 'HEAD']);
  return [
    ...(changed.length > 0 ? [`${changed.length} changed files (${named.join(', ')}${more})`] : []),
    ...(await commitsLost({ top, branch, tip }, context)),
  ];
}

/** Commits up to `tip` that neither the repository's own HEAD nor another branch or tag has. */
async function commitsLost(
  { top, branch, tip }: { readonly top: string; readonly branch: string; readonly tip: string },
  context: GitContext,
): Promise<readonly string[]> {
  const isBranch = tip.startsWith('refs/');
  if (isBranch && (await git(context, top, ['for-each-ref', tip])) === '') return [];
  const others = ['--not', 'HEAD', `--exclude=${branch}`, '--branches', '--remotes', '--tags'];
  const commits = Number(await git(context, top, ['rev-list', '--count', tip, ...others]));
  return commits > 0 ? [`${commits} commits of the branch ${branch}`] : [];
}

/**
 * The folder of git's that a repository keeps everything in, where nothing confined can have written its settings: git obeys
 * them outside of the sandbox, and starts the filters that they name. A `.git` that is a folder is guarded where commands may
 * write it. One that is a file or a link leads anywhere: to be believed it must lead out of what they write and is guarded
 * by its name all the same. Undefined for any other.
 */
export async function guardedFolder(
  top: string,
  { folder, files }: Pick<CopiesOptions, 'folder' | 'files'>,
  context: GitContext,
): Promise<string | undefined> {
  const own = join(top, '.git');
  if ((await files.info(own, { follow: false }))?.kind === 'directory') return own;
  const said = await git(context, top, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  const common = await files.resolve(said);
  const scratch = context.scratch === undefined ? [] : [await files.resolve(await context.scratch())];
  const isWritten = [top, folder, ...scratch].some((root) => common.startsWith(`${root}/`));
  const isGuarded = basename(common) === '.git' && !/\/(?:node_modules|\.hg|\.svn)\//.test(common);
  return isGuarded && !isWritten ? common : undefined;
}

/**
 * Where the repository keeps what it knows of this copy (gitrepository-layout(5)), by the repository's own word. One with
 * settings of its own is left alone: they are within reach of commands, too.
 */
async function adminFolder(
  path: string,
  top: string,
  options: CopiesOptions,
  context: GitContext,
): Promise<string | undefined> {
  const common = await guardedFolder(top, options, context);
  if (common === undefined) return undefined;
  const { files } = options;
  const real = await files.resolve(path);
  for (const name of await namesIn(files, join(common, 'worktrees'), 'directory')) {
    const admin = join(common, 'worktrees', name);
    const gitdir = await textOf(files, join(admin, 'gitdir'));
    if (gitdir === undefined || dirname(gitdir.trim()) !== real) continue;
    return (await files.info(join(admin, 'config.worktree'))) === undefined ? admin : undefined;
  }
  return undefined;
}

/** Takes a copy away with its branch. Whether something would be lost is the caller's to ask; `force`: it was. */
export async function removeCopy(
  path: string,
  { top, branch }: Pick<Visitor, 'top' | 'branch'>,
  { files, force }: { readonly files: Files; readonly force: boolean },
  context: GitContext,
): Promise<void> {
  const isThere = (await files.info(path, { follow: false })) !== undefined;
  // Without force git looks once more, for what came meanwhile.
  if (isThere) await git(context, top, ['worktree', 'remove', ...(force ? ['--force'] : []), path]);
  else await git(context, top, ['worktree', 'prune']);
  if ((await git(context, top, ['branch', '--list', branch])) !== '')
    await git(context, top, ['branch', '-D', branch]);
  const record = recordOf(path);
  if ((await files.info(record)) !== undefined) await files.remove(record);
}

export async function writeVisitor(files: Files, path: string, visitor: Visitor): Promise<void> {
  await files.write(recordOf(path), new TextEncoder().encode(`${JSON.stringify(visitor)}\n`));
}

export async function readVisitor(files: Files, path: string): Promise<Visitor | undefined> {
  const text = await textOf(files, recordOf(path));
  if (text === undefined) return undefined;
  let value: JsonObject;
  try {
    value = Object(JSON.parse(text)) as JsonObject;
  } catch {
    return undefined;
  }
  const { session, agent, top, branch, entered, residence } = value;
  if (![session, agent, top, branch, entered].every((each) => typeof each === 'string')) return undefined;
  return {
    session: String(session),
    agent: String(agent),
    top: String(top),
    branch: String(branch),
    entered: String(entered),
    ...(typeof residence === 'string' && { residence }),
  };
}

function recordOf(path: string): string {
  return `${path}.json`;
}

async function textOf(files: Files, path: string): Promise<string | undefined> {
  const info = await files.info(path);
  return info?.kind === 'file' ? new TextDecoder().decode(await files.read(path)) : undefined;
}

/** Throws `ToolFailure` where a live conversation is in it. */
export function requireUnused({ path, use, visitor }: Copy, except?: string): void {
  if (use === 'used' && visitor?.session !== except)
    throw new ToolFailure(`The worktree ${path} is kept: the conversation ${visitor?.session} is in it.`);
}

/** FNV-1a with 32 bits (isthe.com/chongo/tech/comp/fnv): tells repositories of the same name apart. */
function shortHash(text: string): string {
  let value = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value.toString(16).padStart(8, '0');
}
