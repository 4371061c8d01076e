// All regular files below a folder that no ignore file leaves out: .gitignore with or without a repository, .ignore,
// .rgignore and .git/info/exclude, those of the folders above included, with ripgrep's precedence. Hidden files
// belong to it, the folders of version control do not, links are not followed. The order is that of the names' bytes.

import { dirname, isAbsolute, join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { DirectoryEntry, Files } from '../../core/host.ts';
import { type IgnoreRules, type IgnoreVerdict, parseIgnoreRules } from './ignore-rules.ts';

/** Never looked into. */
export const VERSION_CONTROL = ['.git', '.hg', '.svn', '.jj'] as const;

/** Bytes of an ignore file that are read. */
const MAX_RULE_BYTES = 1024 * 1024;

export const RULE_FILES = ['.rgignore', '.ignore', '.gitignore'] as const;

/** The kinds of rules in the order of their rank. */
type RuleKind = (typeof RULE_FILES)[number] | 'exclude';

/** The rules of one folder. Folders without any have no level. */
export interface Level {
  readonly folder: string;
  readonly above: Level | undefined;
  readonly rules: Readonly<Partial<Record<RuleKind, IgnoreRules>>>;
  /** A repository begins here: git's rules from above end. */
  readonly repository: boolean;
}

export interface Walk {
  readonly files: Files;
  /** Absolute and resolved. */
  readonly root: string;
  readonly signal: AbortSignal;
  /** Gets paths relative to the root; false ends the walk. */
  visit(path: string): boolean | Promise<boolean>;
}

/** Milliseconds after which others get a turn: judging names by thousands of rules takes its time. */
const TURN_MS = 25;

interface Walking extends Walk {
  turnEnds: number;
}

export async function walkFiles(walk: Walk): Promise<void> {
  const walking = { ...walk, turnEnds: performance.now() + TURN_MS };
  await walkFolder(walking, '', await levelAbove(walk.files, walk.root));
}

/** The rules of the folders above one. */
export async function levelAbove(files: Files, folder: string): Promise<Level | undefined> {
  const parent = dirname(folder);
  if (parent === folder) return undefined;
  const above = await levelAbove(files, parent);
  const names = [...RULE_FILES, '.git'];
  const infos = await Promise.all(names.map((name) => files.info(join(parent, name)).catch(() => undefined)));
  const entries = names.flatMap((name, at) => {
    const info = infos[at];
    return info === undefined ? [] : [{ name, kind: info.kind }];
  });
  return levelOf(files, parent, entries, above);
}

async function walkFolder(walk: Walking, inside: string, above: Level | undefined): Promise<boolean> {
  walk.signal.throwIfAborted();
  const folder = join(walk.root, inside);
  const entries = await listFolder(walk.files, folder, inside === '');
  const level = await levelOf(walk.files, folder, entries, above);
  for (const entry of [...entries].sort(byName)) {
    if (entry.kind !== 'file' && entry.kind !== 'directory') continue;
    if (VERSION_CONTROL.some((name) => name === entry.name)) continue;
    if (performance.now() > walk.turnEnds) await turn(walk);
    const isFolder = entry.kind === 'directory';
    const path = inside === '' ? entry.name : `${inside}/${entry.name}`;
    if (isIgnored(level, join(walk.root, path), isFolder)) continue;
    const goOn = isFolder ? await walkFolder(walk, path, level) : await walk.visit(path);
    if (!goOn) return false;
  }
  return true;
}

async function turn(walk: Walking): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
  walk.signal.throwIfAborted();
  walk.turnEnds = performance.now() + TURN_MS;
}

/** What cannot be listed below the root is passed over; the root itself must be there. */
async function listFolder(files: Files, folder: string, isRoot: boolean): Promise<readonly DirectoryEntry[]> {
  try {
    return await files.list(folder);
  } catch (error) {
    if (isRoot || !(error instanceof ToolFailure)) throw error;
    return [];
  }
}

function byName(left: DirectoryEntry, right: DirectoryEntry): number {
  return comparePaths(left.name, right.name);
}

/** The order of the UTF-8 bytes, folder by folder. */
export function comparePaths(left: string, right: string): number {
  const [a, b] = [left.split('/'), right.split('/')];
  for (let at = 0; at < a.length && at < b.length; at++) {
    const order = compareNames(a[at] ?? '', b[at] ?? '');
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareNames(left: string, right: string): number {
  if (left === right) return 0;
  // The order of UTF-16 differs from that of UTF-8 only behind the surrogates.
  if (!/[\ud800-\uffff]/.test(left + right)) return left < right ? -1 : 1;
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The rules of a folder with these entries, those above it included. */
export async function levelOf(
  files: Files,
  folder: string,
  entries: readonly DirectoryEntry[],
  above: Level | undefined,
): Promise<Level | undefined> {
  const rules: Partial<Record<RuleKind, IgnoreRules>> = {};
  let repository = false;
  for (const { name, kind } of entries) {
    if (name === '.git') {
      repository = true;
      const exclude = await readRules(files, await excludeFile(files, folder, kind));
      if (exclude !== undefined) rules.exclude = exclude;
    }
    const ruleFile = RULE_FILES.find((each) => each === name);
    if (ruleFile === undefined || kind === 'directory') continue;
    const parsed = await readRules(files, join(folder, name));
    if (parsed !== undefined) rules[ruleFile] = parsed;
  }
  if (!repository && Object.keys(rules).length === 0) return above;
  return { folder, above, rules, repository };
}

async function readRules(files: Files, path: string): Promise<IgnoreRules | undefined> {
  const text = await readText(files, path);
  return text === undefined ? undefined : parseIgnoreRules(text);
}

async function readText(files: Files, path: string): Promise<string | undefined> {
  try {
    if ((await files.info(path)) === undefined) return undefined;
    return Buffer.from(await files.read(path, { offset: 0, length: MAX_RULE_BYTES })).toString('utf8');
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
}

/** In a linked worktree `.git` is a file that leads to the repository (git-scm.com/docs/gitrepository-layout). */
async function excludeFile(files: Files, folder: string, kind: DirectoryEntry['kind']): Promise<string> {
  const git = join(folder, '.git');
  if (kind !== 'file') return join(git, 'info', 'exclude');
  const pointer = /^gitdir: (.+)/.exec((await readText(files, git)) ?? '')?.[1]?.trim();
  if (pointer === undefined) return join(git, 'info', 'exclude');
  const own = isAbsolute(pointer) ? pointer : join(folder, pointer);
  const common = ((await readText(files, join(own, 'commondir'))) ?? '.').split('\n')[0]?.trim() ?? '.';
  return join(isAbsolute(common) ? common : join(own, common), 'info', 'exclude');
}

/** `path` is absolute and lies in the folder of the level, or below it. */
export function isIgnored(level: Level | undefined, path: string, isFolder: boolean): boolean {
  return level !== undefined && judge(level, path, isFolder) === 'ignore';
}

/** Of each kind of file the nearest that says something counts; then the kinds in their order. */
function judge(nearest: Level, path: string, isFolder: boolean): IgnoreVerdict {
  const verdicts: Partial<Record<RuleKind, IgnoreVerdict>> = {};
  let inRepository = true;
  for (let level: Level | undefined = nearest; level !== undefined; level = level.above) {
    const inside = level.folder === '/' ? path.slice(1) : path.slice(level.folder.length + 1);
    verdicts['.rgignore'] ??= level.rules['.rgignore']?.(inside, isFolder);
    verdicts['.ignore'] ??= level.rules['.ignore']?.(inside, isFolder);
    if (inRepository) {
      verdicts['.gitignore'] ??= level.rules['.gitignore']?.(inside, isFolder);
      verdicts.exclude ??= level.rules.exclude?.(inside, isFolder);
    }
    if (level.repository) inRepository = false;
  }
  return verdicts['.rgignore'] ?? verdicts['.ignore'] ?? verdicts['.gitignore'] ?? verdicts.exclude;
}
