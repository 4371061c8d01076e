// ripgrep, where there is one: the program on the PATH, else the one that comes as an optional package. Its own
// configuration and the person's global ignore file are left out, since a search must not depend on whose machine
// it runs on; hidden files are searched, the folders of version control are not.

import { ToolFailure } from '../../core/errors.ts';
import type { Exec } from '../../core/host.ts';
import type { ToolContext } from '../../core/tool.ts';
import { MAX_LINE_BYTES, type MatchReport } from './match-report.ts';
import { MAX_SEARCHED_GB } from './tool-path.ts';
import { VERSION_CONTROL } from './walk.ts';

const SEARCH_TIMEOUT_MS = 60_000;
const PROBE_TIMEOUT_MS = 5_000;

/** Characters of one JSON event: escapes take up to six a byte, and the matched texts repeat the line. */
const MAX_EVENT_LENGTH = 128 * MAX_LINE_BYTES;

export interface SearchQuery {
  readonly pattern: string;
  readonly literal: boolean;
  readonly ignoreCase: boolean;
  readonly context: number;
  /** The folder to search, or the folder of the one file. Absolute. */
  readonly root: string;
  /** Name of the one file in `root` to search. */
  readonly file?: string;
  /** A glob for file names that every wanted file matches. */
  readonly nameGlob?: string;
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
  `--max-filesize=${MAX_SEARCHED_GB}G`,
  ...VERSION_CONTROL.flatMap((name) => ['--glob', `!${name}`]),
];

/** Feeds the report until the search ends or the report is full. */
export async function searchWithRipgrep(
  program: string,
  query: SearchQuery,
  context: ToolContext,
  report: MatchReport,
): Promise<void> {
  const argv = [
    program,
    '--json',
    ...COMMON,
    '--crlf',
    '--sort=path',
    ...(query.nameGlob === undefined ? [] : ['--type-add', `wanted:${query.nameGlob}`, '--type', 'wanted']),
    ...(query.literal ? ['--fixed-strings'] : []),
    ...(query.ignoreCase ? ['--ignore-case'] : []),
    ...(query.context > 0 ? ['--context', String(query.context)] : []),
    '--regexp',
    query.pattern,
    '--',
    query.file === undefined ? './' : `./${query.file}`,
  ];
  await run(argv, '\n', query.root, context, (event) => {
    feed(event, report);
    return !report.full;
  });
}

/** Paths relative to `root`, in no order. */
export async function listWithRipgrep(
  program: string,
  root: string,
  context: ToolContext,
  visit: (path: string) => boolean,
): Promise<void> {
  await run([program, '--files', '--null', ...COMMON, '--', './'], '\0', root, context, (path) =>
    visit(relative(path)),
  );
}

function relative(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

/** Runs it and hands on each piece of its output that ends with `separator`, until `visit` says false. */
async function run(
  argv: readonly string[],
  separator: string,
  cwd: string,
  context: ToolContext,
  visit: (piece: string) => boolean,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  let rest = '';
  const onOutput = (text: string) => {
    let at = 0;
    for (let end = text.indexOf(separator); end !== -1; at = end + 1, end = text.indexOf(separator, at)) {
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
    if (result.timedOut)
      throw new ToolFailure(
        `The search took longer than ${SEARCH_TIMEOUT_MS / 1000} s: narrow it with path or glob.`,
      );
  } catch (error) {
    if (!stop.signal.aborted || context.signal.aborted) throw error;
  }
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
  else if (type === 'match' || type === 'context')
    report.line(data.line_number ?? 0, decode(data.lines).replace(/\r?\n$/, ''), type === 'match');
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
