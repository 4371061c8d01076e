// Reads the command line against the table of flags. Whatever does not fit is refused with the nearest thing that
// would, and nothing has been started by then.

import { CrabError } from '../core/errors.ts';
import { suggestions } from '../engine/route.ts';
import { FLAGS, type Flag, type FlagName } from './flags.ts';

export interface Arguments {
  has(name: FlagName): boolean;
  /** The last value given; empty where an optional one was left out. */
  value(name: FlagName): string | undefined;
  values(name: FlagName): readonly string[];
  /** What is no flag, in order. */
  readonly words: readonly string[];
}

const BY_NAME: ReadonlyMap<string, Flag> = new Map(
  FLAGS.flatMap((flag: Flag) => [flag.name, ...(flag.also ?? [])].map((name) => [name, flag] as const)),
);

/** What is written otherwise, such as a sentence that begins with a dash, is a word. */
const FLAG_SHAPE = /^--?[A-Za-z][\w-]*(?:=|$)/;

/** Throws `CrabError usage`. */
export function readArguments(argv: readonly string[]): Arguments {
  const given = new Map<string, string[]>();
  const words: string[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (word === '--') {
      words.push(...argv.slice(at + 1));
      break;
    }
    if (!FLAG_SHAPE.test(word)) {
      words.push(word);
      continue;
    }
    const { flag, spelling, inline } = flagOf(word);
    if (flag.value === undefined) {
      if (inline !== undefined) throw usage(`${spelling} takes no value.`);
      add(given, flag, 'true', spelling);
    } else if (inline !== undefined) {
      add(given, flag, inline, spelling);
    } else {
      const next = argv[at + 1];
      if (next !== undefined && !isFlag(next)) {
        add(given, flag, next, spelling);
        at++;
      } else if (flag.optional === true) {
        add(given, flag, '', spelling);
      } else {
        throw usage(`${spelling} needs a value: ${spelling} ${flag.value}.`);
      }
    }
  }
  return {
    has: (name) => given.has(name),
    value: (name) => given.get(name)?.at(-1),
    values: (name) => given.get(name) ?? [],
    words,
  };
}

function flagOf(word: string): { readonly flag: Flag; readonly spelling: string; readonly inline?: string } {
  const equals = word.indexOf('=');
  const spelling = equals < 0 ? word : word.slice(0, equals);
  const name = spelling.replace(/^--?/, '');
  const flag = BY_NAME.get(name);
  const dashes = spelling.length - name.length;
  if (flag === undefined || (dashes === 1 && name.length > 2)) {
    const near = suggestions(name, BY_NAME.keys()).map((each) =>
      each.length > 2 ? `--${each}` : `-${each}`,
    );
    const hint = near.length > 0 ? `Did you mean ${near.join(' or ')}? ` : '';
    throw usage(`Unknown flag ${spelling}.`, `${hint}Run \`crab --help\` for the list.`);
  }
  return equals < 0 ? { flag, spelling } : { flag, spelling, inline: word.slice(equals + 1) };
}

/** A value may begin with a dash (a negative number, a list); a known flag in its place is a forgotten value. */
function isFlag(word: string): boolean {
  return /^--?[A-Za-z]/.test(word) && BY_NAME.has(word.replace(/^--?/, '').replace(/=.*$/s, ''));
}

function add(given: Map<string, string[]>, flag: Flag, value: string, spelling: string): void {
  if (value === '' && flag.filled === true)
    throw usage(`${spelling} needs a value: ${spelling} ${flag.value}.`);
  if (flag.choices !== undefined && !flag.choices.includes(value)) {
    const near = suggestions(value, flag.choices);
    const hint = near.length > 0 ? `Did you mean ${near[0]}? ` : '';
    throw usage(`${spelling} ${value} is not known.`, `${hint}Use one of ${flag.choices.join(', ')}.`);
  }
  const values = given.get(flag.name);
  if (values === undefined) given.set(flag.name, [value]);
  else if (flag.many === true) values.push(value);
  else if (flag.value !== undefined && values[0] !== value)
    throw usage(`${spelling} is given twice: ${values[0]} and ${value}.`);
}

function usage(message: string, hint?: string): CrabError {
  return new CrabError('usage', message, hint === undefined ? {} : { hint });
}

/** The same arguments with another value for one flag. */
export function withValue(args: Arguments, flag: FlagName, value: string): Arguments {
  return { ...args, value: (name) => (name === flag ? value : args.value(name)) };
}

/** A number in a range, or `CrabError usage`. */
export function numberOf(
  args: Arguments,
  name: FlagName,
  range: { readonly least: number; readonly most?: number; readonly integer: boolean },
): number | undefined {
  const text = args.value(name);
  if (text === undefined) return undefined;
  const number = text.trim() === '' ? Number.NaN : Number(text);
  const { least, most, integer } = range;
  const fits = Number.isFinite(number) && number >= least && (most === undefined || number <= most);
  if (fits && (!integer || Number.isInteger(number))) return number;
  const kind = integer ? 'a whole number' : 'a number';
  const span = most === undefined ? `of at least ${least}` : `from ${least} to ${most}`;
  throw usage(`--${name} ${text === '' ? '""' : text} is not ${kind} ${span}.`);
}

/** Refuses flags that cannot be meant together. */
export function conflict(args: Arguments, names: readonly FlagName[]): void {
  const both = names.filter((name) => args.has(name));
  if (both.length > 1)
    throw usage(
      `${both.map((name) => `--${name}`).join(' and ')} cannot be used together.`,
      'Choose one of them.',
    );
}

/** `--api-key-file`. Standard input is not taken for a file here: it belongs to the prompt. */
export function keyFileOf(args: Arguments): string | undefined {
  const path = args.value('api-key-file');
  if (path === '-')
    throw usage('--api-key-file - would read standard input, which belongs to the prompt.', 'Name a file.');
  return path;
}
