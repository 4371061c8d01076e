// Readers of values: each turns what the parser made into what the settings want, or says where the file is wrong.
// They are put together in the schema, so that a key is one line there.

import { CrabError } from '../../core/errors.ts';

/** Where a value stands, for errors, and what it may refer to. */
export interface Context {
  /** The file. */
  readonly path: string;
  readonly text: string;
  /** Keys from the top of the file. */
  readonly at: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly homeFolder: string;
}

export type Reader<T> = (value: unknown, context: Context) => T;

export const text: Reader<string> = (value, context) => {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw wrong(context, 'must be a text in quotes that is not empty');
};

/** A text in which `${NAME}` stands for a variable of the environment, and `${NAME:-other}` for one with a default. */
export const template: Reader<string> = (value, context) =>
  text(value, context).replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, other?: string) => {
    const found = context.env[name];
    if (found !== undefined && found !== '') return found;
    if (other !== undefined) return other;
    throw wrong(context, `names the variable ${name}, which is not set`);
  });

/** A file, by its whole path, from the home folder (`~/`), or from the folder of the settings file. */
export const file: Reader<string> = (value, context) => {
  const path = template(value, context);
  if (path.startsWith('~/')) return `${context.homeFolder}${path.slice(1)}`;
  if (/^(?:[/\\]|[A-Za-z]:[/\\])/.test(path)) return path;
  return `${context.path.replace(/[^/\\]*$/, '')}${path}`;
};

/** A shell that takes no word for more than bash does, by whose grammar commands are judged. */
export const shell: Reader<string> = (value, context) => {
  const path = file(value, context);
  if (/[/\\](?:bash|sh|dash|ash)(?:\.exe)?$/.test(path)) return path;
  throw wrong(
    context,
    'must be the path of a bash, sh, dash or ash: commands are judged by what they mean there',
  );
};

export const flag: Reader<boolean> = (value, context) => {
  if (typeof value === 'boolean') return value;
  throw wrong(context, 'must be true or false');
};

/** A whole number from `least` on, up to `most`. */
export function count(least: number, most?: number): Reader<number> {
  return (value, context) => {
    const isCount = typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
    if (isCount && value <= (most ?? Number.POSITIVE_INFINITY)) return value;
    const bounds = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
    throw wrong(context, `must be a whole number ${bounds}`);
  };
}

/** A number from 0 on. */
export const amount: Reader<number> = (value, context) => {
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw wrong(context, 'must be a number that is not negative');
};

/** A part of a whole: more than nothing, at most all of it. */
export const share: Reader<number> = (value, context) => {
  if (typeof value === 'number' && value > 0 && value <= 1) return value;
  throw wrong(context, 'must be a number above 0 and up to 1, as in 0.8');
};

/** Seconds in the file, milliseconds in the settings. */
export const seconds: Reader<number> = (value, context) => Math.round(amount(value, context) * 1000);

/** Minutes in the file, milliseconds in the settings; as long as a timer can be. */
export const minutes: Reader<number> = (value, context) => {
  const ms = Math.round(amount(value, context) * 60_000);
  if (ms > 0 && ms < 2 ** 31) return ms;
  throw wrong(context, 'must be more than 0 and less than 35791 minutes');
};

export function choice<T extends string>(...choices: readonly T[]): Reader<T> {
  return (value, context) => {
    const found = choices.find((one) => one === value);
    if (found !== undefined) return found;
    throw wrong(context, `must be one of ${choices.map((one) => JSON.stringify(one)).join(', ')}`);
  };
}

export function list<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, context) => {
    if (!Array.isArray(value)) throw wrong(context, 'must be a list, as in ["one", "two"]');
    return value.map((one, at) => read(one, below(context, String(at))));
  };
}

export function either<A, B>(
  first: Reader<A>,
  second: Reader<B>,
  isFirst: (value: unknown) => boolean,
): Reader<A | B> {
  return (value, context) => (isFirst(value) ? first(value, context) : second(value, context));
}

/** A table whose keys are the person's own. */
export function named<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value, context) => {
    const entries = Object.entries(tableOf(value, context));
    return Object.fromEntries(entries.map(([key, one]) => [key, read(one, below(context, key))]));
  };
}

/** A table that somebody else gives its meaning. */
export const anyTable: Reader<Readonly<Record<string, unknown>>> = tableOf;

type Fields = Readonly<Record<string, readonly [target: string, read: Reader<unknown>]>>;

/** A table of known keys: each with its name in the settings and its reader. `required` are keys of the file. */
export function table<T>(fields: Fields, required: readonly string[] = []): Reader<T> {
  return (value, context) => {
    const given = tableOf(value, context);
    const result: Record<string, unknown> = {};
    for (const [key, one] of Object.entries(given)) {
      const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
      if (field === undefined) throw unknownKey(below(context, key), Object.keys(fields));
      result[field[0]] = field[1](one, below(context, key));
    }
    for (const key of required) if (!Object.hasOwn(given, key)) throw wrong(context, `needs ${key}`);
    return result as T;
  };
}

/** `read`, with `sources`: where each of the keys stands, as `FILE:LINE`. */
export function located<T extends object>(
  read: Reader<T>,
): Reader<T & { readonly sources: Readonly<Record<string, string>> }> {
  return (value, context) => {
    const found = read(value, context);
    const keys = Object.keys(tableOf(value, context));
    return { ...found, sources: Object.fromEntries(keys.map((key) => [key, place(below(context, key))])) };
  };
}

function tableOf(value: unknown, context: Context): Readonly<Record<string, unknown>> {
  const isTable =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
  if (isTable) return value as Readonly<Record<string, unknown>>;
  throw wrong(context, 'must be a table');
}

function below(context: Context, key: string): Context {
  return { ...context, at: [...context.at, key] };
}

export function wrong(context: Context, what: string): CrabError {
  const name = context.at.map((key) => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key))).join('.');
  return new CrabError('settings-invalid', `${place(context)}: ${name} ${what}.`);
}

function unknownKey(context: Context, known: readonly string[]): CrabError {
  const key = context.at.at(-1) ?? '';
  const where = context.at.length > 1 ? ` in ${context.at.slice(0, -1).join('.')}` : '';
  const text = `${place(context)}: there is no setting ${JSON.stringify(key)}${where}.`;
  return new CrabError('settings-invalid', text, { hint: `There is ${known.join(', ')}.` });
}

/** `FILE:LINE` of one text in a list, which may go over several lines. */
export function placeOfText(context: Context, value: string): string {
  const key = place(context);
  const first = Number(/:(\d+)$/.exec(key)?.[1] ?? 1);
  const lines = context.text.split(/\r?\n/);
  const spelled = [JSON.stringify(value), `'${value}'`];
  const at = lines.findIndex(
    (line, number) => number >= first - 1 && spelled.some((text) => line.includes(text)),
  );
  return at < 0 ? key : `${context.path}:${at + 1}`;
}

/** The parser keeps no positions: the line is the first, below the header of its table, that sets the key. */
function place({ path, text, at }: Context): string {
  const lines = text.split(/\r?\n/);
  const names = at.filter((key) => !/^\d+$/.test(key));
  const key = names.at(-1);
  if (key === undefined) return path;
  const header = lines.findIndex((line) => headerOf(line) === names.slice(0, -1).join('.'));
  const sets = new RegExp(`^\\s*(?:[\\w."'-]+\\.)?["']?${key.replace(/[^\w-]/g, '\\$&')}["']?\\s*=`);
  const own = lines.findIndex((line, number) => number > header && sets.test(line));
  const found = own >= 0 ? own : lines.findIndex((line) => headerOf(line) === names.join('.'));
  return found < 0 ? path : `${path}:${found + 1}`;
}

function headerOf(line: string): string | undefined {
  const [, name] = /^\s*\[\[?([^\]]+)\]\]?/.exec(line) ?? [];
  return name?.replace(/["'\s]/g, '');
}
