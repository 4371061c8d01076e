// One note as a Markdown file of the kind that other agents keep: YAML front matter (name, description, type), then the text.
// Only the lines that mean something here are read; the rest of a head stays with its text, as it stands.

import { lstatSync } from 'node:fs';
import type { MemoryEntry } from '../../core/memory.ts';
import { pageText } from './book.ts';
import { malformed, timeText } from './entry-page.ts';

const FENCE = '---';
const MAX_HOOK_LENGTH = 120;

/** `type`: what a note is about when it does not say so itself: `user` or `project`. */
export interface NoteOptions {
  readonly type: string;
}

interface Parts {
  /** Lines of the front matter. */
  readonly head: readonly string[];
  readonly text: string;
}

/** The file's text. */
export function writtenNote(
  { name, aliases, content, createdAt }: MemoryEntry,
  options: NoteOptions,
): string {
  const { head, text } = ownParts(content, options) ?? {
    head: derivedHead(content, options),
    text: content,
  };
  const own = [
    `name: ${JSON.stringify(name)}`,
    ...(aliases.length > 0 ? [`aliases: ${JSON.stringify(aliases)}`] : []),
    `created: ${JSON.stringify(timeText(createdAt))}`,
  ];
  return joined([...own, ...head], text);
}

/** The head that a note has of its own, where importing gives it back as it was. */
function ownParts(content: string, options: NoteOptions): Parts | undefined {
  const parts = parted(content);
  if (parts === undefined || parts.head.length === 0 || parts.head.some(isOurs)) return undefined;
  if (isDerived(parts.head, parts.text, options)) return undefined;
  return joined(parts.head, parts.text) === content ? parts : undefined;
}

function isOurs(line: string): boolean {
  return /^(?:name|aliases|created):/.test(line);
}

function isDerived(head: readonly string[], text: string, options: NoteOptions): boolean {
  return head.join('\n') === derivedHead(text, options).join('\n');
}

function joined(head: readonly string[], text: string): string {
  return [FENCE, ...head, FENCE, text].join('\n');
}

/** What other agents want to know of a note that has no head of its own. */
function derivedHead(content: string, { type }: NoteOptions): readonly string[] {
  return [`description: ${JSON.stringify(hookOf(content))}`, `type: ${type}`];
}

/** Throws `CrabError` (`input-malformed`, `storage-failed`). */
export function readNote(path: string, options: NoteOptions): Omit<MemoryEntry, 'id'> {
  const whole = pageText(path).replace(/^\ufeff/, '');
  const parts = parted(whole);
  if (parts === undefined && new RegExp(`^${FENCE}\r?\n`).test(whole))
    throw malformed(path, `it begins with \`${FENCE}\`, and no second one ends its head`);
  const { head, text } = parts ?? { head: [], text: whole };
  const rest = head.filter((line) => !isOurs(line));
  const file = path.replace(/^.*[/\\]/, '').replace(/\.md$/, '');
  const content = rest.length === 0 || isDerived(rest, text, options) ? text : joined(rest, text);
  return {
    name: scalar(fieldOf(head, 'name')) || file,
    aliases: listOf(fieldOf(head, 'aliases')),
    content,
    kind: 'note',
    createdAt: createdAt(fieldOf(head, 'created'), path),
  };
}

/** A text that begins with front matter, in its two parts. */
function parted(content: string): Parts | undefined {
  const [, head, text] = /^---\r?\n((?:.*\r?\n)*?)---(?:\r?\n|$)([\s\S]*)$/.exec(content) ?? [];
  if (head === undefined || text === undefined) return undefined;
  return { head: head.split(/\r?\n/).slice(0, -1), text };
}

function fieldOf(head: readonly string[], key: string): string {
  return (
    head
      .find((line) => line.startsWith(`${key}:`))
      ?.slice(key.length + 1)
      .trim() ?? ''
  );
}

/** A plain or quoted YAML scalar on one line. */
function scalar(value: string): string {
  if (value.startsWith('"')) return String(json(value) ?? value);
  const [, single] = /^'((?:[^']|'')*)'$/.exec(value) ?? [];
  return single?.replaceAll("''", "'") ?? value.replace(/\s+#.*$/, '');
}

/** A YAML flow sequence on one line: `[one, "two"]`. */
function listOf(value: string): readonly string[] {
  const strict = json(value);
  if (Array.isArray(strict)) return [...new Set(strict.map(String))];
  const [, inside] = /^\[(.*)\]$/.exec(value) ?? [];
  const parts = (inside?.match(/"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^,\s][^,]*/g) ?? []).map((part) =>
    scalar(part.trim()),
  );
  return [...new Set(parts.filter((part) => part !== ''))];
}

function json(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** The file's own time where the head does not say it. */
function createdAt(value: string, path: string): bigint {
  const said = scalar(value);
  if (/^@\d{1,20}$/.test(said)) return BigInt.asUintN(64, BigInt(said.slice(1)));
  const time = Date.parse(said);
  return BigInt(Math.max(0, Math.floor((Number.isNaN(time) ? lstatSync(path).mtimeMs : time) / 1000)));
}

/** What it is about, in a line. */
export function described(content: string): string {
  const parts = parted(content);
  return scalar(fieldOf(parts?.head ?? [], 'description')) || hookOf(parts?.text ?? content);
}

/** The first line that says something. */
function hookOf(text: string): string {
  const line = text.split('\n').find((each) => /[\p{L}\p{N}]/u.test(each)) ?? '';
  const plain = line.replace(/^[#>*\s-]+/, '').trim();
  return plain.length > MAX_HOOK_LENGTH ? `${plain.slice(0, MAX_HOOK_LENGTH).toWellFormed()}…` : plain;
}

/** A file's name without its ending: letters and digits that every system takes, and none that is `taken`. */
export function slugOf(name: string, taken: ReadonlySet<string>): string {
  const plain =
    name
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]+/gu, '_')
      .replace(/^_+|_+$/g, '')
      .slice(0, 60)
      .toWellFormed() || 'note';
  let slug = plain;
  for (let copy = 2; taken.has(slug); copy++) slug = `${plain}_${copy}`;
  return slug;
}
