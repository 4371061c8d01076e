// Builtins of bash that print, test, or change nothing but the shell that runs the text. Those that run other code (`eval`,
// `source`, `trap`, `exec`) are in `dangers.ts`, and names that matter to other programs are judged as assignments are.

import { isPowerful, judgeAssignment } from './dangers.ts';
import { dangerous, type Effect, reads, unknown, unknownOption } from './effect.ts';
import { readOptions } from './options.ts';
import { textWord, type Word } from './script.ts';
import { mayBeSecret } from './variables.ts';

const NAME = /^[A-Za-z_]\w*$/;
const SHELL_ONLY = 'changes only this shell';

export const BUILTINS: Readonly<Record<string, (args: readonly Word[]) => Effect>> = {
  set(args) {
    // What stands behind it is what `$1` and so on hold from now on.
    if (args[0]?.value === '--') return reads([], SHELL_ONLY);
    const harmless = args.every(
      ({ value, open }, index) =>
        open === undefined &&
        (/^[-+][eufxv]+o?$/.test(value) ||
          /^[-+]o$/.test(value) ||
          (/^[-+][eufxv]*o$/.test(args[index - 1]?.value ?? '') &&
            /^(?:pipefail|errexit|nounset|noglob|xtrace|verbose)$/.test(value))),
    );
    // Alone it prints the variables, as `env` does.
    return harmless ? reads([], SHELL_ONLY) : unknown('sets the arguments of the shell');
  },
  export: (args) => declared('export', '-p -n', args),
  // With `-i` whatever is assigned later would be computed, and computing can run what a variable holds; with `-l` and
  // `-u` it would be another text than the one that is written.
  declare: (args) => declared('declare', '-p -f -F -x -r -g -a -A', args),
  typeset: (args) => declared('typeset', '-p -f -F -x -r -g -a -A', args),
  local: (args) => declared('local', '-r -a -A', args),
  readonly: (args) => declared('readonly', '-p -a -A', args),
  read(args) {
    const { operands, seen, unknown: strange } = readOptions(args, '-r -s -e -a: -d: -n: -N: -p: -t: -u:');
    if (strange !== undefined) return unknownOption('read', strange);
    const list = seen.get('-a');
    return named(list === undefined ? operands : [...operands, list]);
  },
  mapfile: (args) => filled('mapfile', args),
  readarray: (args) => filled('readarray', args),
  unset(args) {
    const { operands, unknown: strange } = readOptions(args, '-v -f');
    return strange === undefined ? named(operands) : unknownOption('unset', strange);
  },
  // Their words are text, but for a pattern, which tells the names in a folder.
  echo: (args) => reads(args.filter(({ glob }) => glob)),
  printf(args) {
    const [option, name] = args;
    if (option?.value === '-v' && name !== undefined) return named([name]);
    return option?.value.startsWith('-v') === true && option.open === undefined
      ? unknown('evaluates the name of a variable')
      : reads(args.filter(({ glob }) => glob));
  },
  test: (args) => withoutVariable(args, pathsOfTest(args)),
  '[': (args) => withoutVariable(args, pathsOfTest(args)),
  '[[': (args) =>
    args.some(({ value }) => /^-(?:eq|ne|lt|le|gt|ge)$/.test(value)) && !args.every(isNumberOrSign)
      ? unknown('compares what may not be a number')
      : withoutVariable(args, pathsOfTest(args)),
  pushd(args) {
    const [folder, ...more] = args;
    return folder === undefined || more.length > 0 || /^[-+]/.test(folder.value)
      ? unknown('changes to a folder that is not named')
      : reads(args);
  },
  popd: (args) => (args.length === 0 ? reads([]) : unknown('changes to a folder that is not named')),
  cd(args) {
    if (args.some(({ value }) => value.startsWith('-')))
      return unknown('changes to a folder that is not named');
    return reads(args.length === 0 ? [{ raw: '~', value: '~', quoted: false, glob: false }] : args);
  },
  command(args) {
    return /^-[vV]$/.test(args[0]?.value ?? '')
      ? reads([])
      : unknown('runs another program in a way that is not known');
  },
  exit: numbers,
  return: numbers,
  break: numbers,
  continue: numbers,
  shift: numbers,
  wait: numbers,
  times: numbers,
  jobs: (args) => (args.every(({ value }) => /^-[lprs]+$/.test(value)) ? reads([]) : unknown('starts a job')),
  umask: (args) =>
    args.every(({ value }) => /^-[Sp]+$/.test(value)) ? reads([]) : unknown('changes the mask of new files'),
  ulimit: (args) =>
    args.every(({ value }) => /^-[HSacdflmnstuv]+$/.test(value)) ? reads([]) : unknown('changes a limit'),
  alias: (args) =>
    args.every(({ value, open }) => open === undefined && /^(?:-p|\w+)$/.test(value))
      ? reads([])
      : unknown('gives a command another name'),
  dirs: (args) =>
    args.every(({ value }) => /^-[lpv]+$/.test(value)) ? reads([]) : unknown('changes the list of folders'),
  getopts: (args) => named(args.slice(1, 2)),
  // It computes, and computing can run what a variable holds.
  let: (args) =>
    args.length > 0 && args.every(({ value, open }) => open === undefined && SUM.test(value))
      ? named(args.map(({ value }) => textWord(/^\w+/.exec(value)?.[0] ?? '')))
      : unknown('computes with a variable that is not known to be a number'),
  compgen: (args) =>
    /^(?:-[abckv]|-A (?:alias|builtin|command|function|keyword|variable))(?: \w+)?$/.test(textOf(args))
      ? reads([])
      : unknown('runs what completes a word'),
  history: (args) =>
    args.every(({ value }) => /^\d+$/.test(value)) ? reads([]) : unknown('changes the history of the shell'),
  help: () => reads([]),
  shopt: (args) =>
    args.every(({ value, open }) => open === undefined && /^(?:-[pqo]+|[a-z_]+)$/.test(value)) ||
    /^-[su](?: (?:nullglob|failglob|globstar))+$/.test(textOf(args))
      ? reads([])
      : unknown('changes how the shell reads what follows'),
};

function numbers(args: readonly Word[]): Effect {
  return args.every(({ value, open }) => open === undefined && /^\d+$/.test(value))
    ? reads([], SHELL_ONLY)
    : unknown('gets something that is no number');
}

/** An assignment of a number, or of numbers that are put together. */
const SUM = /^[A-Za-z_]\w*[-+*]?=-?\d+(?:[-+*/%]\d+)*$/;

function textOf(args: readonly Word[]): string {
  return args.every(({ open, glob }) => open === undefined && !glob)
    ? args.map(({ value }) => value).join(' ')
    : '\0';
}

function declared(program: string, list: string, args: readonly Word[]): Effect {
  const {
    operands,
    seen,
    unknown: strange,
  } = readOptions(
    args.map((word) => (/^[A-Za-z_]\w*\+?=/.test(word.value) ? textWord(word.value) : word)),
    list,
  );
  if (strange !== undefined) return unknownOption(program, strange);
  // A text in parentheses becomes a list, and what stands in it is expanded once more. A list in the text itself ends in
  // the parenthesis.
  const isList = (value: string) => /^\w+\+?=\([\s\S]/.test(value);
  const lists = seen.has('-a') || seen.has('-A');
  if (args.some(({ value, open }) => isList(value) || (lists && open !== undefined)))
    return unknown('makes a list of a text');
  const assigns = operands.some(({ value }) => value.includes('='));
  if (!assigns && ['-p', '-f', '-F'].some((name) => seen.has(name)))
    return operands.every(({ value, open }) => open === undefined && !mayBeSecret(value))
      ? reads([], 'shows what this shell knows')
      : unknown('shows a variable that may hold a secret');
  const powerful = operands.find((word) => word.value.includes('=') && judgeAssignment(word) === 'dangerous');
  if (powerful !== undefined)
    return dangerous(`sets ${powerful.value.split(/\+?=/)[0]}, which can change what runs`);
  // `export PAGER=cat` is as harmless as the value, where that is known.
  const judged = operands.filter((word) => judgeAssignment(word) !== 'harmless');
  return named(judged.map(({ value }) => textWord(value.replace(/\+?=[\s\S]*$/, ''))));
}

function filled(program: string, args: readonly Word[]): Effect {
  const { operands, unknown: strange } = readOptions(args, '-t -n: -s: -d: -O: -u:');
  return strange === undefined ? named(operands) : unknownOption(program, strange);
}

/** What setting variables of these names does. */
function named(words: readonly Word[]): Effect {
  const powerful = words.find(({ value }) => isPowerful(value));
  if (powerful !== undefined) return dangerous(`sets ${powerful.value}, which can change what runs`);
  return words.every(({ value, open }) => open === undefined && NAME.test(value))
    ? reads([], SHELL_ONLY)
    : unknown('sets a variable whose name is not plain');
}

/** `[[` computes what stands beside `-eq` and its kin, and computing can run what a variable holds. */
function isNumberOrSign({ value, open }: Word): boolean {
  return open === undefined && /^(?:-?\d+|-[a-z]+|[^\w]+)$/.test(value);
}

/** What a test asks the file system about; all else that it compares is text. */
function pathsOfTest(args: readonly Word[]): readonly Word[] {
  const asked = (word: Word | undefined) =>
    word !== undefined && /^-(?:[a-hkprstuwxGLNOS]|nt|ot|ef)$/.test(word.value);
  const compares = (word: Word | undefined) => word !== undefined && /^-(?:nt|ot|ef)$/.test(word.value);
  return args.filter(
    (word, at) => word.value.includes('/') && (asked(args[at - 1]) || compares(args[at + 1])),
  );
}

/** `-v` takes the name of a variable, and bash evaluates what stands in its subscript, quoted or not. */
function withoutVariable(args: readonly Word[], paths: readonly Word[]): Effect {
  const names = args.filter((_, at) => /^-[vR]$/.test(args[at - 1]?.value ?? ''));
  const plain = names.every(({ value, open }) => open === undefined && /^[A-Za-z_]\w*$/.test(value));
  const glued = args.some(({ value, open }) => /^-[vR]./.test(value) && open === undefined);
  return glued || !plain || /^-[vR]$/.test(args.at(-1)?.value ?? '')
    ? unknown('evaluates the name of a variable')
    : reads(paths);
}
