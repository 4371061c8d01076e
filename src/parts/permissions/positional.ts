// What the function of a text gets as `$1` and so on: the words of its calls, where each of them stands in the text as it is.

import type { SyntaxNode } from './grammar.ts';
import type { Known } from './variables.ts';

/** By the digit, and `@` for any of them. */
export type Positional = ReadonlyMap<string, readonly Known[]>;

const MAX_CALLS = 8;
/** They give a function other words than its call has. */
const CHANGES = /\b(?:set|shift|getopts|eval|source|unset)\b|(?:^|[\s;&|])\.\s/;

/** Undefined where a call could be hidden, or has a word that expands. */
export function positionalOf(
  definition: SyntaxNode,
  root: SyntaxNode | undefined,
  text: string,
): Positional | undefined {
  const raw = ({ start, end }: SyntaxNode) => text.slice(start, end);
  const named = definition.children.find(({ type }) => type === 'word');
  if (named === undefined || root === undefined || CHANGES.test(raw(definition))) return undefined;
  const name = raw(named);
  const calls = callsOf(name, root, text);
  const mentions = text.split(new RegExp(`(?<![\\w-])${name}(?![\\w-])`)).length - 1;
  if (!/^\w+$/.test(name) || calls.length === 0 || calls.length > MAX_CALLS || mentions !== calls.length + 1)
    return undefined;
  const lists = calls.map((call) => call.children.slice(1).map((word) => literalOf(word, text)));
  const found = new Map<string, readonly Known[]>();
  const known = (values: readonly (string | undefined)[]): readonly Known[] | undefined =>
    values.every((each) => each !== undefined)
      ? [...new Set(values)].map((each) => ({ text: each ?? '', glob: false }))
      : undefined;
  for (let at = 0; at < 9; at += 1) {
    const values = known(lists.map((list) => (at < list.length ? list[at] : '')));
    if (values === undefined) return undefined;
    found.set(`${at + 1}`, values);
  }
  const all = known(lists.flat());
  return all === undefined ? undefined : found.set('@', all);
}

function callsOf(name: string, node: SyntaxNode, text: string): readonly SyntaxNode[] {
  const [first] = node.children;
  const own =
    node.type === 'command' && first !== undefined && text.slice(first.start, first.end) === name
      ? [node]
      : [];
  return [...own, ...node.children.flatMap((child) => callsOf(name, child, text))];
}

/** A word without anything that expands. */
function literalOf({ type, start, end, children }: SyntaxNode, text: string): string | undefined {
  const raw = text.slice(start, end);
  if (type === 'word' || type === 'number') return /^[\w./:,+%@^-]+$/.test(raw) ? raw : undefined;
  if (type === 'raw_string') return raw.slice(1, -1);
  if (type !== 'string' || /[\\`$]/.test(raw)) return undefined;
  return children.every(({ named, type: inner }) => !named || inner === 'string_content')
    ? raw.slice(1, -1)
    : undefined;
}
