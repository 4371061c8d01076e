// What a command line does: its simple commands, each with an effect, the reason for it and the paths it
// touches. It errs in one direction only. What is not known program by program and option by option is
// `unknown`, and a text that cannot be read is `unknown` as a whole, though still searched for danger.

import { findDanger, judgeAssignment, SHELL } from './dangers.ts';
import { dangerous, type Effect, type EffectKind, pathIn, reads, unknown } from './effect.ts';
import { foundName } from './find.ts';
import { gitSubcommand } from './git-commands.ts';
import { type Grammar, loadGrammar } from './grammar.ts';
import { isHarmlessDevice } from './path-scope.ts';
import { pathsOf } from './paths.ts';
import type { Positional } from './positional.ts';
import { programEffect } from './programs.ts';
import { readScript } from './read-script.ts';
import { type Circumstances, type SimpleCommand, startsWithGlob, textWord, type Word } from './script.ts';
import { BUILTINS } from './shell-builtins.ts';
import { programName, type Unwrapped, unwrap } from './wrappers.ts';
import { tellsVersion } from './writers.ts';

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
  /** It opens none of the files that it reads: their names are all it shows. */
  readonly namesOnly: boolean;
  /** What stands for files that are not named: patterns of the shell as they are written, `*` for a whole folder. */
  readonly globs: readonly string[];
}

export interface Understanding {
  readonly parts: readonly CommandPart[];
  /** Why the text as a whole cannot be judged, as the end of a sentence: it … */
  readonly doubt: string | undefined;
}

/** `sh -c 'sh -c …'` is read this deep. */
const MAX_NESTED_SHELLS = 3;

/** Loads the grammar of bash when it is first called. */
export async function understandCommand(text: string, circumstances: Circumstances): Promise<Understanding> {
  return understanderOf(await loadGrammar())(text, circumstances);
}

export function understanderOf(
  grammar: Grammar,
): (text: string, circumstances: Circumstances) => Understanding {
  return (text, circumstances) => {
    const known = { ...circumstances, grammar };
    const { cwd } = circumstances;
    const level = { folders: [cwd], nested: 0, piped: false, posix: false, names: [] };
    const found = understand(text, known, level);
    // Names that are harmless now may not be when something has been written.
    const writes = known.hasPlainNames !== undefined && found.parts.some(({ effect }) => effect !== 'read');
    return writes ? understand(text, { ...known, hasPlainNames: undefined }, level) : found;
  };
}

interface Known extends Circumstances {
  readonly grammar: Grammar;
}

interface Level {
  readonly folders: readonly string[];
  readonly nested: number;
  readonly piped: boolean;
  /** What runs it need not be bash. */
  readonly posix: boolean;
  /** What runs this text, for rules that restrict. */
  readonly names: readonly string[];
  readonly positional?: Positional | undefined;
}

function understand(text: string, known: Known, level: Level): Understanding {
  const script = readScript(text, known.grammar, {
    ...known,
    folders: level.folders,
    piped: level.piped,
    posix: level.posix,
    positional: level.positional,
  });
  const parts: CommandPart[] = [];
  let doubt = script.doubt;
  for (const written of script.commands) {
    const command = withPlainNames(written, known);
    const unwrapped = unwrap(command.words);
    const { words, texts: handed } = level.nested < MAX_NESTED_SHELLS ? withoutShells(command) : UNCHANGED;
    for (const { text: inner, positional } of handed) {
      const names = [...level.names, ...namesOf(command.words)];
      const { folders } = command;
      const below = understand(inner, known, {
        folders,
        nested: level.nested + 1,
        piped: true,
        posix: true,
        names,
        positional,
      });
      parts.push(...below.parts);
      doubt ??= below.parts.length === 0 ? 'runs an empty text' : below.doubt;
    }
    const judged = words === undefined ? command : { ...command, words };
    const effect = effectOf(judged, words === undefined ? unwrapped : unwrap(words));
    // What is known only to read runs no text, whatever its words look like.
    const hides = effect.kind !== 'read' && level.nested < MAX_NESTED_SHELLS;
    const texts = hides ? hiddenTexts(command, unwrapped) : [];
    for (const inner of texts) {
      const names = [...level.names, ...namesOf(command.words), ...namesOf(unwrapped.words)];
      const { folders, piped } = command;
      const posix = !unwrapped.words.some((word) => baseName(word) === 'bash');
      const below = understand(inner, known, { folders, nested: level.nested + 1, piped, posix, names });
      parts.push(...below.parts);
      if (onlyRunsText(command, unwrapped))
        doubt ??= below.parts.length === 0 ? 'runs an empty text' : below.doubt;
    }
    if (texts.length > 0 && script.doubt === undefined && onlyRunsText(command, unwrapped)) continue;
    // Its text is not what runs, so no rule about texts can cover it.
    if (command.expands && effect.kind !== 'read') doubt ??= 'does more than read, with words that expand';
    parts.push(partOf(command, unwrapped, effect, { level, known }));
  }
  return { parts: doubt === undefined ? parts : parts.map((part) => doubted(part, doubt)), doubt };
}

/** A pattern cannot turn into an option where no name of the folder begins like one. */
function withPlainNames(command: SimpleCommand, { hasPlainNames }: Known): SimpleCommand {
  const { words, folders } = command;
  const isPattern = (word: Word) =>
    startsWithGlob(word) && word.raw === word.value && !word.value.includes('/');
  if (hasPlainNames === undefined || !words.slice(1).some(isPattern) || !folders.every(hasPlainNames))
    return command;
  return { ...command, words: words.map((word) => (isPattern(word) ? { ...word, settled: true } : word)) };
}

interface Handed {
  /** The words with something harmless in the place of each shell; undefined where there was none. */
  readonly words: readonly Word[] | undefined;
  readonly texts: readonly { readonly text: string; readonly positional: Positional }[];
}

const UNCHANGED: Handed = { words: undefined, texts: [] };

/** `find . -exec sh -c 'head -1 "$1"' _ {} ;` hands a name to a text, which is judged by itself. */
function withoutShells({ words }: SimpleCommand): Handed {
  const [program, ...args] = words;
  if (program?.value !== 'find' || words.some(({ open }) => open !== undefined)) return UNCHANGED;
  const texts: Handed['texts'][number][] = [];
  const kept: Word[] = [program];
  const found = [{ text: foundName(args), glob: true }];
  for (let at = 0; at < args.length; at += 1) {
    const [exec, shell, option, text, name, place, end] = args.slice(at, at + 7);
    const plain =
      exec?.value === '-exec' &&
      /^(?:ba|da)?sh$/.test(shell?.value ?? '') &&
      option?.value === '-c' &&
      text?.glob === false &&
      !/^[-+]/.test(text.value) &&
      !text.value.includes('{}') &&
      /^\w+$/.test(name?.value ?? '') &&
      place?.value === '{}' &&
      /^[;+]$/.test(end?.value ?? '');
    if (plain) {
      texts.push({
        text: text.value,
        positional: new Map([
          ['1', found],
          ['@', found],
        ]),
      });
      kept.push(exec, { ...exec, raw: 'true', value: 'true' }, { ...exec, raw: ';', value: ';' });
      at += 6;
    } else kept.push(...args.slice(at, at + 1));
  }
  return texts.length === 0 ? UNCHANGED : { words: kept, texts };
}

function doubted(part: CommandPart, doubt: string): CommandPart {
  if (part.effect === 'dangerous') return part;
  return { ...part, effect: 'unknown', reason: `is part of a command that ${doubt}` };
}

/** Programs whose arguments may hold a text for a shell. */
const RUNS_TEXTS = new Set(
  'sudo doas su xargs parallel watch find env ssh script flock chroot nsenter unshare docker podman kubectl trap runuser setpriv systemd-run tmux screen at batch entr'.split(
    ' ',
  ),
);

/** The texts that it hands to a shell, as far as they can be seen. */
function hiddenTexts({ redirects, upstream }: SimpleCommand, { words }: Unwrapped): readonly string[] {
  const [program, ...args] = words;
  if (program === undefined) return [];
  const name = baseName(program);
  if (name === 'eval') return [args.map(({ value }) => value).join(' ')];
  const texts: string[] = [];
  for (const [index, word] of words.entries())
    if (SHELL.test(baseName(word))) texts.push(...shellText(words.slice(index + 1)));
  if (SHELL.test(name)) {
    texts.push(
      ...redirects.filter(({ operator }) => /^<<<?$/.test(operator)).map(({ target }) => target.value),
    );
    const before = upstream?.at(-1);
    if (before !== undefined && /^(?:echo|printf)$/.test(before[0]?.value ?? ''))
      texts.push(
        before
          .slice(1)
          .map(({ value }) => value)
          .join(' '),
      );
  }
  if (RUNS_TEXTS.has(name))
    texts.push(...args.map(({ value }) => value).filter((value) => /[\s;&|]/.test(value)));
  return [...new Set(texts)];
}

function baseName({ value }: Word): string {
  return value.slice(value.lastIndexOf('/') + 1);
}

/** The text that follows `-c` among the arguments of a shell. */
function shellText(args: readonly Word[]): readonly string[] {
  const option = args.findIndex(({ value }) => /^-[A-Za-z]*c[A-Za-z]*$/.test(value));
  const text = option === -1 ? undefined : args.slice(option + 1).find(({ value }) => !/^[-+]/.test(value));
  return text === undefined ? [] : [text.value];
}

/** The text is all there is to judge; otherwise the shell around it is judged as well. */
function onlyRunsText({ words, assignments, redirects }: SimpleCommand, unwrapped: Unwrapped): boolean {
  const [program, ...args] = unwrapped.words;
  const text = afterOptions(args);
  return (
    text !== undefined &&
    program !== undefined &&
    /^(?:ba|da)?sh$/.test(programName(program)) &&
    text.open === undefined &&
    !/^[-+]/.test(text.value) &&
    words.every(({ glob, open }) => !glob && open === undefined) &&
    redirects.every(({ target, operator }) => operator === '>' && isHarmlessDevice(target.value)) &&
    assignments.length + unwrapped.assignments.length === 0 &&
    !unwrapped.wrappers.includes('nohup')
  );
}

/** The text behind `-c`, where the options before it only make a shell more careful. */
function afterOptions(args: readonly Word[]): Word | undefined {
  let at = 0;
  while (/^-[eul]*o?$/.test(args[at]?.value ?? '') && args[at]?.value !== '-') {
    const named = args[at]?.value.endsWith('o') === true;
    if (named && !/^(?:pipefail|errexit|nounset)$/.test(args[at + 1]?.value ?? '')) return undefined;
    at += named ? 2 : 1;
  }
  return /^-[eul]*c$/.test(args[at]?.value ?? '') ? args[at + 1] : undefined;
}

/** Readers that heed no variable but the ones of languages and colours. */
const HEEDLESS = new Set(
  'echo printf true false cat ls head tail wc date sleep pwd test [ env printenv seq basename dirname id uname'.split(
    ' ',
  ),
);

const DECLARES = /^(?:declare|typeset|local|readonly|export)$/;

function effectOf(command: SimpleCommand, unwrapped: Unwrapped): Effect {
  const { words, assignments, redirects, within } = command;
  const [program] = words;
  if (program !== undefined && within.includes(program.value))
    return dangerous('starts itself again and again');
  const set = [...assignments, ...unwrapped.assignments];
  // Only how `read` splits its line, or how this shell splits what expands, which is followed.
  const splits = (word: Word) =>
    (unwrapped.words[0]?.value === 'read' && word.value.startsWith('IFS=')) ||
    (words.length === 0 && word.open === undefined && /^IFS=[\s,:;|]*$/.test(word.value));
  const powerful = set.find((word) => judgeAssignment(word) === 'dangerous' && !splits(word));
  if (powerful !== undefined)
    return dangerous(`sets ${powerful.value.split('=')[0]}, which can change what runs`);
  if (unwrapped.wrappers.includes('nohup')) return dangerous('goes on after the session has ended');
  if (
    DECLARES.test(unwrapped.words[0]?.value ?? '') &&
    unwrapped.wrappers.some((each) => !/^(?:builtin|command)$/.test(each))
  )
    return unknown('hands a word of the shell to a program');
  const piped =
    command.piped ||
    words.some(({ fed }) => fed) ||
    redirects.some(({ operator }) => operator === '<<' || operator === '<<<' || operator === '<');
  const [first, ...args] = unwrapped.words;
  const version = first !== undefined && tellsVersion(programName(first), first, args);
  const danger =
    (version ? undefined : findDanger(unwrapped.words, { piped, chained: command.chained })) ??
    devices(redirects.map(({ target }) => target));
  if (danger !== undefined) return danger;
  const called = command.calls && unwrapped.wrappers.length === 0;
  const effect = called
    ? reads([], 'calls a function of this command')
    : programEffect(unwrapped.words, command.upstream);
  if (redirects.some(({ target, operator }) => target.glob && operator.includes('>')))
    return unknown('redirects to whatever a pattern matches');
  const strange = [...set, ...command.exported].find((word) => judgeAssignment(word) === 'unknown');
  const name = unwrapped.words[0]?.value ?? '';
  const heedless = HEEDLESS.has(name) || Object.hasOwn(BUILTINS, name) || called;
  if (strange !== undefined && effect.kind === 'read' && words.length > 0 && !heedless)
    return unknown(`sets the variable ${strange.value.split('=')[0]}`);
  const targets = redirects.filter(({ operator }) => !operator.startsWith('<<'));
  return withoutOpenPaths(
    effect,
    targets.map(({ target }) => target),
  );
}

/** A path that is only known when it runs may lead anywhere. */
function withoutOpenPaths(effect: Effect, targets: readonly Word[]): Effect {
  if (effect.kind !== 'read' && effect.kind !== 'write') return effect;
  const { reads: read, writes, streams, landings } = effect;
  const open = [...read, ...writes, ...streams, ...landings, ...targets].find(
    (word) => word.open !== undefined,
  );
  return open === undefined ? effect : unknown('uses a file whose name is not known beforehand');
}

function devices(targets: readonly Word[]): Effect | undefined {
  if (targets.some(({ value }) => /^\/dev\/(?:tcp|udp)\//.test(value)))
    return dangerous('opens a network connection');
  return targets.some(({ value }) => value.startsWith('/dev/') && !isHarmlessDevice(value))
    ? dangerous('reads or writes a device')
    : undefined;
}

function partOf(
  command: SimpleCommand,
  unwrapped: Unwrapped,
  effect: Effect,
  { level, known }: { readonly level: Level; readonly known: Known },
): CommandPart {
  const { home } = known;
  const toPaths = (words: readonly Word[]) => [
    ...new Set(words.flatMap((word) => pathsOf(word, command.folders, home))),
  ];
  const output = command.redirects.filter(({ operator }) => operator === '>' || operator === '<>');
  const input = command.redirects.filter(({ operator }) => operator === '<' || operator === '<>');
  const files = [...input, ...output].map(({ target }) => target);
  const streams = [...effect.streams, ...output.map(({ target }) => target)].filter(
    ({ value }) => !isHarmlessDevice(value),
  );
  const onlyNames = effect.kind === 'read' && input.length === 0 && namesOnly(unwrapped.words);
  const opened = [...effect.reads, ...input.map(({ target }) => target)];
  const followed = linksBelow(unwrapped.words, effect.reads);
  const links = onlyNames
    ? []
    : [...opened, ...followed].flatMap((word) => linksOf(word, command.folders, known));
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
    reads: [...toPaths(opened), ...links],
    writes: toPaths(effect.writes),
    streams: toPaths(streams),
    landings: toPaths(effect.landings),
    namesOnly: onlyNames,
    mentions: toPaths([...words.slice(1), ...files].map(pathIn)),
    globs: [
      ...new Set([...words, ...files, ...effect.reads].filter(({ glob }) => glob).map(({ value }) => value)),
      ...(readsWholeFolders(unwrapped.words) ? ['*', ...soughtBy(unwrapped.words)] : []),
    ],
  };
}

/** A pattern stands for links, too, and those may lead anywhere. */
function linksOf({ glob, value }: Word, folders: readonly string[], { linksIn }: Known): readonly string[] {
  if (!glob || linksIn === undefined || value.startsWith('~')) return [];
  return folders.flatMap((folder) => linksIn(folder, value) ?? ['/']);
}

/** Options with which a program goes where links lead, on its way through folders. */
const FOLLOWS: Readonly<Record<string, RegExp>> = {
  grep: /^(?:-[A-Za-z]*R|--deref)/,
  egrep: /^(?:-[A-Za-z]*R|--deref)/,
  fgrep: /^(?:-[A-Za-z]*R|--deref)/,
  zgrep: /^(?:-[A-Za-z]*R|--deref)/,
  rg: /^(?:-[A-Za-z]*L|--follow)/,
  fd: /^(?:-[A-Za-z]*L|--follow)/,
  fdfind: /^(?:-[A-Za-z]*L|--follow)/,
  diff: /^(?:-[A-Za-z]*r|--recursive)/,
};

/** The links below the folders that it goes through. */
function linksBelow(words: readonly Word[], paths: readonly Word[]): readonly Word[] {
  const [program, ...args] = words;
  const name = program === undefined ? '' : programName(program);
  const option = Object.hasOwn(FOLLOWS, name) ? FOLLOWS[name] : undefined;
  if (option === undefined || !args.some(({ value }) => option.test(value))) return [];
  const from = paths.length === 0 ? [textWord('.')] : paths;
  return from.map((word) => ({ ...word, value: `${word.value}/**`, glob: true }));
}

const SEARCHING_FOLDERS = new Set('rg ag ack'.split(' '));
const SEARCHING_FILES = new Set('grep egrep fgrep zgrep diff'.split(' '));

/** Prints lines of files that it finds by itself. */
function readsWholeFolders([program, ...args]: readonly Word[]): boolean {
  const name = program === undefined ? '' : baseName(program);
  if (SEARCHING_FOLDERS.has(name)) return true;
  if (name === 'git') return args.some(({ value }) => value === 'grep');
  if (!SEARCHING_FILES.has(name)) return false;
  return args.some(({ value }) => /^(?:-[A-Za-z]*[rRd]|--(?:rec|der|di))/.test(value));
}

/** The patterns that choose which of the files are read. */
function soughtBy(words: readonly Word[]): readonly string[] {
  return words.flatMap(({ value }, at) => {
    const own = /^(?:--include=|--i?glob=|-g)([^!].*)$/s.exec(value)?.[1];
    const next = /^(?:--include|--i?glob|-g)$/.test(value) ? words[at + 1]?.value : undefined;
    const found = own ?? next;
    return found === undefined || found.startsWith('!') ? [] : [found];
  });
}

/** Readers that tell of a file's name, size or place and of nothing that stands in it. */
const NAMES_ONLY = new Set(
  'ls stat du test [ [[ realpath readlink basename dirname tree echo printf cd pushd find fd fdfind eza exa lsd file which'.split(
    ' ',
  ),
);

/** `find -exec cat` and `fd -x cat` show what they find. */
function namesOnly([program, ...args]: readonly Word[]): boolean {
  if (program === undefined || !NAMES_ONLY.has(programName(program))) return false;
  return !args.some(({ value }) => /^-(?:exec|ok|x$|X$|-exec)/.test(value));
}

/** Programs whose arguments hold another command: a rule about that one means it here as well. */
const RUNS_ANOTHER = new Set(
  (
    'sudo doas xargs parallel watch exec eval strace ltrace find env timeout nohup nice time command builtin su npx bunx setsid stdbuf ' +
    'ionice chrt taskset unshare nsenter chroot flock script ssh docker podman kubectl busybox toybox setpriv runuser systemd-run ' +
    'proxychains torsocks unbuffer caffeinate coproc pnpx uvx entr gdb valgrind perf fakeroot tmux screen'
  ).split(' '),
);

function namesOf(words: readonly Word[]): readonly string[] {
  const [program] = words;
  if (program === undefined) return [];
  const values = words.map(({ value }) => value);
  const last = baseName(program);
  const names = [
    words.map(({ raw }) => raw).join(' '),
    values.join(' '),
    [last, ...values.slice(1)].join(' '),
  ];
  if (last === 'git') names.push(['git', ...gitSubcommand(values.slice(1))].join(' '));
  if (!RUNS_ANOTHER.has(last)) return names;
  // Bounded, because a long list of words would make as many texts.
  const starts = values.slice(1, 40).flatMap((value, index) => {
    const rest = values.slice(index + 2).join(' ');
    return [`${value} ${rest}`.trim(), `${value.replace(/^.*\//, '')} ${rest}`.trim()];
  });
  return [...names, ...starts];
}
