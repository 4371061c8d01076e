// What one simple command does, in the four degrees that the gate knows. Every file that knows programs
// answers with an `Effect`; the paths in it are still words, because only the caller knows the folder.

import type { Word } from './script.ts';

export type EffectKind = 'read' | 'write' | 'dangerous' | 'unknown';

export interface Effect {
  readonly kind: EffectKind;
  /** The end of a sentence that begins with the command: … */
  readonly reason: string;
  readonly reads: readonly Word[];
  readonly writes: readonly Word[];
  /** Written with whatever another command prints: outside the workspace that is dangerous. */
  readonly streams: readonly Word[];
  /** Written if the target turns out to be a folder: judged only where such a path can exist. */
  readonly landings: readonly Word[];
}

const NONE = { reads: [], writes: [], streams: [], landings: [] };

export function reads(words: readonly Word[], reason = 'only reads'): Effect {
  return { ...NONE, kind: 'read', reason, reads: words };
}

export function writes(
  words: readonly Word[],
  reason = 'writes files',
  alsoReads: readonly Word[] = [],
): Effect {
  return { ...NONE, kind: 'write', reason, reads: alsoReads, writes: words };
}

export function unknown(reason: string): Effect {
  return { ...NONE, kind: 'unknown', reason };
}

export function dangerous(reason: string): Effect {
  return { ...NONE, kind: 'dangerous', reason };
}

export function unknownOption(program: string, option: string): Effect {
  return unknown(`uses ${option}, an option of ${program} that is not known to be harmless`);
}

/** Absolute, of the home folder, or climbing: a word that can lead out of the folder it is used in. */
export function leadsOut(word: Word): boolean {
  const { value } = pathIn(word);
  return value.startsWith('/') || value.startsWith('~') || value.split('/').includes('..');
}

/** The paths among words whose meaning is not known one by one. */
export function outwardPaths(words: readonly Word[]): readonly Word[] {
  return words.filter(leadsOut).map(pathIn);
}

/** What an option such as `--out=/x` or `-C/x` holds; any other word is itself. */
export function pathIn(word: Word): Word {
  const value = /^(?:--?[\w-]+=|-[A-Za-z](?=\/|~|\.\.))([\s\S]+)$/.exec(word.value)?.[1];
  return value === undefined ? word : { ...word, value, raw: value };
}
