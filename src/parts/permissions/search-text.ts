// What may be a command in a text that cannot be read: everything that follows a sign which could begin one, with
// quotes taken away. It finds more than bash would run, which is right for rules that deny and the search for danger.

import type { SimpleCommand, Word } from './script.ts';

const BEGINS = /[\n;&|(){}`]+|\b(?:then|do|else|elif|if|while|until|time|exec|coproc|in)\b|!/;
const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

export function searchText(
  text: string,
  { folders, piped }: { readonly folders: readonly string[]; readonly piped: boolean },
): readonly SimpleCommand[] {
  const pieces = text
    .replaceAll('\\\n', '')
    // `{rm,a}` is `rm a`.
    .replace(/\{([^{}\s]*,[^{}\s]*)\}/g, (_, list: string) => list.replaceAll(',', ' '))
    .split(BEGINS);
  const seen = new Set<string>();
  return pieces.flatMap((piece): SimpleCommand[] => {
    const words = piece
      .replace(/["'\\]/g, '')
      .split(/[\s<>]+/)
      .filter((each) => each !== '' && each !== '$');
    const first = words.findIndex((each) => !ASSIGNMENT.test(each));
    const key = words.join(' ');
    if (words.length === 0 || seen.has(key)) return [];
    seen.add(key);
    const split = first === -1 ? words.length : first;
    return [
      {
        assignments: words.slice(0, split).map(asWord),
        words: words.slice(split).map(asWord),
        redirects: [],
        expands: true,
        folders,
        piped: piped || seen.size > 1,
        upstream: undefined,
        chained: true,
        calls: false,
        within: [],
        exported: [],
      },
    ];
  });
}

function asWord(value: string): Word {
  return { raw: value, value, quoted: false, glob: /[*?[]/.test(value) };
}
