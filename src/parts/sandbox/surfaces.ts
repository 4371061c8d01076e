// Looks after what is protected in the writable folders, whatever confines the programs. A mount can only cover what is
// there already, and a name that appears while a program runs cannot be refused without one: so what was planted is moved
// away before anybody is told of the result, and what was changed is put back. Folders that did not change are not read
// again: most commands cost one `lstat` a folder.

import {
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import {
  gitFolderNamedIn,
  isGitFolder,
  isGitStore,
  isHarmlessCommonFolder,
  isHarmlessGitConfig,
  isHarmlessMercurialConfig,
  isHarmlessRebase,
  isLookedThrough,
  isProtectedFile,
  isProtectedFolder,
  isRepository,
  namedInGitConfig,
} from './protected.ts';

/**
 * Folders of one root that are looked at when it is met; a larger tree is covered in part, and that is told. What is made
 * later is always looked at: or a program would only have to make more.
 */
const MAX_FOLDERS = 20_000;
/** Bytes of a file that is kept to be put back. */
const MAX_KEPT_BYTES = 1024 * 1024;

export interface SurfacesOptions {
  /** Absolute, with links resolved. */
  readonly roots: readonly string[];
  /** A folder of ours on this machine for what was moved away. */
  readonly quarantine: () => Promise<string>;
  /** The person's home folder: where it is writable, what begins with a dot there is protected. */
  readonly home?: string;
  readonly maxFolders?: number;
}

interface Folder {
  readonly mark: string;
  readonly isGit: boolean;
  readonly folders: readonly string[];
  readonly guarded: readonly string[];
}

interface Entry {
  readonly root: string;
  readonly mark: string;
  /** The inode of the folder around it. */
  readonly folder: number;
  readonly link?: string;
  /** Undefined where it was too large, or could not be read. */
  readonly content?: Uint8Array;
  readonly mode: number;
  /** It has another name, under which a mount does not cover it. */
  readonly isShared: boolean;
}

export interface Snapshot {
  readonly roots: readonly string[];
  readonly entries: ReadonlyMap<string, Entry>;
  /** Those that were looked through. */
  readonly folders: ReadonlySet<string>;
}

export interface Planted {
  readonly path: string;
  /** `astray`: unchanged itself, and something else lies where it leads. */
  readonly what: 'new' | 'changed' | 'gone' | 'astray';
  /** Where it lies, or undefined where it could not be moved. */
  readonly movedTo?: string;
}

export class Surfaces {
  readonly #options: SurfacesOptions;
  readonly #folders = new Map<string, Folder>();
  readonly #contents = new Map<string, Entry>();
  /** By root, the folders that were too many when it was met. */
  readonly #passedOver = new Map<string, ReadonlySet<string>>();
  #moved = 0;

  constructor(options: SurfacesOptions) {
    this.#options = options;
  }

  /** Everything protected that is there. */
  snapshot(): Snapshot {
    const entries = new Map<string, Entry>();
    const folders = new Set<string>();
    const { roots } = this.#options;
    for (const root of roots) this.#walk(root, entries, folders);
    return { roots, entries, folders };
  }

  /** Files and folders to be covered by mounts: the whole folder where all of it is protected. */
  covers({ entries }: Snapshot): readonly string[] {
    const covered = new Set<string>();
    for (const [path, entry] of entries)
      if (canBeCovered(path, entry)) covered.add(outermost(path, entry.root) ?? path);
    return [...covered];
  }

  /** Undoes what differs from `before`. `isCovered`: what was there could not be changed from inside. */
  async verify(
    before: Snapshot,
    { isCovered }: { readonly isCovered: boolean },
  ): Promise<readonly Planted[]> {
    const after = this.snapshot();
    const planted: Planted[] = [];
    for (const [path, entry] of after.entries) {
      const old = before.entries.get(path);
      if (old === undefined) {
        if (!isHarmless(path, entry, after)) planted.push(await this.#remove(path, entry.root, 'new'));
      } else if (isSame(old, entry)) {
        if (leadsAstray(path, entry, before, after))
          planted.push(await this.#remove(path, entry.root, 'astray'));
      } else if (!(isCovered && isOwnChange(path, old, entry))) {
        if (isJudged(path) && isHarmless(path, entry, after, old)) continue;
        const removed = await this.#remove(path, entry.root, 'changed');
        this.#restore(path, old);
        planted.push(removed);
      }
    }
    for (const [path, old] of before.entries) {
      if (after.entries.has(path) || (isJudged(path) && !canBeCovered(path, old))) continue;
      this.#restore(path, old);
      planted.push({ path, what: 'gone' });
    }
    return planted;
  }

  #walk(root: string, entries: Map<string, Entry>, folders: Set<string>): void {
    const { maxFolders = MAX_FOLDERS } = this.#options;
    const passedOver = this.#passedOver.get(root);
    const tooMany = new Set<string>();
    const hooks = new Set<string>();
    const queue = [{ path: root, isGuarded: false }];
    // It grows while it is gone through.
    for (const [at, { path, isGuarded }] of queue.entries()) {
      if (passedOver?.has(path) === true) continue;
      if (passedOver === undefined && at >= maxFolders) {
        tooMany.add(path);
        continue;
      }
      folders.add(path);
      const folder = this.#folder(path, root, isGuarded || hooks.has(path));
      for (const name of folder.guarded) this.#note(join(path, name), root, entries);
      const config = folder.isGit ? entries.get(join(path, 'config'))?.content : undefined;
      if (config !== undefined) {
        const named = namedInGitConfig(new TextDecoder().decode(config));
        // Git runs hooks at the top of the working tree.
        const top = basename(path) === '.git' ? dirname(path) : path;
        for (const way of named.hooks) {
          const at = resolve(top, way);
          this.#noteWay(at, root, entries);
          if (at !== top) for (const each of [at, realPath(at)]) if (each !== root) hooks.add(each);
        }
        for (const way of named.configs) this.#noteWay(resolve(path, way), root, entries);
      }
      for (const name of folder.folders) {
        const isHooks = folder.isGit && isProtectedFolder(name, '.git');
        const next = { path: join(path, name), isGuarded: isGuarded || isHooks || hooks.has(path) };
        // What git obeys comes before what is merely many.
        if (folder.isGit || name === '.git') queue.splice(at + 1, 0, next);
        else queue.push(next);
      }
    }
    if (passedOver === undefined) this.#passedOver.set(root, tooMany);
  }

  /** `isGuarded`: everything in it is protected, because of what lies around it. */
  #folder(path: string, root: string, isGuarded: boolean): Folder {
    const info = look(path);
    if (info === undefined || !info.isDirectory()) return NOTHING;
    const mark = `${markOf(info)}:${isGuarded}`;
    const known = this.#folders.get(path);
    if (known?.mark === mark) return known;
    const folder = { mark, ...this.#read(path, root, isGuarded) };
    this.#folders.set(path, folder);
    return folder;
  }

  #read(path: string, root: string, isWhole: boolean): Omit<Folder, 'mark'> {
    const folders: string[] = [];
    const guarded: string[] = [];
    const entries = list(path);
    const way = wayTo(path, root);
    const names = new Set(entries.map(({ name }) => name));
    if (isGitStore(way) && !isRepository(names)) return NOTHING;
    const isGit = isGitFolder(way, names);
    const name = isGit ? '.git' : basename(path);
    const parent = basename(dirname(path));
    const isInside = isWhole || outermost(path, root) !== undefined;
    for (const entry of entries) {
      if (entry.isDirectory()) {
        if (isLookedThrough([...way, entry.name])) folders.push(entry.name);
        continue;
      }
      const isGuarded =
        isInside ||
        this.#isDotFile(path, entry.name) ||
        isProtectedFile(entry.name, name, parent) ||
        isProtectedFolder(entry.name, name);
      if (isGuarded) guarded.push(entry.name);
    }
    return { isGit, folders, guarded };
  }

  #isDotFile(folder: string, name: string): boolean {
    return folder === this.#options.home && name.startsWith('.');
  }

  /** A file, and the links that lead to it or to a folder. */
  #noteWay(path: string, root: string, found: Map<string, Entry>): void {
    for (let at = path; at.startsWith(root + sep); at = dirname(at)) {
      const info = look(at);
      if (info?.isSymbolicLink() === true || (at === path && info?.isDirectory() === false))
        this.#note(at, root, found);
    }
  }

  #note(path: string, root: string, found: Map<string, Entry>): void {
    const info = look(path);
    if (info === undefined || path.endsWith('.sample')) return;
    const mark = markOf(info);
    const known = this.#contents.get(path);
    const folder = look(dirname(path))?.ino ?? 0;
    const isKnown = known?.mark === mark && known.folder === folder;
    const entry = isKnown
      ? known
      : {
          root,
          mark,
          folder,
          mode: info.mode & 0o7777,
          isShared: info.nlink > 1,
          ...contentOf(path, info),
        };
    this.#contents.set(path, entry);
    found.set(path, entry);
  }

  async #remove(path: string, root: string, what: Planted['what']): Promise<Planted> {
    const folder = await this.#options.quarantine().catch(() => undefined);
    const target = folder === undefined ? undefined : join(folder, `${++this.#moved}-${basename(path)}`);
    const isMoved = inFolder(root, path, (here) => moveAway(here, target));
    return isMoved === true && target !== undefined ? { path, what, movedTo: target } : { path, what };
  }

  #restore(path: string, { root, link, content, mode }: Entry): void {
    try {
      mkdirSync(dirname(path), { recursive: true });
      inFolder(root, path, (here) => {
        if (link !== undefined) symlinkSync(link, here);
        else if (content !== undefined) writeFileSync(here, content, { flag: 'wx', mode });
      });
    } catch {
      // It is told of all the same; there is nothing left to try.
    }
  }
}

const NOTHING: Folder = { mark: '', isGit: false, folders: [], guarded: [] };

/** What cannot be kept, as on another file system, is at least gone. */
function moveAway(path: string, target: string | undefined): boolean {
  try {
    if (target !== undefined) {
      renameSync(path, target);
      return true;
    }
  } catch {
    // Then it is removed.
  }
  rmSync(path, { recursive: true, force: true });
  return false;
}

/** The protected folder that a path lies in or is, nearest the root. */
function outermost(path: string, root: string): string | undefined {
  const names = relative(root, path).split(sep);
  const at = names.findIndex((name, index) => isProtectedFolder(name, names[index - 1] ?? basename(root)));
  return at < 0 ? undefined : join(root, ...names.slice(0, at + 1));
}

/** What was put back beside another program is another file with the same in it. */
function isSame(old: Entry, entry: Entry): boolean {
  if (old.mark === entry.mark) return true;
  if (old.mode !== entry.mode || old.link !== entry.link) return false;
  if (old.content === undefined || entry.content === undefined) return old.link !== undefined;
  return Buffer.compare(old.content, entry.content) === 0;
}

/**
 * A mount covers it, so nobody inside has changed it: somebody outside did. But a folder around it can be moved away,
 * and another put in its place, and a file with another name is changed under that.
 */
function isOwnChange(path: string, old: Entry, entry: Entry): boolean {
  return canBeCovered(path, old) && old.folder === entry.folder && !old.isShared;
}

/** Of another working tree or a submodule: it leads to a folder of git, and goes with its tree. */
function isPointer(path: string): boolean {
  return ['.git', 'commondir'].includes(basename(path));
}

/** It comes, changes and goes as git works, and what it says decides. */
function isJudged(path: string): boolean {
  return isPointer(path) || basename(path) === 'git-rebase-todo';
}

/** A mount on a link lands on what it names, and one on what git itself changes or removes would keep it from that. */
function canBeCovered(path: string, { root, link }: Entry): boolean {
  return link === undefined && !(isJudged(path) && dirname(path) !== root);
}

/** A repository that was cloned, and a virtual environment that uses the system's Python, are no plants. */
function isHarmless(path: string, { link, content }: Entry, after: Snapshot, old?: Entry): boolean {
  const [folder, name] = [dirname(path), basename(path)];
  if (['config', 'config.worktree'].includes(name) || isJudged(path)) {
    if (content === undefined) return false;
    const text = new TextDecoder().decode(content);
    const isWithin = (way: string) => isLookedAt(resolve(folder, way), after);
    if (name === '.git') return isWithin(gitFolderNamedIn(text) ?? sep);
    if (name === 'git-rebase-todo') return isHarmlessRebase(text, new TextDecoder().decode(old?.content));
    if (name !== 'commondir') return isHarmlessGitConfig(text, isWithin);
    return basename(dirname(folder)) === 'worktrees' && isHarmlessCommonFolder(text);
  }
  if (name === 'hgrc' && content !== undefined)
    return isHarmlessMercurialConfig(new TextDecoder().decode(content));
  if (basename(folder) !== 'bin' || link === undefined) return false;
  return (
    /^python[0-9.]*$/.test(link) ||
    (link.startsWith('/') && !after.roots.some((root) => link.startsWith(root + sep)))
  );
}

/** Whether what a `.git` names was looked through, and something else lies there now. */
function leadsAstray(path: string, { content }: Entry, before: Snapshot, after: Snapshot): boolean {
  if (basename(path) !== '.git' || content === undefined) return false;
  const named = gitFolderNamedIn(new TextDecoder().decode(content));
  if (named === undefined) return false;
  const target = resolve(dirname(path), named);
  return before.folders.has(target) && !after.folders.has(target) && existsSync(target);
}

/** Whether a folder is there, through no link, and was looked through. */
function isLookedAt(path: string, { folders }: Snapshot): boolean {
  return folders.has(path) && realPath(path) === path;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function wayTo(path: string, root: string): readonly string[] {
  return [basename(root), ...relative(root, path).split(sep)].filter((name) => name !== '');
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function list(path: string) {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}

function markOf({ ino, size, mtimeMs, ctimeMs, mode }: Stats): string {
  return `${ino}:${size}:${mtimeMs}:${ctimeMs}:${mode}`;
}

function contentOf(path: string, info: Stats): Pick<Entry, 'link' | 'content'> {
  try {
    if (info.isSymbolicLink()) return { link: readlinkSync(path) };
    if (info.isFile() && info.size <= MAX_KEPT_BYTES) return { content: readFileSync(path) };
  } catch {
    // Gone meanwhile, or not ours to read.
  }
  return {};
}

/**
 * Calls `act` with a path that leads to the file through no link: another program that still runs could put one in the
 * place of a folder on the way. Undefined when there is one.
 */
function inFolder<T>(root: string, path: string, act: (path: string) => T): T | undefined {
  if (process.platform !== 'linux') return act(path);
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  let descriptor: number | undefined;
  try {
    descriptor = openSync(root, flags);
    for (const name of relative(root, dirname(path))
      .split(sep)
      .filter((part) => part !== '')) {
      const next = openSync(`/proc/self/fd/${descriptor}/${name}`, flags);
      closeSync(descriptor);
      descriptor = next;
    }
    return act(`/proc/self/fd/${descriptor}/${basename(path)}`);
  } catch {
    return undefined;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
