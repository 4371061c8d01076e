// ripgrep, where there is one: the program on the PATH, else the one that comes as an optional package. Its own
// configuration and the person's global ignore file are left out, since a search must not depend on whose machine
// it runs on; hidden files are searched, the folders of version control are not.

import { ToolFailure } from '../../core/errors.ts';
import type { Exec } from '../../core/host.ts';
import type { ToolContext } from '../../core/tool.ts';
import { MAX_LINE_BYTES, type MatchReport } from './match-report.ts';
import { MAX_SEARCHED_GB } from './tool-path.ts';
import { comparePaths, VERSION_CONTROL } from './walk.ts';

const SEARCH_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 5_000;

/** Characters of one JSON event: escapes take up to six a byte, and the matched texts repeat the line. */
const MAX_EVENT_LENGTH = 128 * MAX_LINE_BYTES;

/** Characters of events that are held to be sorted. */
const MAX_COLLECTED = 2 * 1024 * 1024;

/** Characters of what it complains of. */
const MAX_COMPLAINT = 4096;

const BEGIN = '{"type":"begin"';

export interface SearchQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  /** A match may span lines. */
  readonly multiline: boolean;
  /** Lines shown around a match. */
  readonly before: number;
  readonly after: number;
  /** The folder to search, or the folder of the one file. Absolute. */
  readonly root: string;
  /** Name of the one file in `root` to search. */
  readonly file?: string;
  /** Globs for file names, one of which every wanted file matches. */
  readonly nameGlobs?: readonly string[];
}

/** The program to run, or undefined when none runs here; `given` is tried alone. */
export async function findRipgrep(
  given: string | null | undefined,
  exec: Exec,
  cwd: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (given === null) return undefined;
  if (given !== undefined) return given;
  if (await runs('rg', exec, cwd, signal)) return 'rg';
  const packaged = await packagedRipgrep();
  return packaged !== undefined && (await runs(packaged, exec, cwd, signal)) ? packaged : undefined;
}

async function runs(program: string, exec: Exec, cwd: string, signal: AbortSignal): Promise<boolean> {
  try {
    const result = await exec({ argv: [program, '--version'], cwd, timeoutMs: PROBE_TIMEOUT_MS }, signal);
    return result.exitCode === 0 && result.stdout.text.startsWith('ripgrep ');
  } catch (error) {
    if (error instanceof ToolFailure) return false;
    throw error;
  }
}

async function packagedRipgrep(): Promise<string | undefined> {
  try {
    return (await import('@vscode/ripgrep')).rgPath;
  } catch {
    return undefined;
  }
}

const COMMON = [
  '--no-config',
  '--no-messages',
  '--hidden',
  '--no-require-git',
  '--no-ignore-global',
  ...VERSION_CONTROL.flatMap((name) => ['--glob', `!${name}`]),
];

/**
 * Only this way is a file held in memory as a whole. Line by line no size needs a bound, which would cost a call for each
 * file, a fifth of the time: what has a zero byte is left at once, and whatever is endless is ended by the timeout.
 */
const MULTILINE = ['--multiline', '--multiline-dotall', `--max-filesize=${MAX_SEARCHED_GB}G`];

/**
 * Feeds the report file by file in the order of their paths. ripgrep can sort, but then it uses one core alone; so it runs
 * unsorted as long as it finds little, and only a search that finds much is begun anew sorted, which soon fills the report.
 */
export async function searchWithRipgrep(
  program: string,
  query: SearchQuery,
  context: ToolContext,
  report: MatchReport,
): Promise<void> {
  const found = await collectUnsorted([program, ...searchArguments(query)], query.root, context);
  if (found !== undefined) {
    found.sort((a, b) => comparePaths(a.path, b.path));
    for (const { events } of found) {
      for (const event of events) feed(event, report);
      if (report.full) return;
    }
    return;
  }
  await run([program, '--sort=path', ...searchArguments(query)], query.root, context, (event) => {
    feed(event, report);
    return !report.full;
  });
}

function searchArguments(query: SearchQuery): readonly string[] {
  return [
    '--json',
    ...COMMON,
    '--crlf',
    ...wantedNames(query.nameGlobs),
    ...(query.literal ? ['--fixed-strings'] : []),
    ...(query.ignoreCase ? ['--ignore-case'] : []),
    ...(query.multiline ? MULTILINE : []),
    ...(query.before > 0 ? ['--before-context', String(query.before)] : []),
    ...(query.after > 0 ? ['--after-context', String(query.after)] : []),
    '--regexp',
    query.pattern,
    '--',
    query.file === undefined ? './' : `./${query.file}`,
  ];
}

interface FileEvents {
  readonly path: string;
  /** As they came, the one that begins the file among them. */
  readonly events: string[];
}

/** The events by file, since ripgrep prints those of one file together; undefined when there are too many to hold. */
async function collectUnsorted(
  argv: readonly string[],
  cwd: string,
  context: ToolContext,
): Promise<FileEvents[] | undefined> {
  const files: FileEvents[] = [];
  let length = 0;
  await run(argv, cwd, context, (event) => {
    if (event.startsWith(BEGIN))
      files.push({ path: relative(decode(parseEvent(event)?.data.path)), events: [] });
    // What is too long to be shown is known by its first letters.
    files.at(-1)?.events.push(event);
    length += event.length;
    return length <= MAX_COLLECTED;
  });
  return length <= MAX_COLLECTED ? files : undefined;
}

function wantedNames(globs: readonly string[] | undefined): readonly string[] {
  if (globs === undefined) return [];
  return [...globs.flatMap((glob) => ['--type-add', `wanted:${glob}`]), '--type', 'wanted'];
}

/**
 * Paths relative to `root`, in no order. What a program prints for a person reaches us as clean text, and a name may hold
 * whatever is cleaned away: so these are read as they come, each with a NUL behind it, which no name holds.
 */
export async function listWithRipgrep(
  program: string,
  root: string,
  context: ToolContext,
  visit: (path: string) => boolean,
): Promise<void> {
  const late = AbortSignal.timeout(SEARCH_TIMEOUT_MS);
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, late, stop.signal]);
  const argv = [program, '--files', '--null', ...COMMON, '--', './'];
  try {
    const child = await context.open({ argv, cwd: root }, signal);
    const complaint = textOf(child.stderr);
    for await (const path of pathsIn(child.stdout)) {
      if (visit(relative(path))) continue;
      stop.abort();
      return;
    }
    const { exitCode } = await child.ended;
    context.signal.throwIfAborted();
    if (late.aborted) throw tookTooLong();
    const said = await complaint;
    if (exitCode === 2 && said !== '') throw refusal(said);
  } catch (error) {
    context.signal.throwIfAborted();
    throw late.aborted ? tookTooLong() : error;
  } finally {
    stop.abort();
  }
}

async function* pathsIn(output: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of output) {
    const paths = (rest + decoder.decode(bytes, { stream: true })).split('\0');
    rest = paths.pop() ?? '';
    yield* paths;
  }
}

/** The beginning of it, as text; all of it is read, so that the program can go on. */
async function textOf(output: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const bytes of output)
      if (text.length < MAX_COMPLAINT) text += decoder.decode(bytes, { stream: true });
  } catch {
    // It was ended, and what it complained of no longer counts.
  }
  return text.slice(0, MAX_COMPLAINT).trim();
}

function relative(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

/** Runs it and hands on each line of its output, until `visit` says false. */
async function run(
  argv: readonly string[],
  cwd: string,
  context: ToolContext,
  visit: (piece: string) => boolean,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  let rest = '';
  const onOutput = (text: string) => {
    let at = 0;
    for (let end = text.indexOf('\n'); end !== -1; at = end + 1, end = text.indexOf('\n', at)) {
      if (stop.signal.aborted) return;
      const piece = rest + text.slice(at, end);
      rest = '';
      if (!visit(piece)) stop.abort();
    }
    // A piece that is longer than any may be is known by its length: the rest of it need not be kept.
    if (rest.length <= MAX_EVENT_LENGTH) rest += text.slice(at);
  };
  try {
    const keep = { head: 4096, tail: 4096 };
    const result = await context.exec(
      { argv, cwd, onOutput, keep, separate: true, timeoutMs: SEARCH_TIMEOUT_MS },
      signal,
    );
    // With 2 it may have found something all the same: a folder that it could not read is such an error.
    const complaint = result.stderr.text.trim();
    if (result.exitCode === 2 && complaint !== '') throw refusal(complaint);
    if (result.timedOut) throw tookTooLong();
  } catch (error) {
    if (!stop.signal.aborted || context.signal.aborted) throw error;
  }
}

function tookTooLong(): ToolFailure {
  return new ToolFailure(
    `The search took longer than ${SEARCH_TIMEOUT_MS / 1000} s: narrow it with path or glob.`,
  );
}

function refusal(complaint: string): ToolFailure {
  const reason = complaint.replace(/^(?:rg: )?/, '').replace(/\n+Consider enabling[\s\S]*$/, '');
  return new ToolFailure(`The search failed: ${reason}\nSet literal to search for the text itself.`);
}

interface RipgrepText {
  readonly text?: string;
  /** Base64, of what is not UTF-8. */
  readonly bytes?: string;
}

/** The events of `rg --json` (docs.rs/grep-printer, struct JSON), as far as they are used. */
interface RipgrepEvent {
  readonly type: 'begin' | 'match' | 'context' | 'end' | 'summary';
  readonly data: {
    readonly path?: RipgrepText;
    readonly lines?: RipgrepText;
    readonly line_number?: number | null;
    readonly binary_offset?: number | null;
  };
}

function feed(json: string, report: MatchReport): void {
  if (json.length > MAX_EVENT_LENGTH) {
    if (json.startsWith('{"type":"match"')) report.overlong();
    return;
  }
  const event = parseEvent(json);
  if (event === undefined) return;
  const { type, data } = event;
  if (type === 'begin') report.begin(relative(decode(data.path)));
  else if (type === 'end') report.end(typeof data.binary_offset === 'number');
  else if (type === 'match' || type === 'context') {
    // A match over several lines is one event.
    const lines = decode(data.lines)
      .replace(/\r?\n$/, '')
      .split('\n');
    for (const [at, line] of lines.entries())
      report.line((data.line_number ?? 0) + at, line.replace(/\r$/, ''), type === 'match');
  }
}

/** A complaint may stand between the events; it is dealt with when the program has ended. */
function parseEvent(json: string): RipgrepEvent | undefined {
  if (!json.startsWith('{')) return undefined;
  try {
    return JSON.parse(json) as RipgrepEvent;
  } catch {
    return undefined;
  }
}

function decode(text: RipgrepText | undefined): string {
  return text?.text ?? Buffer.from(text?.bytes ?? '', 'base64').toString('utf8');
}
