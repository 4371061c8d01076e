// Which file knows what a program does. A program that no file knows is unknown, and so is one that gets words
// which are only known when it runs, unless it is one that takes any text.

import { awkEffect } from './awk.ts';
import { findDanger, onlyShows } from './dangers.ts';
import { dangerous, type Effect, reads, unknown } from './effect.ts';
import { findEffect } from './find.ts';
import { gitEffect } from './git-commands.ts';
import { readOptions } from './options.ts';
import { type Pipeline, printedBy } from './outputs.ts';
import { readerEffect } from './readers.ts';
import { textWord, type Word } from './script.ts';
import { globMeansSecrets, isSecretFile } from './secret-files.ts';
import { sedEffect } from './sed.ts';
import { serviceEffect } from './services.ts';
import { shownEffect } from './shown.ts';
import { programName, unwrap } from './wrappers.ts';
import { projectEffect, tellsVersion, writerEffect } from './writers.ts';

/** `upstream` are the commands that print what it reads. */
export function programEffect(words: readonly Word[], upstream?: Pipeline): Effect {
  const [program, ...args] = words;
  if (program === undefined) return reads([], 'sets what only this shell sees');
  if (program.open !== undefined) return unknown('names its program by what is not known beforehand');
  if (program.glob && program.value !== '[') return unknown('names its program by a pattern');
  const name = programName(program);
  if (tellsVersion(name, program, args)) return reads([], 'tells its version');
  // What is not an option may be a file, as the key is whose fingerprint is asked for.
  if (onlyShows(name, args))
    return reads(
      args.filter(({ value }) => !value.startsWith('-')),
      'shows how things are',
    );
  const shown = shownEffect(name, args);
  if (shown !== undefined) return shown;
  if (name === 'xargs') return xargsEffect(args, upstream);
  if (name === 'fd' || name === 'fdfind') return fdEffect(args);
  if (filtersEnvironment(args, upstream)) return unknown('shows a variable that may hold a secret');
  const reader = readerEffect(name, args);
  if (reader !== undefined) return reader;
  if (args.some(({ open }) => open !== undefined)) return unknown('gets words that are not known beforehand');
  if (name === 'git') return gitEffect(args);
  if (name === 'sed') return sedEffect(args);
  if (/^[gmn]?awk$/.test(name)) return awkEffect(args);
  if (name === 'find') return findEffect(args, innerEffect);
  return (
    checkEffect(name, args) ??
    writerEffect(name, args) ??
    serviceEffect(name, args) ??
    projectEffect(name, program, args) ??
    unknown('runs a program that is not known to be harmless')
  );
}

/** Interpreters that are asked only whether a file could be read as a program, or to show one in another form. */
function checkEffect(name: string, args: readonly Word[]): Effect | undefined {
  const values = args.map(({ value }) => value);
  const [first, ...files] = args;
  if (args.some(({ glob }) => glob)) return undefined;
  if (/^(?:ba|da|z|k)?sh$/.test(name) && first?.value === '-n' && files.length === 1) return reads(files);
  if (/^(?:node|nodejs)$/.test(name) && /^(?:-c|--check)$/.test(first?.value ?? '') && files.length === 1)
    return reads(files);
  if (name === 'php' && first?.value === '-l' && files.length === 1) return reads(files);
  if (name === 'ruby' && first?.value === '-c' && files.length === 1) return reads(files);
  if (/^python[\d.]*$/.test(name) && values[0] === '-m' && values[1] === 'json.tool') {
    const list = '--sort-keys --no-ensure-ascii --json-lines --indent: --tab --no-indent --compact';
    const { operands, unknown: strange } = readOptions(args.slice(2), list);
    if (strange === undefined && operands.length <= 1) return reads(operands);
  }
  return undefined;
}

/** What a command does that another program runs, which only readers may do without a warning. */
function innerEffect(words: readonly Word[]): Effect {
  const unwrapped = unwrap(words);
  if (unwrapped.assignments.length > 0 || unwrapped.wrappers.includes('nohup'))
    return dangerous('runs a program on what it reads');
  const danger = findDanger(unwrapped.words, { piped: true, chained: true });
  if (danger !== undefined) return danger;
  const effect = programEffect(unwrapped.words);
  return effect.kind === 'read' ? effect : dangerous('runs a program on what it reads');
}

/** `env | grep TOKEN` asks for the secret by its name. */
function filtersEnvironment(args: readonly Word[], upstream: Pipeline | undefined): boolean {
  const shows = upstream?.some((words) => {
    const [program, ...rest] = unwrap(words).words;
    const plain = rest.every(({ value }) => value.startsWith('-'));
    return plain && /^(?:env|printenv|set|export|declare)$/.test(program?.value ?? '');
  });
  return shows === true && args.some(({ value }) => /secret|token|passw|cred|auth|key\b/i.test(value));
}

/** `fd` runs with `-x` what stands behind it, on each name that it finds. */
function fdEffect(args: readonly Word[]): Effect {
  const at = args.findIndex(({ value }) => /^(?:-[xX]|--exec(?:-batch)?)$/.test(value));
  const finds = readerEffect('fd', at === -1 ? args : args.slice(0, at)) ?? unknown('finds files');
  if (at === -1 || finds.kind !== 'read') return finds;
  const words = args.slice(at + 1);
  if (words.length === 0 || words.some(({ value }) => value === ';' || value === '\\;'))
    return dangerous('runs a program on what it finds');
  const sought = args
    .slice(0, at)
    .flatMap(({ value }, index) => [
      value,
      ...(/^-[a-zA-Z]*e$|^--extension$/.test(args[index - 1]?.value ?? '') ? [`x.${value}`] : []),
    ]);
  const secret = sought.some((value) => isSecretFile(value) || globMeansSecrets(value));
  const found: Word = { raw: '*', value: secret ? '.env*' : '*', quoted: false, glob: true };
  const places = words.some(({ value }) => /\{(?:\/?\.?|\/\/)\}/.test(value));
  const filled = words.map((word): Word => {
    if (word.value === '{}') return found;
    return /\{(?:\/?\.?|\/\/)\}/.test(word.value) ? { ...word, open: 'text', known: 0 } : word;
  });
  const effect = innerEffect(places ? filled : [...filled, found]);
  return effect.kind === 'read' ? reads([...finds.reads, ...effect.reads]) : effect;
}

const XARGS =
  '-0 -r -t -x -n: -L: -P: -I: -d: -s: -E: --null --no-run-if-empty --verbose --exit --max-args: --max-lines? --max-procs: --replace? --delimiter: --max-chars:';

function xargsEffect(args: readonly Word[], upstream: Pipeline | undefined): Effect {
  const { operands, seen, unknown: strange } = readOptions(args, XARGS, true);
  if (strange !== undefined) return dangerous('runs a program on what it reads');
  const program = operands.length === 0 ? [textWord('echo')] : operands;
  const delimiter = (seen.get('-d') ?? seen.get('--delimiter'))?.value;
  if (delimiter !== undefined && delimiter !== '\\n' && delimiter !== '\n')
    return dangerous('runs a program on what it reads');
  const [printed] = printedBy(upstream, { folders: [] }) ?? [];
  const input: Word =
    printed !== undefined
      ? { raw: printed.text, value: printed.text, quoted: false, glob: printed.glob }
      : { raw: '$input', value: '$input', quoted: false, glob: false, open: 'words', known: 0 };
  const place = seen.get('-I')?.value ?? (seen.has('--replace') ? '{}' : undefined);
  if (place === undefined) {
    // Otherwise a blank in a name begins another word, which may look like an option.
    const whole = delimiter !== undefined || seen.has('-0') || seen.has('--null');
    const split =
      input.glob && !whole ? { ...input, raw: '*', value: input.value.replace(/^\.\//, '') } : input;
    return innerEffect([...program, ...((whole ? undefined : literalWords(upstream)) ?? [split])]);
  }
  // A word that holds more than the place is only known as far as that.
  const filled = program.map((word): Word => {
    if (word.value === place) return input;
    return word.value.includes(place) ? { ...word, open: 'text', known: word.value.indexOf(place) } : word;
  });
  return innerEffect(filled);
}

/** The words that `echo` or `printf` hands over as they stand there. */
function literalWords(upstream: Pipeline | undefined): readonly Word[] | undefined {
  const [program, ...args] = upstream?.length === 1 ? (upstream[0] ?? []) : [];
  const isList = program?.value === 'printf' && /^%s(?:\\n|\\0)$/.test(args[0]?.value ?? '');
  if (program?.value !== 'echo' && !isList) return undefined;
  const words = isList ? args.slice(1) : args;
  // `xargs` has quotes and escapes of its own.
  const plain =
    !/^-[neE]+$/.test(words[0]?.value ?? '') &&
    words.every(({ value, open, glob }) => open === undefined && !glob && /^[\w./@:+,=-]+$/.test(value));
  return plain && words.length > 0 ? words : undefined;
}
