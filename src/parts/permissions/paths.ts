// The paths that a word may name. A pattern stands for the folder that it looks through, and what climbs after
// a pattern for the root, because it could end anywhere.

import type { Word } from './script.ts';

export function pathsOf(word: Word, folders: readonly string[], home: string | undefined): readonly string[] {
  let { value } = word;
  if (value === '-' || word.fed) return [];
  if (word.glob) {
    const components = value.split('/');
    const first = components.findIndex((component) => /[*?[]/.test(component));
    if (components.slice(first).includes('..')) return ['/'];
    value = components.slice(0, first).join('/');
    if (value === '') value = word.value.startsWith('/') ? '/' : '.';
  }
  if (value === '~' || value.startsWith('~/')) {
    // A quoted tilde is only a name, but taking it for the home folder errs on the careful side.
    return [home === undefined ? '/' : `${home}${value.slice(1)}`];
  }
  if (value.startsWith('/') || /^[A-Za-z]:[\\/]/.test(value)) return [value];
  return folders.map((folder) => (value === '' || value === '.' ? folder : `${folder}/${value}`));
}
