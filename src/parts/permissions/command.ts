// What a command line does: its simple commands, each with an effect, the reason for it and the paths it
// touches. It errs in one direction only. What is not known program by program and option by option is
// `unknown`, and a text with anything that expands is `unknown` as a whole, though still searched for danger.

import { findDanger, judgeAssignment } from './dangers.ts';
import { dangerous, type Effect, type EffectKind, pathIn, reads, unknown } from './effect.ts';
import { awkEffect, findEffect, sedEffect } from './filters.ts';
import { gitEffect, gitSubcommand } from './git-commands.ts';
import { isHarmlessDevice } from './path-scope.ts';
import { readerEffect } from './readers.ts';
import { type Script, type SimpleCommand, tokenize, type Word } from './tokenize.ts';
import { programName, type Unwrapped, unwrap } from './wrappers.ts';
import { projectEffect, tellsVersion, writerEffect } from './writers.ts';

export interface CommandPart {
  /** As written, with single blanks, without redirections and without the programs that only run another. */
  readonly text: string;
  /** The same with assignments and those programs. */
  readonly wholeText: string;
  /** Every text under which a rule that restricts may mean this part. */
  readonly names: readonly string[];
  readonly effect: EffectKind;
  /** The end of a sentence that begins with the text. */
  readonly reason: string;
  /** Absolute paths, links not resolved and `..` kept, because they mean something only together. */
  readonly reads: readonly string[];
  readonly writes: readonly string[];
  /** Written with what is printed, by a redirection or `tee`. */
  readonly streams: readonly string[];
  /** Written if the folder named for them exists. */
  readonly landings: readonly string[];
  /** Whatever its words might name, for rules that restrict paths where the part is not understood. */
  readonly mentions: readonly string[];
  /** What stands for files that are not named: patterns of the shell as they are written, `*` for a whole folder. */
  readonly globs: readonly string[];
}

export interface Understanding {
  readonly parts: readonly CommandPart[];
  /** Why the text as a whole cannot be judged, as the end of a sentence: it … */
  readonly doubt: string | undefined;
}

export interface Circumstances {
  /** Absolute; where relative paths begin. */
  readonly cwd: string;
  readonly home?: string;
}

/** `sh -c 'sh -c …'` is read this deep. */
const MAX_NESTED_SHELLS = 3;

export function understandCommand(text: string, circumstances: Circumstances): Understanding {
  return understand(text, circumstances, {
    folders: [circumstances.cwd],
    nested: 0,
    piped: false,
    names: [],
  });
}

interface Level {
  readonly folders: readonly string[];
  readonly nested: number;
  readonly piped: boolean;
  /** What runs this text, for rules that restrict. */
  readonly names: readonly string[];
}

function understand(text: string, circumstances: Circumstances, level: Level): Understanding {
  const script = tokenize(text);
  const places = foldersOf(script, level.folders, circumstances);
  const chained = script.commands.some(({ before }) => before !== '' && before !== '|');
  const parts: CommandPart[] = [];
  let doubt = script.doubt;
  let pipeSeen = level.piped;
  for (const [index, command] of script.commands.entries()) {
    pipeSeen ||= command.before === '|';
    const piped =
      script.doubt === undefined
        ? command.before === '|' || (index === 0 && level.piped)
        : pipeSeen || index > 0;
    const folders = places[index] ?? level.folders;
    const unwrapped = unwrap(command.words);
    const inner = level.nested < MAX_NESTED_SHELLS ? shellText(unwrapped.words) : undefined;
    if (inner !== undefined) {
      const names = [...level.names, ...namesOf(command.words), ...namesOf(unwrapped.words)];
      const below = understand(inner, circumstances, { folders, nested: level.nested + 1, piped, names });
      parts.push(...below.parts);
      doubt ??= below.parts.length === 0 ? 'runs an empty text' : below.doubt;
      if (script.doubt === undefined && onlyRunsText(command, unwrapped)) continue;
    }
    const effect = effectOf(command, unwrapped, { piped, chained });
    parts.push(partOf(command, unwrapped, effect, { folders, level, home: circumstances.home }));
  }
  return { parts: doubt === undefined ? parts : parts.map((part) => doubted(part, doubt)), doubt };
}

function doubted(part: CommandPart, doubt: string): CommandPart {
  if (part.effect === 'dangerous') return part;
  return { ...part, effect: 'unknown', reason: `is part of a command that ${doubt}` };
}

/** The text that `sh -c` or `eval` runs. */
function shellText(words: readonly Word[]): string | undefined {
  const [program, option, text] = words;
  if (program === undefined) return undefined;
  if (program.value === 'eval')
    return words
      .slice(1)
      .map(({ value }) => value)
      .join(' ');
  const shell = /^(?:ba|da|z)?sh$/.test(programName(program)) && /^-l?c$/.test(option?.value ?? '');
  return shell ? text?.value : undefined;
}

/** The text is all there is to judge; otherwise the shell around it is judged as well. */
function onlyRunsText({ words, assignments, redirects }: SimpleCommand, unwrapped: Unwrapped): boolean {
  return (
    unwrapped.words.length === 3 &&
    unwrapped.words[0]?.value !== 'eval' &&
    words.every(({ glob }) => !glob) &&
    redirects.length + assignments.length + unwrapped.assignments.length === 0 &&
    !unwrapped.wrappers.includes('nohup')
  );
}

function effectOf(
  { words, assignments, redirects }: SimpleCommand,
  unwrapped: Unwrapped,
  surroundings: { readonly piped: boolean; readonly chained: boolean },
): Effect {
  const set = [...assignments, ...unwrapped.assignments];
  const powerful = set.find((word) => judgeAssignment(word) === 'dangerous');
  if (powerful !== undefined)
    return dangerous(`sets ${powerful.value.split('=')[0]}, which can change what runs`);
  if (unwrapped.wrappers.includes('nohup')) return dangerous('goes on after the session has ended');
  const danger = findDanger(unwrapped.words, surroundings) ?? devices(redirects.map(({ target }) => target));
  if (danger !== undefined) return danger;
  const effect = programEffect(unwrapped.words, words.length);
  if (redirects.some(({ target }) => target.glob)) return unknown('redirects to whatever a pattern matches');
  const strange = set.find((word) => judgeAssignment(word) === 'unknown');
  if (strange !== undefined && effect.kind === 'read')
    return unknown(`sets the variable ${strange.value.split('=')[0]}`);
  return effect;
}

function devices(targets: readonly Word[]): Effect | undefined {
  if (targets.some(({ value }) => /^\/dev\/(?:tcp|udp)\//.test(value)))
    return dangerous('opens a network connection');
  return targets.some(({ value }) => value.startsWith('/dev/') && !isHarmlessDevice(value))
    ? dangerous('reads or writes a device')
    : undefined;
}

function programEffect(words: readonly Word[], written: number): Effect {
  const [program, ...args] = words;
  if (program === undefined) return written === 0 ? reads([], 'only redirects') : unknown('sets a variable');
  if (program.glob && program.raw !== '[') return unknown('names its program by a pattern');
  const name = programName(program);
  if (tellsVersion(name, program, args)) return reads([], 'tells its version');
  if (name === 'git') return gitEffect(args);
  if (name === 'sed') return sedEffect(args);
  if (name === 'awk' || name === 'gawk' || name === 'mawk') return awkEffect(args);
  if (name === 'find') return findEffect(args);
  return (
    readerEffect(name, args) ??
    writerEffect(name, args) ??
    projectEffect(name, program, args) ??
    unknown('runs a program that is not known to be harmless')
  );
}

function partOf(
  command: SimpleCommand,
  unwrapped: Unwrapped,
  effect: Effect,
  { folders, level, home }: { folders: readonly string[]; level: Level; home: string | undefined },
): CommandPart {
  const toPaths = (words: readonly Word[]) => [
    ...new Set(words.flatMap((word) => pathsOf(word, folders, home))),
  ];
  const output = command.redirects.filter(({ operator }) => operator === '>' || operator === '<>');
  const input = command.redirects.filter(({ operator }) => operator === '<' || operator === '<>');
  const streams = [...effect.streams, ...output.map(({ target }) => target)].filter(
    ({ value }) => !isHarmlessDevice(value),
  );
  const writesMore = streams.length > 0 && effect.kind === 'read';
  const words = [...command.assignments, ...command.words];
  return {
    text: unwrapped.words.map(({ raw }) => raw).join(' '),
    wholeText: words.map(({ raw }) => raw).join(' '),
    names: [
      ...new Set([...level.names, ...namesOf(words), ...namesOf(command.words), ...namesOf(unwrapped.words)]),
    ],
    effect: writesMore ? 'write' : effect.kind,
    reason: writesMore ? 'writes what it prints to a file' : effect.reason,
    reads: toPaths([...effect.reads, ...input.map(({ target }) => target)]),
    writes: toPaths(effect.writes),
    streams: toPaths(streams),
    landings: toPaths(effect.landings),
    mentions: toPaths([...words.slice(1), ...command.redirects.map(({ target }) => target)].map(pathIn)),
    globs: [
      ...words.filter(({ glob }) => glob).map(({ value }) => value),
      ...(readsWholeFolders(unwrapped.words) ? ['*'] : []),
    ],
  };
}

const SEARCHING_FOLDERS = new Set('rg ag ack'.split(' '));
const SEARCHING_FILES = new Set('grep egrep fgrep zgrep diff'.split(' '));

/** Prints lines of files that it finds by itself. */
function readsWholeFolders([program, ...args]: readonly Word[]): boolean {
  const name = (program?.value ?? '').split('/').at(-1) ?? '';
  if (SEARCHING_FOLDERS.has(name)) return true;
  if (name === 'git') return args.some(({ value }) => value === 'grep');
  if (!SEARCHING_FILES.has(name)) return false;
  return args.some(({ value }) => /^(?:-[A-Za-z]*[rRd]|--(?:rec|der|di))/.test(value));
}

/** Programs whose arguments hold another command: a rule about that one means it here as well. */
const RUNS_ANOTHER = new Set(
  'sudo doas xargs parallel watch exec eval strace ltrace find env timeout nohup nice time command builtin su npx bunx'.split(
    ' ',
  ),
);

function namesOf(words: readonly Word[]): readonly string[] {
  const [program] = words;
  if (program === undefined) return [];
  const values = words.map(({ value }) => value);
  const last = (values[0] ?? '').replace(/^.*\//, '');
  const names = [
    words.map(({ raw }) => raw).join(' '),
    values.join(' '),
    [last, ...values.slice(1)].join(' '),
  ];
  if (last === 'git') names.push(['git', ...gitSubcommand(values.slice(1))].join(' '));
  if (!RUNS_ANOTHER.has(last)) return names;
  // Bounded, because a long list of words would make as many texts.
  const starts = values.slice(1, 20).map((_, index) => values.slice(index + 1).join(' '));
  return [...names, ...starts];
}

/** Where each command may run. A `cd` that may fail or be skipped leaves both folders possible. */
function foldersOf(
  script: Script,
  start: readonly string[],
  { home }: Circumstances,
): readonly (readonly string[])[] {
  const places: (readonly string[])[] = [];
  let here = start;
  let before = start;
  for (const { words, before: operator, after } of script.commands) {
    const continues = operator === '&&' || operator === '|';
    if (!continues) {
      here = union(before, here);
      before = here;
    }
    places.push(here);
    if (words[0]?.value !== 'cd') continue;
    const target = words.slice(1).find(({ value }) => !value.startsWith('-')) ?? {
      raw: '~',
      value: '~',
      quoted: false,
      glob: false,
    };
    const moved = pathsOf(target, here, home);
    here = after === '&&' && operator !== '|' ? moved : union(here, moved);
  }
  return places;
}

/** Beyond this many possible folders the root stands for all of them, which is outside everywhere. */
const MAX_FOLDERS = 8;

function union(one: readonly string[], other: readonly string[]): readonly string[] {
  const all = [...new Set([...one, ...other])];
  return all.length > MAX_FOLDERS ? [...one.slice(0, 1), '/'] : all;
}

function pathsOf(word: Word, folders: readonly string[], home: string | undefined): readonly string[] {
  let { value } = word;
  if (value === '-') return [];
  if (word.glob) {
    const components = value.split('/');
    const first = components.findIndex((component) => /[*?[]/.test(component));
    // What climbs after a pattern could end anywhere.
    if (components.slice(first).includes('..')) return ['/'];
    value = components.slice(0, first).join('/');
    if (value === '') value = word.value.startsWith('/') ? '/' : '.';
  }
  if (value === '~' || value.startsWith('~/')) {
    // A quoted tilde is only a name, but taking it for the home folder errs on the careful side.
    return [home === undefined ? '/' : `${home}${value.slice(1)}`];
  }
  if (value.startsWith('/') || /^[A-Za-z]:[\\/]/.test(value)) return [value];
  return folders.map((folder) => (value === '' || value === '.' ? folder : `${folder}/${value}`));
}
