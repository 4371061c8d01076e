// `crons.toml` as text. Entries are added and taken out as blocks of lines, so that a person's comments and order stay;
// what is already there and cannot be understood is an error, never something to write over.

import { CrabError, messageOf } from '../../core/errors.ts';
import type { CronEntry, NewCron } from './cron-entry.ts';

const HEADER = /^\s*\[\[\s*cron\s*\]\]\s*(?:#.*)?$/;
const ANY_HEADER = /^\s*\[/;

/** Throws `CrabError` (`settings-invalid`) that names the file and the entry. */
export async function readCrons(path: string, text: string): Promise<readonly CronEntry[]> {
  const { parse } = await import('smol-toml');
  let table: Readonly<Record<string, unknown>>;
  try {
    table = parse(text);
  } catch (cause) {
    throw new CrabError('settings-invalid', `${path} is no TOML: ${messageOf(cause).split('\n')[0]}.`, {
      cause,
    });
  }
  const { cron = [] } = table;
  if (!Array.isArray(cron))
    throw new CrabError('settings-invalid', `${path}: cron must be a list of tables, as in [[cron]].`);
  const entries = cron.map((each, index) => entryIn(path, Object(each), index));
  const ids = new Set(entries.map(({ id }) => id));
  if (ids.size < entries.length)
    throw new CrabError('settings-invalid', `${path}: two entries have the same id.`);
  return entries;
}

function entryIn(path: string, value: Readonly<Record<string, unknown>>, index: number): CronEntry {
  const fault = (what: string) =>
    new CrabError('settings-invalid', `${path}: entry ${index + 1} of cron ${what}.`);
  const text = (key: string) => {
    const given = value[key];
    if (given !== undefined && typeof given !== 'string') throw fault(`has a ${key} that is no text`);
    return given;
  };
  const { id, once = false } = value;
  if (typeof id !== 'number' || !Number.isSafeInteger(id) || id < 1)
    throw fault('has no id, a whole number from 1');
  if (typeof once !== 'boolean') throw fault('has a once that is neither true nor false');
  const schedule = text('schedule');
  if (schedule === undefined) throw fault('has no schedule');
  const optional = {
    prompt: text('prompt'),
    skill: text('skill'),
    cwd: text('cwd'),
    quietStart: text('quiet_start'),
    quietEnd: text('quiet_end'),
    tz: text('tz'),
  };
  const given = Object.fromEntries(Object.entries(optional).filter(([, each]) => each !== undefined));
  return { id, schedule, agent: text('agent') ?? 'crab', sender: text('sender') ?? 'cron', once, ...given };
}

/** The text with an entry at its end. */
export function withCron(text: string, entry: CronEntry): string {
  const before = text === '' ? '' : `${text.replace(/\n*$/, '')}\n\n`;
  return `${before}${blockOf(entry)}`;
}

/** The text without the entry that stands at that place among the entries. */
export function withoutCron(text: string, index: number): string {
  const lines = text.split('\n');
  const headers = lines.flatMap((line, at) => (HEADER.test(line) ? [at] : []));
  const start = headers[index];
  if (start === undefined) return text;
  const next = lines.findIndex((line, at) => at > start && ANY_HEADER.test(line));
  const end = next === -1 ? lines.length : beforeComments(lines, start, next);
  return [...lines.slice(0, start), ...lines.slice(end)]
    .join('\n')
    .replace(/^\n+/, '')
    .replace(/\n*$/, '\n')
    .replace(/^\n$/, '');
}

/** A comment right above a header belongs to that one. */
function beforeComments(lines: readonly string[], start: number, header: number): number {
  let at = header;
  while (at > start + 1 && /^\s*#/.test(lines[at - 1] ?? '')) at--;
  return at;
}

function blockOf(entry: CronEntry & NewCron): string {
  const { id, schedule, prompt, skill, agent, sender, cwd, quietStart, quietEnd, tz, once } = entry;
  const pairs: readonly (readonly [string, string | number | boolean | undefined])[] = [
    ['id', id],
    ['schedule', schedule],
    ['prompt', prompt],
    ['skill', skill],
    ['agent', agent],
    ['sender', sender],
    ['cwd', cwd],
    ['quiet_start', quietStart],
    ['quiet_end', quietEnd],
    ['tz', tz],
    ['once', once ? true : undefined],
  ];
  const lines = pairs.flatMap(([key, value]) =>
    value === undefined ? [] : [`${key} = ${tomlValue(value)}`],
  );
  return ['[[cron]]', ...lines, ''].join('\n');
}

/** A basic string of TOML escapes as JSON does, save for DEL, which JSON leaves as it is. */
function tomlValue(value: string | number | boolean): string {
  return JSON.stringify(typeof value === 'string' ? value.toWellFormed() : value).replaceAll(
    '\x7f',
    '\\u007f',
  );
}
