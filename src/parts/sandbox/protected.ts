// What in a writable folder is obeyed or started later by something else: a hook, an editor's task, another agent's
// settings. A confined program that may write these has only to wait. They are known by name, at every depth.

import {
  INSTRUCTING_FILES,
  INSTRUCTING_FOLDERS,
  STARTING_FILES,
  STARTING_FOLDERS,
} from '../../core/protected.ts';

/** Below a folder of git: its own programs, what they start, and where it is said that both lie elsewhere. */
const GIT_FOLDERS = new Set(['hooks']);
const GIT_FILES = new Set(['config', 'config.worktree', 'commondir']);
/** Of a `.git`: the folders of its submodules and of its other working trees, each a folder of git, too. */
const GIT_NESTS = new Set(['modules', 'worktrees']);
/** Of a folder of git: many files, and none that git obeys. A submodule may have the same name. */
const GIT_STORES = new Set(['objects', 'refs', 'logs', 'lfs']);
/** Of a folder of git: what a rebase that was interrupted will do when it is continued, programs among it. */
const GIT_PLANS = new Set(['rebase-merge']);
const REBASE_PLAN = 'git-rebase-todo';

/** Interpreters of a virtual environment, which editors and tools start unasked. */
const VIRTUAL_ENVIRONMENTS = new Set(['.venv', 'venv', '.virtualenv']);
const INTERPRETER = /^python[0-9.]*(?:\.exe)?$/;

/** Not looked through: large, and nothing in them is found by walking up from a file of the person's. */
const SKIPPED_FOLDERS = new Set(['node_modules', '.svn']);
/** Of Mercurial: its own settings lie at the top of it, and start what they name. */
const MERCURIAL = '.hg';
const MERCURIAL_CONFIG = 'hgrc';

/** Whether what is protected is looked for in a folder. `way` has the names from the root, the root's own among them. */
export function isLookedThrough(way: readonly string[]): boolean {
  const names = way.map((name) => name.toLowerCase());
  const git = names.indexOf('.git');
  const first = git < 0 ? undefined : names[git + 1];
  return (
    !names.slice(1).some((name) => SKIPPED_FOLDERS.has(name)) &&
    !names.slice(0, -1).includes(MERCURIAL) &&
    (first === undefined || GIT_FOLDERS.has(first) || GIT_NESTS.has(first) || GIT_PLANS.has(first))
  );
}

/** Whether a folder has the name of one in which a folder of git keeps what is many. `way` as above. */
export function isGitStore(way: readonly string[]): boolean {
  const names = way.map((name) => name.toLowerCase());
  return names.slice(0, -1).includes('.git') && GIT_STORES.has(names.at(-1) ?? '');
}

/** Whether git takes a folder with these entries for one of its own, wherever it lies (gitrepository-layout(5)). */
export function isRepository(entries: ReadonlySet<string>): boolean {
  return entries.has('HEAD') && (entries.has('objects') || entries.has('commondir'));
}

/** Whether a folder with these entries is one of git, or may be as soon as there are more. `way` as above. */
export function isGitFolder(way: readonly string[], entries: ReadonlySet<string>): boolean {
  const names = way.map((name) => name.toLowerCase());
  const git = names.indexOf('.git');
  const isNested = git >= 0 && GIT_NESTS.has(names[git + 1] ?? '') && names.length > git + 2;
  return isNested || isRepository(entries) || names.at(-1) === '.git';
}

/** Whether git obeys what has this name in a folder of its own. */
export function isObeyedByGit(name: string): boolean {
  return GIT_FOLDERS.has(name) || GIT_FILES.has(name);
}

/** Whether a folder is protected, and so is everything below it. Case is ignored: file systems may. */
export function isProtectedFolder(name: string, parent: string): boolean {
  const lower = name.toLowerCase();
  const isWhole = STARTING_FOLDERS.has(lower) || INSTRUCTING_FOLDERS.has(lower);
  return isWhole || (parent.toLowerCase() === '.git' && GIT_FOLDERS.has(lower));
}

/** `parent` and `grandparent` are the names of the folders around it. */
export function isProtectedFile(name: string, parent: string, grandparent: string): boolean {
  const lower = name.toLowerCase();
  if (STARTING_FILES.has(lower) || INSTRUCTING_FILES.has(lower)) return true;
  // As a file it says where the folder is.
  if (lower === '.git' || lower === REBASE_PLAN) return true;
  if (parent.toLowerCase() === '.git') return GIT_FILES.has(lower);
  if (parent.toLowerCase() === MERCURIAL) return lower === MERCURIAL_CONFIG;
  return parent === 'bin' && VIRTUAL_ENVIRONMENTS.has(grandparent) && INTERPRETER.test(name);
}

/**
 * For file tools, whose every change a person may see: files of instructions may be written, which nobody reads when a
 * program does it. `way` leads from the root.
 */
export function protectedFromTools(way: string): string | undefined {
  const names = way.split(/[\\/]/);
  for (const [index, name] of names.entries()) {
    const parent = names[index - 1] ?? '';
    const isLast = index === names.length - 1;
    const isNest = parent.toLowerCase() === '.git' && GIT_NESTS.has(name.toLowerCase());
    if (isNest || isProtectedFolder(name, parent)) return names.slice(0, index + 1).join('/');
    if (!isLast || INSTRUCTING_FILES.has(name.toLowerCase())) continue;
    if (isProtectedFile(name, parent, names[index - 2] ?? '')) return way;
  }
  return undefined;
}

/** Keys of a git configuration that start nothing. A repository cloned inside has no others. */
const HARMLESS_GIT_SECTIONS = /^(?:remote|branch|user|color|extensions|advice)\b/i;
const HARMLESS_KEYS = new Set([
  'core.autocrlf',
  'core.bare',
  'core.eol',
  'core.filemode',
  'core.ignorecase',
  'core.logallrefupdates',
  'core.precomposeunicode',
  'core.repositoryformatversion',
  'core.sparsecheckout',
  'core.sparsecheckoutcone',
  'core.symlinks',
  'commit.gpgsign',
  'gc.auto',
  'init.defaultbranch',
  'pull.ff',
  'pull.rebase',
  'push.autosetupremote',
  'push.default',
  'receive.denycurrentbranch',
  'submodule.active',
  'submodule.branch',
  'submodule.url',
  'tag.gpgsign',
]);
/** Of sections that are harmless else: programs that git starts to speak to a remote. */
const STARTING_KEYS = new Set(['uploadpack', 'receivepack', 'vcs']);

/**
 * Whether a new `config` of git says nothing that git would run. What cannot be read as such does. `isOwnTree`: whether
 * the files that belong to it may lie at a path relative to it, as those of a submodule do.
 */
export function isHarmlessGitConfig(
  text: string,
  isOwnTree: (path: string) => boolean = () => false,
): boolean {
  let section = '';
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.endsWith('\\')) return false;
    const header = /^\[([^\]]+)\]$/.exec(line)?.[1];
    const [, key, value = ''] = /^([\w-]+)\s*(?:=\s*(.*)|$)/.exec(line) ?? [];
    if (header !== undefined) section = (/^[\w.-]+/.exec(header.trim())?.[0] ?? '').toLowerCase();
    else if (key === undefined) return false;
    else if (section === 'core' && key.toLowerCase() === 'worktree') {
      if (!isOwnTree(value)) return false;
    } else if (!isHarmless(section, key.toLowerCase())) return false;
  }
  return true;
}

function isHarmless(section: string, key: string): boolean {
  const isOpen = HARMLESS_GIT_SECTIONS.test(section) && !STARTING_KEYS.has(key);
  return isOpen || HARMLESS_KEYS.has(`${section}.${key}`);
}

/** Whether the settings of a repository of Mercurial say nothing but where others are, as a clone does. */
export function isHarmlessMercurialConfig(text: string): boolean {
  const lines = text.split('\n').map((line) => line.trim());
  return (
    lines.every((line) => /^(?:[#;].*|\[paths\]|[\w.:-]+\s*=.*)?$/.test(line)) &&
    lines.find((line) => /^[^#;]/.test(line)) === '[paths]'
  );
}

/** What a configuration of git says is to be obeyed, too: folders of hooks, and further configurations. */
export function namedInGitConfig(text: string): { readonly hooks: string[]; readonly configs: string[] } {
  const named = { hooks: [] as string[], configs: [] as string[] };
  let section = '';
  for (const line of text.split('\n')) {
    const [, header, rest = line] = /^\s*\[([\w.-]+)[^\]]*\](.*)$/.exec(line) ?? [];
    section = header?.toLowerCase() ?? section;
    const [, key = '', quoted, plain] = /^\s*(\w+)\s*=\s*(?:"([^"]*)"|(.*?))\s*$/.exec(rest) ?? [];
    const value = quoted ?? plain ?? '';
    if (value === '' || value.startsWith('~')) continue;
    if (section === 'core' && key.toLowerCase() === 'hookspath') named.hooks.push(value);
    if (/^include(?:if)?$/.test(section) && key.toLowerCase() === 'path') named.configs.push(value);
  }
  return named;
}

/** Where a `.git` file says that the folder is; undefined where it says nothing. */
export function gitFolderNamedIn(text: string): string | undefined {
  return /^gitdir: ([^\n]+)\n*$/.exec(text)?.[1];
}

/** In a folder of another working tree, the one way to the folder of git around it that git itself writes. */
export function isHarmlessCommonFolder(text: string): boolean {
  return text.trim() === '../..';
}

/** A line of the list that a rebase goes through, of those that start a program (git-rebase(1)). */
const REBASE_EXEC = /^\s*(?:exec|x)\s/i;

/** Whether what a rebase has yet to do starts no program that it was not going to start before. */
export function isHarmlessRebase(text: string, before: string): boolean {
  const known = new Set(before.split('\n'));
  return text.split('\n').every((line) => !REBASE_EXEC.test(line) || known.has(line));
}
