// Programs that write where their arguments say, and programs that run the project's own code. Both change
// things in the ordinary way; what they could destroy for good is in `dangers.ts`, which is asked first.

import { type Effect, outwardPaths, reads, unknown, unknownOption, writes } from './effect.ts';
import { readOptions } from './options.ts';
import { isHarmlessDevice } from './path-scope.ts';
import { textWord, type Word } from './script.ts';

const COPY =
  '-a -d -f -i -L -n -p -P -R -r -s -T -u -v -x -H -c -t> --archive --force --interactive --no-clobber --recursive --update? --verbose ' +
  '--preserve? --no-preserve: --parents --target-directory> --no-target-directory --dereference --no-dereference --symbolic-link';
const LINK =
  '-s -f -n -i -v -r -T -t> --symbolic --force --no-dereference --interactive --verbose --relative --no-target-directory';

const WRITERS: Readonly<Record<string, { readonly options: string; readonly how: string }>> = {
  mkdir: { options: '-p -v -m: --parents --verbose --mode:', how: 'makes folders' },
  rmdir: { options: '-p -v --parents --verbose --ignore-fail-on-non-empty', how: 'removes empty folders' },
  touch: {
    options: '-a -c -h -m -t: -d: -r@ --no-create --date: --reference@ --time:',
    how: 'makes or dates files',
  },
  rm: { options: '-i -I -v -d --verbose --dir --interactive?', how: 'removes files' },
  truncate: { options: '-c -s: -r@ --no-create --size: --reference@', how: 'cuts files' },
};

export function writerEffect(program: string, args: readonly Word[]): Effect | undefined {
  if (program === 'tee') return teeEffect(args);
  if (program === 'cp' || program === 'mv') return copyEffect(program, args, COPY);
  if (program === 'ln') return copyEffect(program, args, LINK);
  const writer = WRITERS[program];
  if (writer === undefined) return undefined;
  const { operands, reads: named, unknown: strange } = readOptions(args, writer.options);
  if (strange !== undefined) return unknownOption(program, strange);
  if (operands.some(({ glob }) => glob)) return unknown('writes to whatever a pattern matches');
  return writes(operands, writer.how, named);
}

function teeEffect(args: readonly Word[]): Effect {
  const { operands, unknown: strange } = readOptions(
    args,
    '-a -i -p --append --ignore-interrupts --output-error?',
  );
  if (strange !== undefined) return unknownOption('tee', strange);
  if (operands.some(({ glob }) => glob)) return unknown('writes to whatever a pattern matches');
  if (operands.every(({ value }) => isHarmlessDevice(value))) return reads([]);
  return { ...writes([], 'writes what it reads to a file'), streams: operands };
}

function copyEffect(program: string, args: readonly Word[], list: string): Effect {
  const { operands, writes: folders, unknown: strange } = readOptions(args, list);
  if (strange !== undefined) return unknownOption(program, strange);
  if (operands.some(({ glob }) => glob)) return unknown('writes to whatever a pattern matches');
  const sources = folders.length > 0 || operands.length === 1 ? operands : operands.slice(0, -1);
  const target = folders[0] ?? (operands.length === 1 ? textWord('.') : operands.at(-1));
  if (target === undefined || sources.length === 0) return unknown(`does not say what to ${program}`);
  const names = sources.map(({ value }) => value.replace(/\/+$/, '').split('/').at(-1) ?? '');
  if (names.some((name) => name === '.' || name === '..' || name === ''))
    return unknown('writes everything that a folder holds');
  // The target may be a folder, and then it is the file in it that is written.
  const landings = names.map((name) => ({
    ...target,
    value: `${target.value}/${name}`,
    raw: `${target.raw}/${name}`,
  }));
  const moved = program === 'mv' ? sources : [];
  return { ...writes([target, ...moved], `writes files with ${program}`, sources), landings };
}

const PROJECT = 'runs a program of this project';
const RUNNERS = new Set(
  (
    'make gmake ninja pytest tox nox jest vitest mocha ava tap tsc eslint prettier biome oxlint ruff black mypy pyright flake8 isort pylint ' +
    'gradle mvn rake rspec rubocop phpunit mix ctest cmake tsx ts-node'
  ).split(' '),
);
const RUNNING_SUBCOMMANDS: Readonly<Record<string, string>> = {
  npm: 'test t tst run run-script start stop restart',
  pnpm: 'test t run start',
  yarn: 'test run start build lint',
  bun: 'test run',
  deno: 'test run task lint fmt check',
  cargo: 'test build check clippy fmt run bench doc nextest',
  go: 'test build vet run fmt',
  dotnet: 'test build run format',
  swift: 'test build run',
  zig: 'test build run fmt',
  bundle: 'exec',
};
const INTERPRETERS = /^(?:python[\d.]*|node|nodejs|ruby|perl|php|bash|sh|dash|zsh|ksh|lua|Rscript)$/;
const PYTHON_MODULES = new Set([
  'pytest',
  'unittest',
  'mypy',
  'ruff',
  'black',
  'flake8',
  'pylint',
  'isort',
  'compileall',
  'doctest',
]);

/** Undefined when it is not a program of the project. `name` has lost its folder; `word` still shows it. */
export function projectEffect(name: string, word: Word, args: readonly Word[]): Effect | undefined {
  if (!runsProject(name, word, args)) return undefined;
  const script = INTERPRETERS.test(name)
    ? args.filter(({ value }) => !value.startsWith('-')).slice(0, 1)
    : [];
  const program = word.value.includes('/') && name === word.value ? [word] : script;
  return writes([], PROJECT, [...program, ...outwardPaths(args)]);
}

function runsProject(name: string, word: Word, args: readonly Word[]): boolean {
  const { value } = word;
  if (value.includes('/') && !value.startsWith('/') && !value.startsWith('~') && !word.glob) return true;
  const first = args[0]?.value ?? '';
  if (INTERPRETERS.test(name)) {
    if (name.startsWith('python') && first === '-m') return PYTHON_MODULES.has(args[1]?.value ?? '');
    if (name === 'node' && first === '--test') return true;
    return first !== '' && !first.startsWith('-') && args[0]?.glob === false;
  }
  const subcommands = RUNNING_SUBCOMMANDS[name];
  if (subcommands !== undefined) return subcommands.split(' ').includes(first);
  return RUNNERS.has(name);
}

/** To the shell itself these are no options: what stands there is run, or looked for as a file. */
const TAKES_NO_OPTIONS =
  /^(?:eval|source|\.|builtin|command|coproc|time|let|test|\[|:|echo|exit|return|export|alias|sudo|doas|su|pkexec)$/;
const SHORT_VERSIONS: Readonly<Record<string, RegExp>> = {
  '-V': /^(?:python3?|ruby|ssh|curl|tmux|mypy|make|tar|pip3?|gawk|rg|fd|ansible)$/,
  '-v': /^(?:node|npm|pnpm|yarn|bun|ruby|perl|php|tsc|gcc|g\+\+|clang|java|make|lua|nginx)$/,
  version: /^(?:go|docker|terraform|helm|openssl|zig|hugo|minikube|kind)$/,
  '-version': /^(?:java|javac|scala|kotlin|ant|sqlite3|ffmpeg|ffprobe|convert|identify|magick)$/,
  '-dumpversion': /^(?:gcc|g\+\+|clang|cc)$/,
  '-dumpmachine': /^(?:gcc|g\+\+|clang|cc)$/,
};

/** They run a file of the project, or fetch another version of themselves, before they say anything. */
const RUNS_PROJECT_FIRST =
  /^(?:yarn|pnpm|pytest|py\.test|tox|flake8|flask|rails|jekyll|pod|fastlane|bundle|mix|lein|sbt|mvn|jest|ava|webpack|lerna|gulp|grunt|ng|nx|turbo|pdm|poetry)$/;

/** A program of the search path that is asked for nothing but its version or its usage. */
export function tellsVersion(name: string, word: Word, args: readonly Word[]): boolean {
  const [only, ...more] = args;
  if (only === undefined || more.length > 0 || only.open !== undefined || only.glob) return false;
  if (!/^[a-z][\w.+-]*$/i.test(word.value) || TAKES_NO_OPTIONS.test(name)) return false;
  if (RUNS_PROJECT_FIRST.test(name)) return false;
  const { value } = only;
  if (value === '--version' || value === '--help') return true;
  return SHORT_VERSIONS[value]?.test(name) === true;
}
