// Which entries hold which words, and how well they answer a query: BM25 (Robertson and Zaragoza, 2009) with Lucene's
// form of the inverse document frequency, which is never negative. A query walks the lists of its words and nothing else.

import type { MemoryEntry, MemoryHit } from '../../core/memory.ts';
import { words } from '../../core/words.ts';

const K1 = 1.2;
const B = 0.75;

interface Posting {
  readonly entry: MemoryEntry;
  readonly count: number;
  /** Words of the whole entry. */
  readonly length: number;
}

export class WordIndex {
  readonly #postings = new Map<string, Posting[]>();
  readonly #count: number;
  readonly #meanLength: number;

  /** Names, aliases and contents count alike. */
  constructor(entries: readonly MemoryEntry[]) {
    let total = 0;
    for (const entry of entries) {
      const all = words([entry.name, ...entry.aliases, entry.content].join('\n'));
      total += all.length;
      for (const [word, count] of counts(all)) {
        const posting = { entry, count, length: all.length };
        const list = this.#postings.get(word);
        if (list === undefined) this.#postings.set(word, [posting]);
        else list.push(posting);
      }
    }
    this.#count = entries.length;
    this.#meanLength = total / Math.max(1, entries.length);
  }

  /** Best first; of equal ones the newer. */
  search(query: string, limit: number): readonly MemoryHit[] {
    const scores = new Map<MemoryEntry, number>();
    for (const word of new Set(words(query))) {
      const postings = this.#postings.get(word) ?? [];
      const rarity = Math.log((this.#count - postings.length + 0.5) / (postings.length + 0.5) + 1);
      for (const { entry, count, length } of postings) {
        const norm = K1 * (1 - B + (B * length) / this.#meanLength);
        scores.set(entry, (scores.get(entry) ?? 0) + (rarity * count * (K1 + 1)) / (count + norm));
      }
    }
    const hits = [...scores].map(([entry, score]) => ({ entry, score }));
    hits.sort((a, b) => b.score - a.score || Number(b.entry.id - a.entry.id));
    return hits.slice(0, limit);
  }
}

function counts(all: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const word of all) found.set(word, (found.get(word) ?? 0) + 1);
  return found;
}
