// What a compaction carries on by itself, in the words that were used, so that no summary can lose it: decisions, rules
// that the person set, and what was left open. It is found by the words that people and models use for such things, and
// in the sections of the summary before. Each list has its share of a bound, and the newest lines win.

import { type Message, messageText } from '../core/message.ts';
import type { CarriedLines } from '../core/tape.ts';
import { words } from '../core/words.ts';

export const DECISION =
  /\b(?:decid(?:ed?|ing|es)|decisions?|we(?:'ll| will| are going to) (?:use|keep|go with)|going with|instead of|rather than|chose(?:n)?|settled on|agreed)\b|决定|決定|决め/i;
export const RULE =
  /\b(?:must|never|always|prefer|rules?|forbidden|not allowed|make sure)\b|^(?:please )?(?:do not|don't|only use)\b|必须|不要|禁止|总是|必ず/i;
export const UNFINISHED =
  /\b(?:todo|fixme|still (?:fails?|failing|broken|open|missing)|not (?:yet|done|working|solved)|unresolved|unfinished|blocked|remains?(?: to)?|left to do|put off|postponed|next step|open question|known issue)\b|未完成|待办/i;

export const NOTHING_CARRIED: CarriedLines = { decisions: [], rules: [], unfinished: [] };

/** Of the bound, what each list may have. */
const SHARES: Readonly<Record<keyof CarriedLines, number>> = {
  decisions: 0.5,
  rules: 0.25,
  unfinished: 0.25,
};

/** Sections of a summary that say such things, as its prompt names them. */
const SECTIONS: Readonly<Record<string, keyof CarriedLines>> = {
  decisions: 'decisions',
  constraints: 'rules',
  'active skills and rules': 'rules',
  'unfinished work': 'unfinished',
  unresolved: 'unfinished',
};

const MAX_LINE = 300;

export interface CarryInput {
  /** What leaves the model's sight, in order. */
  readonly messages: readonly Message[];
  readonly previous?: { readonly summary: string; readonly carried?: CarriedLines } | undefined;
  /** Characters of all lists together. */
  readonly most: number;
}

/** The oldest first. */
export function carriedFrom({ messages, previous, most }: CarryInput): CarriedLines {
  const { carried = NOTHING_CARRIED, summary = '' } = previous ?? {};
  const found: Record<keyof CarriedLines, string[]> = {
    decisions: [...carried.decisions],
    rules: [...carried.rules],
    unfinished: [...carried.unfinished],
  };
  for (const [list, line] of [...sectionLines(summary), ...messages.flatMap(said)]) found[list].push(line);
  const bounded = (list: keyof CarriedLines) => newest(found[list], most * SHARES[list]);
  return {
    decisions: bounded('decisions'),
    rules: bounded('rules'),
    unfinished: bounded('unfinished'),
  };
}

type Found = readonly [keyof CarriedLines, string];

function sectionLines(summary: string): readonly Found[] {
  const found: Found[] = [];
  let list: keyof CarriedLines | undefined;
  for (const line of summary.split('\n')) {
    const [, heading] = /^#+\s+(.*?)\s*$/.exec(line) ?? [];
    if (heading !== undefined) list = SECTIONS[heading.toLowerCase()];
    else {
      const text = oneLine(line.replaceAll('**', '').replace(/^\s*[-*]\s+\[[ x]\]\s+/, ''));
      if (list !== undefined && text !== '') found.push([list, text]);
    }
  }
  return found;
}

function said(message: Message): readonly Found[] {
  if (message.role === 'toolResult' || isCommand(message)) return [];
  const kindOf = (line: string): keyof CarriedLines | undefined => {
    if (DECISION.test(line)) return 'decisions';
    if (message.role === 'user' && RULE.test(line)) return 'rules';
    return UNFINISHED.test(line) ? 'unfinished' : undefined;
  };
  return sentences(message).flatMap((line): readonly Found[] => {
    const list = kindOf(line);
    return list === undefined ? [] : [[list, line]];
  });
}

/** What a program wrote is nobody's decision. */
function isCommand(message: Message): boolean {
  return message.role === 'user' && messageText(message).startsWith('<command ');
}

export function sentences(message: Message): readonly string[] {
  return messageText(message)
    .split(/\n+|(?<=[.!?])\s+(?=\p{Lu})|(?<=[。！？])/u)
    .map(oneLine)
    .filter((line) => line !== '');
}

export function oneLine(text: string): string {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/^[-*#>\s]+/, '')
    .trim();
  return line.length <= MAX_LINE ? line : `${line.slice(0, MAX_LINE - 1).toWellFormed()}…`;
}

/** Each once, where it was said last. */
function newest(lines: readonly string[], most: number): readonly string[] {
  const kept: string[] = [];
  let room = most;
  for (const line of new Set(lines.toReversed())) {
    room -= line.length + 1;
    if (room < 0) break;
    kept.push(line);
  }
  return kept.reverse();
}

const SAME = 0.8;

/** The lines that no line of the summary says with nearly the same words. */
export function unsaid(lines: readonly string[], summary: string): readonly string[] {
  const told = summary.split('\n').map((line) => new Set(words(line)));
  return lines.filter((line) => {
    const own = [...new Set(words(line))];
    return !told.some((there) => own.filter((word) => there.has(word)).length >= own.length * SAME);
  });
}
