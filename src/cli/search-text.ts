// What `crab search` found, for a person: the session, the message with the words marked, and how to go on from there.

import { relative } from 'node:path';
import type { SearchReply, SessionHit, WindowItem } from '../core/search.ts';
import { words } from '../core/words.ts';
import type { Paint } from '../faces/paint.ts';
import { visible, visibleLine } from '../faces/visible.ts';

export interface SearchTextOptions {
  readonly query: string;
  readonly paint: Paint;
  /** The working folder. */
  readonly here: string;
  /** The person's home folder, shown as `~`. */
  readonly home: string;
}

/** Lines of the message that was found. */
const MAX_LINES = 6;
const RUN = /[\p{L}\p{N}\p{M}_$]+/gu;

export function replyText(reply: SearchReply, options: SearchTextOptions): string {
  const { paint } = options;
  const wanted = new Set(words(options.query));
  for (const word of reply.ignored) wanted.delete(word);
  const parts = reply.hits.map((hit) => hitText(hit, wanted, options));
  if (reply.hits.length === 0) parts.push('Nothing was said about that.\n');
  if (reply.ignored.length > 0)
    parts.push(paint.dim(`Too common to look for: ${visibleLine(reply.ignored.join(', '))}\n`));
  if (reply.more) parts.push(paint.dim('There is more: --page shows the next ones.\n'));
  return parts.join('\n');
}

function hitText(
  { session_id, msg_idx, meta, window }: SessionHit,
  wanted: Wanted,
  options: SearchTextOptions,
) {
  const { paint } = options;
  const facts = [
    ...(meta.cwd === options.here ? [] : [folder(meta.cwd, options)]),
    `${meta.message_count} messages`,
  ];
  const title = meta.title === '' ? session_id : visibleLine(meta.title, 80);
  const head = `${paint.cyan(timeText(meta.updated_at))}  ${paint.bold(title)}  ${paint.dim(`(${facts.join(', ')})`)}`;
  const lines = window.flatMap((item) =>
    item.msg_idx === msg_idx ? foundLines(item, wanted, paint) : [paint.dim(`    ${around(item)}`)],
  );
  const change = meta.cwd === options.here || meta.cwd === '' ? '' : `cd ${quoted(meta.cwd)} && `;
  return `${[head, ...lines, `  ${change}crab --resume ${visibleLine(session_id)}`].join('\n')}\n`;
}

type Wanted = ReadonlySet<string>;

/** The lines around the first that holds one of the words. */
function foundLines(item: WindowItem, wanted: Wanted, paint: Paint): readonly string[] {
  const all = visible(item.snippet)
    .split('\n')
    .filter((line) => line.trim() !== '');
  const first = all.findIndex((line) => words(line).some((word) => wanted.has(word)));
  const start = Math.max(0, first - 1);
  const shown = all.slice(start, start + MAX_LINES);
  const isCut = item.truncated || shown.length < all.length;
  return shown.map((line, at) => {
    const end = isCut && at === shown.length - 1 ? ' …' : '';
    return `  ${at === 0 ? `> ${paint.dim(`${who(item)}:`)} ` : '    '}${marked(line, wanted, paint)}${end}`;
  });
}

function around(item: WindowItem): string {
  return `${who(item)}: ${visibleLine(item.snippet, 160)}`;
}

function who({ role, tool_name }: WindowItem): string {
  return tool_name === undefined ? role : visibleLine(tool_name, 40);
}

function marked(line: string, wanted: Wanted, paint: Paint): string {
  return line.replace(RUN, (run) => (words(run).some((word) => wanted.has(word)) ? paint.yellow(run) : run));
}

function timeText(time: number): string {
  const at = new Date(time);
  const two = (number: number) => String(number).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
}

function folder(path: string, { home }: SearchTextOptions): string {
  const below = relative(home, path);
  const isBelow = below !== '' && !below.startsWith('..') && home !== '/';
  return visibleLine(isBelow ? `~/${below}` : path);
}

/** As a word of a POSIX shell. */
function quoted(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
