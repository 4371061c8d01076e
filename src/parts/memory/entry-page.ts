// One entry as a page for people: a block of HTML with what is known of it, which a browser shows as a card and no heading
// tree notices, then the content as it is. Reading a page gives back the entry; a page without the block is content alone.

import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/memory.ts';

export interface Page {
  /** Absent where the file's own name says it. */
  readonly name?: string;
  readonly aliases: readonly string[];
  /** Seconds since the epoch; absent for a page without a block. */
  readonly createdAt?: bigint;
  readonly content: string;
}

const OPENING = '<div id="meta">';
const CLOSING = '</div>';
/** The last second that a Date can hold. */
const LAST_DATE = 8_640_000_000_000n;

export function writePage(entry: MemoryEntry, nameIsPlain: boolean): string {
  const time = timeText(entry.createdAt);
  const lines = [OPENING, '<dl>'];
  if (!nameIsPlain) lines.push('  <dt>Name</dt>', `  <dd>${escaped(entry.name)}</dd>`);
  lines.push('  <dt>Created</dt>', `  <dd><time datetime="${time}">${time}</time></dd>`);
  if (entry.aliases.length > 0) {
    const items = entry.aliases.map((alias) => `<li>${escaped(alias)}</li>`).join('');
    lines.push('  <dt>Aliases</dt>', `  <dd><ul>${items}</ul></dd>`);
  }
  return `${[...lines, '</dl>', CLOSING, '', ''].join('\n')}${entry.content}`;
}

/** Throws `CrabError input-malformed`; `path` is for errors. */
export function readPage(text: string, path: string): Page {
  const body = text.startsWith('\ufeff') ? text.slice(1) : text;
  if (!body.startsWith(OPENING)) return { aliases: [], content: body };
  const end = body.indexOf(CLOSING);
  if (end < 0) throw malformed(path, `its block of facts has no ${CLOSING}`);
  const block = body.slice(0, end);
  const content = body.slice(end + CLOSING.length).replace(/^[^\S\n]*(?:\r?\n){0,2}/, '');
  const name = /<dt>Name<\/dt>\s*<dd>([^<]*)<\/dd>/.exec(block)?.[1];
  const time = /<time datetime="([^"]*)"/.exec(block)?.[1];
  if (time === undefined) throw malformed(path, 'its block of facts has no time');
  return {
    ...(name !== undefined && { name: unescaped(name) }),
    aliases: [...block.matchAll(/<li>([^<]*)<\/li>/g)].map(([, alias = '']) => unescaped(alias)),
    createdAt: secondsOf(time, path),
    content,
  };
}

/** A time that every year fits into. */
export function timeText(seconds: bigint): string {
  if (seconds > LAST_DATE) return `@${seconds}`;
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

/** The day of it, for people; `unknown` for one that no calendar has. */
export function dayText(seconds: bigint): string {
  return seconds > LAST_DATE ? 'unknown' : new Date(Number(seconds) * 1000).toISOString().slice(0, 10);
}

function secondsOf(text: string, path: string): bigint {
  if (/^@\d{1,20}$/.test(text)) return BigInt.asUintN(64, BigInt(text.slice(1)));
  const milliseconds = Date.parse(text);
  if (Number.isNaN(milliseconds) || milliseconds < 0)
    throw malformed(path, `${JSON.stringify(text)} is no time`);
  return BigInt(Math.floor(milliseconds / 1000));
}

const ENTITIES: readonly (readonly [string, string])[] = [
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
];

function escaped(text: string): string {
  return ENTITIES.reduce((all, [plain, entity]) => all.replaceAll(plain, entity), text);
}

function unescaped(text: string): string {
  return [...ENTITIES].reverse().reduce((all, [plain, entity]) => all.replaceAll(entity, plain), text);
}

/** A page that cannot be read, and why; reading one changes nothing. */
export function malformed(path: string, why: string): CrabError {
  return new CrabError('input-malformed', `${path} cannot be read as a memory: ${why}.`, {
    hint: 'Mend the page; nothing was changed.',
  });
}
