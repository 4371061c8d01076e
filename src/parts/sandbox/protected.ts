// What in a writable folder is obeyed or started later by something else: a hook, an editor's task, another agent's
// settings. A confined program that may write these has only to wait. They are known by name, at every depth.

import {
  INSTRUCTING_FILES,
  INSTRUCTING_FOLDERS,
  STARTING_FILES,
  STARTING_FOLDERS,
} from '../../core/protected.ts';

/** Below a folder of git: its own programs and what they start. */
const GIT_FOLDERS = new Set(['hooks']);
const GIT_FILES = new Set(['config', 'config.worktree']);

/** Interpreters of a virtual environment, which editors and tools start unasked. */
const VIRTUAL_ENVIRONMENTS = new Set(['.venv', 'venv', '.virtualenv']);
const INTERPRETER = /^python[0-9.]*(?:\.exe)?$/;

/** Not looked through: large, and nothing in them is found by walking up from a file of the person's. */
export const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['node_modules', '.hg', '.svn']);

/** Whether an entry of `folder` is protected, and so is everything below it. Case is ignored: file systems may. */
export function isProtectedFolder(name: string, parent: string): boolean {
  const lower = name.toLowerCase();
  const isWhole = STARTING_FOLDERS.has(lower) || INSTRUCTING_FOLDERS.has(lower);
  return isWhole || (parent.toLowerCase() === '.git' && GIT_FOLDERS.has(lower));
}

/** `parent` and `grandparent` are the names of the folders around it. */
export function isProtectedFile(name: string, parent: string, grandparent: string): boolean {
  const lower = name.toLowerCase();
  if (STARTING_FILES.has(lower) || INSTRUCTING_FILES.has(lower)) return true;
  if (parent.toLowerCase() === '.git') return GIT_FILES.has(lower);
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
    if (isProtectedFolder(name, parent)) return names.slice(0, index + 1).join('/');
    if (!isLast || INSTRUCTING_FILES.has(name.toLowerCase())) continue;
    if (isProtectedFile(name, parent, names[index - 2] ?? '')) return way;
  }
  return undefined;
}

/** Keys of a git configuration that start nothing. A repository cloned inside has no others. */
const HARMLESS_GIT_SECTIONS = /^(?:remote|branch|user|init|color|extensions)\b/i;
const HARMLESS_CORE_KEYS =
  /^(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol)$/i;

/** Whether a new `.git/config` says nothing that git would run. What cannot be read as such does. */
export function isHarmlessGitConfig(text: string): boolean {
  let section = '';
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
    if (line.endsWith('\\')) return false;
    const header = /^\[([^\]]+)\]$/.exec(line)?.[1];
    const key = /^([\w-]+)\s*(?:=|$)/.exec(line)?.[1] ?? '';
    if (header !== undefined) section = header.trim();
    else if (section.toLowerCase() === 'core' ? !HARMLESS_CORE_KEYS.test(key) : !harmless(section, key))
      return false;
  }
  return true;
}

function harmless(section: string, key: string): boolean {
  // Both name programs that git starts to speak to a remote.
  if (/^(?:uploadpack|receivepack|vcs)$/i.test(key)) return false;
  return key !== '' && HARMLESS_GIT_SECTIONS.test(section);
}
