// Which tools a query means: words in the name count most, words of what is said about the tool less, and a word that many
// tools have says little of any. A word finds others that begin like it, since a model that looks for "scheduling" means the
// one that schedules.

import type { JsonSchema } from '../../core/schema.ts';
import type { KnownTool } from '../../core/tool.ts';
import { wordsOf } from './tool-words.ts';

const IN_NAME = 10;
const BEGINS_IN_NAME = 6;
const IN_TEXT = 4;
const BEGINS_IN_TEXT = 2;
/** Of its parameters: they say how it is called, and only between the lines what for. */
const IN_INPUT = 1.5;
const BEGINS_IN_INPUT = 0.5;

/** Letters that two words must share to be taken for forms of one. */
const STEM = 4;

/** Points below this share of the best are chance. */
const LEAST_SHARE = 0.2;

interface Words {
  readonly tool: KnownTool;
  readonly name: ReadonlySet<string>;
  readonly text: ReadonlySet<string>;
  readonly input: ReadonlySet<string>;
}

/** Those that match at all, best first; equal ones in their own order. `+word` must be in the name. */
export function rankTools(query: string, tools: readonly KnownTool[]): readonly KnownTool[] {
  const parts = query.split(/\s+/).filter((part) => part !== '');
  const required = parts.filter((part) => part.startsWith('+')).flatMap((part) => wordsOf(part));
  const words = [...new Set(parts.flatMap((part) => wordsOf(part)))];
  const all = tools.map(wordsIn);
  const points = words.map((word) => weighted(all.map((each) => pointsOf(word, each))));
  const scored = all.flatMap(({ tool, name }, index) => {
    if (!required.every((word) => score(word, name, 1, 1) > 0)) return [];
    const total = points.reduce((sum, each) => sum + (each[index] ?? 0), 0);
    return total === 0 ? [] : [{ tool, total }];
  });
  const best = Math.max(0, ...scored.map(({ total }) => total));
  return scored
    .filter(({ total }) => total >= best * LEAST_SHARE)
    .sort((one, other) => other.total - one.total)
    .map(({ tool }) => tool);
}

function wordsIn(tool: KnownTool): Words {
  const { name, aliases, description, keywords, input } = tool;
  return {
    tool,
    name: new Set(wordsOf(name)),
    text: new Set(wordsOf([description, ...keywords, ...aliases].join(' '))),
    input: new Set(wordsOf(inputText(input))),
  };
}

/** Names, descriptions and choices of the parameters, at every depth. */
function inputText({ description = '', properties = {}, items, enum: choices = [] }: JsonSchema): string {
  const inner = Object.entries(properties).map(([name, schema]) => `${name} ${inputText(schema)}`);
  return [description, ...choices, ...inner, items === undefined ? '' : inputText(items)].join(' ');
}

function pointsOf(word: string, { name, text, input }: Words): number {
  return (
    score(word, name, IN_NAME, BEGINS_IN_NAME) +
    score(word, text, IN_TEXT, BEGINS_IN_TEXT) +
    score(word, input, IN_INPUT, BEGINS_IN_INPUT)
  );
}

/** The points of each tool for one word; the rarer the word, the more they count. */
function weighted(points: readonly number[]): readonly number[] {
  const having = points.filter((each) => each > 0).length;
  const weight = Math.log(1 + points.length / Math.max(1, having));
  return points.map((each) => each * weight);
}

function score(word: string, among: ReadonlySet<string>, whole: number, beginning: number): number {
  if (among.has(word)) return whole;
  for (const other of among) if (sharesStem(word, other)) return beginning;
  return 0;
}

function sharesStem(one: string, other: string): boolean {
  if (one === `${other}s` || other === `${one}s`) return true;
  const length = Math.min(one.length, other.length);
  const stem = Math.max(STEM, length - 2);
  return length >= stem && one.slice(0, stem) === other.slice(0, stem);
}
