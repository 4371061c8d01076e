// The labelled commands beside this file: one a line, with ⏎ for a line's end inside of a command, below a line
// such as `== git` that names their class.

import { readFileSync } from 'node:fs';

export type Label = 'read-only' | 'mutating' | 'dangerous';

export interface Labelled {
  readonly command: string;
  /**
   * `read-only` leaves nothing behind, asks no network and runs nothing but readers; `dangerous` cannot be undone,
   * takes rights, stays, sends data or runs code that nobody has read; `mutating` is everything in between.
   */
  readonly label: Label;
  readonly class: string;
}

export const LABELS: readonly Label[] = ['read-only', 'mutating', 'dangerous'];

export function readCorpus(): readonly Labelled[] {
  return LABELS.flatMap((label) => {
    let name = '';
    const text = readFileSync(new URL(`./${label}.commands`, import.meta.url), 'utf8');
    return text.split('\n').flatMap((line): Labelled[] => {
      if (line.startsWith('== ')) name = line.slice(3);
      if (line === '' || line.startsWith('== ')) return [];
      return [{ command: line.replaceAll('⏎', '\n'), label, class: name }];
    });
  });
}
