// Which words of a query are looked for. Every message that has one of them is scored, so words that stand in very many
// would make a search slow and its order no better: beside rarer ones they are left out, and where all are common, the
// newest messages stand for all. What is scored is scored exactly.

/** A word in more messages than this is common. */
export const COMMON = 12_000;
/** Messages that the words together may be in. */
const MOST_SCORED = 20_000;
/** Of common words alone, the newest messages are scored, as many as this. */
export const NEWEST = 8_000;
const MOST_COMMON_WORDS = 2;
const MOST_COMPARED = 6;
/** A common word is counted so far, to tell which of them is the rarest. */
const COUNTED = 200_000;
const MOST_WORDS = 24;

export interface Plan {
  /** The rarest first; none when no message has any. */
  readonly words: readonly string[];
  readonly ignored: readonly string[];
  /** Score no more messages than this, the newest. */
  readonly newest?: number;
}

/** `count` says in how many messages a word is, and stops counting at `most`. */
export function planQuery(words: readonly string[], count: (word: string, most: number) => number): Plan {
  const distinct = [...new Set(words)];
  const counted = distinct.slice(0, MOST_WORDS).map((word) => ({ word, count: count(word, COMMON + 1) }));
  const found = counted.filter((each) => each.count > 0).sort((a, b) => a.count - b.count);
  const rare: string[] = [];
  let scored = 0;
  for (const each of found) {
    scored += each.count;
    if (each.count > COMMON || (rare.length > 0 && scored > MOST_SCORED)) break;
    rare.push(each.word);
  }
  const beyond = distinct.slice(MOST_WORDS);
  if (rare.length > 0 || found.length === 0)
    return { words: rare, ignored: [...found.slice(rare.length).map(({ word }) => word), ...beyond] };
  const common = found.slice(0, MOST_COMPARED).map(({ word }) => ({ word, count: count(word, COUNTED) }));
  common.sort((a, b) => a.count - b.count);
  const used = common.slice(0, MOST_COMMON_WORDS).map(({ word }) => word);
  return { words: used, ignored: distinct.filter((word) => !used.includes(word)), newest: NEWEST };
}
