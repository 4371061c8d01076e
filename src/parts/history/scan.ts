// Looks over a workspace: what lies where, by size, times, inode and mode, without reading a file. It works in short
// slices, so that whoever types or listens meanwhile does not notice; a call per file to the thread pool would cost
// several times as much. Ignored folders are not looked into, while ignored files beside the sources count as others.

import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import { kindOf, PERMISSIONS } from './file-state.ts';

/** As a parser of ignore files returns them: `path` is relative to the folder that the rules are for. */
export type IgnoreRules = (path: string, isFolder: boolean) => 'ignore' | 'keep' | undefined;
export type ParseIgnoreRules = (text: string) => IgnoreRules | undefined;

export interface Glance {
  readonly kind: 'file' | 'link' | 'folder' | 'other';
  readonly size: number;
  /** Milliseconds with their fraction; of a change of anything, the mode and the name included. */
  readonly changed: number;
  readonly modified: number;
  readonly inode: number;
  readonly mode: number;
}

export type WhyUncovered = 'ignored' | 'version control' | 'unreadable' | 'too many files' | 'own files';

export interface Scan {
  /** By path relative to the root. */
  readonly found: Map<string, Glance>;
  /** Folders that were not looked into, relative to the root. */
  readonly skipped: Map<string, WhyUncovered>;
}

export interface ScanOptions {
  /** Absolute and resolved. */
  readonly root: string;
  readonly parseRules: ParseIgnoreRules;
  /** Absolute and resolved folders that are never looked into: Crab's own. */
  readonly own: readonly string[];
  readonly maxFiles: number;
  /**
   * The scan that this one is compared with: what that one did not look into, this one does not either, and what it
   * did, this one does too, whatever the ignore files say meanwhile.
   */
  readonly before?: Scan;
  readonly monotonic: () => number;
}

const VERSION_CONTROL = new Set(['.git', '.hg', '.svn', '.jj']);

/** Folders that programs fill by themselves, for workspaces that have no ignore file. */
const GENERATED = new Set([
  'node_modules',
  'bower_components',
  '__pycache__',
  '.venv',
  '.tox',
  '.mypy_cache',
  '.pytest_cache',
  '.gradle',
  '.next',
  '.nuxt',
  '.turbo',
  '.cache',
]);

const RULE_FILES = ['.gitignore', '.ignore'] as const;
const MAX_RULE_BYTES = 1024 * 1024;

/** The mark of a folder whose content can be made again (bford.info/cachedir). */
const CACHE_TAG = 'CACHEDIR.TAG';

/** Milliseconds of work between two pauses. */
const SLICE_MS = 8;

interface Level {
  readonly folder: string;
  readonly rules: readonly IgnoreRules[];
  readonly above: Level | undefined;
}

interface Waiting {
  readonly path: string;
  readonly level: Level | undefined;
}

/** Upper folders come first, so that a bound costs the deepest ones. */
export async function scan(options: ScanOptions, signal: AbortSignal): Promise<Scan> {
  const { root, monotonic, before } = options;
  const found = new Map<string, Glance>();
  const skipped = new Map<string, WhyUncovered>();
  const slices = createSlices(monotonic, signal);
  const whyNotFolder = (name: string, inside: string, level: Level | undefined) => {
    if (before?.found.has(inside) === true) return undefined;
    return before?.skipped.get(inside) ?? whyNot(name, inside, level, options);
  };
  let waiting: Waiting[] = [{ path: '', level: levelAbove(root, options.parseRules) }];
  while (waiting.length > 0) {
    const next: Waiting[] = [];
    for (const { path, level } of waiting) {
      const entries = list(join(root, path));
      const whyWhole =
        entries === undefined ? 'unreadable' : whyNotInside(path, entries, found.size, options);
      if (entries === undefined || whyWhole !== undefined) {
        skipped.set(path, whyWhole ?? 'unreadable');
        continue;
      }
      const here = levelOf(root, path, entries, level, options.parseRules);
      for (const entry of entries) {
        const inside = path === '' ? entry.name : `${path}/${entry.name}`;
        const why = entry.isDirectory()
          ? whyNotFolder(entry.name, inside, here)
          : VERSION_CONTROL.has(entry.name)
            ? 'version control'
            : undefined;
        if (why !== undefined) {
          skipped.set(inside, why);
          continue;
        }
        const glance = glanceAt(join(root, inside));
        if (glance !== undefined) found.set(inside, glance);
        if (glance?.kind === 'folder') next.push({ path: inside, level: here });
        if (slices.isOver()) await slices.pause();
      }
    }
    waiting = next;
  }
  return { found, skipped };
}

export function glanceAt(path: string): Glance | undefined {
  let info: Stats | undefined;
  try {
    info = lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
  if (info === undefined) return undefined;
  return {
    kind: kindOf(info),
    size: info.size,
    changed: info.ctimeMs,
    modified: info.mtimeMs,
    inode: info.ino,
    mode: info.mode & PERMISSIONS,
  };
}

/** Work that lets others have their turn every few milliseconds, and ends when nobody wants it any more. */
export function createSlices(monotonic: () => number, signal: AbortSignal) {
  let since = monotonic();
  let count = 0;
  return {
    /** Cheap enough to ask for every file. */
    isOver: () => ++count % 32 === 0 && monotonic() - since > SLICE_MS,
    pause: async () => {
      await new Promise<void>((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      since = monotonic();
    },
  };
}

function list(folder: string): readonly Dirent[] | undefined {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return undefined;
  }
}

function whyNotInside(
  path: string,
  entries: readonly Dirent[],
  found: number,
  { maxFiles, before }: ScanOptions,
): WhyUncovered | undefined {
  // What was looked at before must be again, or else its files would seem to be gone.
  if (before?.found.has(path) === true || (before !== undefined && path === '')) return undefined;
  if (found + entries.length > maxFiles) return 'too many files';
  return path !== '' && entries.some(({ name }) => name === CACHE_TAG) ? 'ignored' : undefined;
}

function whyNot(
  name: string,
  inside: string,
  level: Level | undefined,
  { root, own }: ScanOptions,
): WhyUncovered | undefined {
  if (VERSION_CONTROL.has(name)) return 'version control';
  if (GENERATED.has(name)) return 'ignored';
  const path = join(root, inside);
  if (own.includes(path)) return 'own files';
  for (let at = level; at !== undefined; at = at.above) {
    const below = path.slice(at.folder.length + (at.folder === '/' ? 0 : 1));
    for (const rules of at.rules) {
      const verdict = rules(below, true);
      if (verdict !== undefined) return verdict === 'ignore' ? 'ignored' : undefined;
    }
  }
  return undefined;
}

function levelOf(
  root: string,
  path: string,
  entries: readonly Dirent[],
  above: Level | undefined,
  parse: ParseIgnoreRules,
): Level | undefined {
  const folder = join(root, path);
  const names = RULE_FILES.filter((name) => entries.some((entry) => entry.name === name && entry.isFile()));
  const rules = names.flatMap((name) => readRules(join(folder, name), parse));
  return rules.length === 0 ? above : { folder, rules, above };
}

/** The rules of the folders above count up to where the repository begins; without one there are none. */
function levelAbove(root: string, parse: ParseIgnoreRules): Level | undefined {
  if (existsSync(join(root, '.git'))) return undefined;
  const folders: string[] = [];
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (existsSync(join(folder, '.git'))) break;
    if (folder === dirname(folder)) return undefined;
  }
  let level: Level | undefined;
  for (const folder of folders) {
    const rules = RULE_FILES.flatMap((name) => readRules(join(folder, name), parse));
    if (rules.length > 0) level = { folder, rules, above: level };
  }
  return level;
}

function readRules(path: string, parse: ParseIgnoreRules): readonly IgnoreRules[] {
  try {
    if (lstatSync(path).size > MAX_RULE_BYTES) return [];
    const rules = parse(readFileSync(path, 'utf8'));
    return rules === undefined ? [] : [rules];
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return [];
  }
}
