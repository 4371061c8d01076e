// What a search has found, made into the text that the model gets. Both ways of searching feed the same report, so
// that their results cannot differ in anything but what they found.

import type { Display } from '../../core/display.ts';
import { MAX_RESULT_BYTES } from '../../core/limits.ts';
import { type ToolOutput, textOutput } from '../../core/tool.ts';
import { cutText } from './line-window.ts';
import { shownPath } from './tool-path.ts';
import { markUnseen } from './unseen.ts';

/** Characters of a matching line that are shown. */
const MAX_SHOWN_LENGTH = 500;

/** Bytes of a line; a longer one, as in minified code, is named and not shown. */
export const MAX_LINE_BYTES = 64 * 1024;

/** Bytes kept free for the sentences at the end. */
const FOOTER_BYTES = 512;

/** Lines that a person is shown. */
const MAX_DISPLAY_LINES = 100;

export type SearchOutput = 'content' | 'files' | 'count';

export interface ReportOptions {
  readonly title: string;
  readonly output: SearchOutput;
  /** Matching lines of `content`, files of the others. */
  readonly limit: number;
  /** The highest limit that can be asked for. */
  readonly most: number;
  /** Lines shown around a match. */
  readonly before: number;
  readonly after: number;
  /** Absolute path of a found file, from its path relative to where was searched. */
  locate(path: string): string;
  readonly cwd: string;
  /** Paths that are left out although they were searched. */
  accepts(path: string): boolean;
}

export interface MatchReport {
  begin(path: string): void;
  /** A matching line, or one of the context; the lines of a file come in order. */
  line(number: number, text: string, matches: boolean): void;
  /** A binary file counts as not searched. */
  end(binary: boolean): void;
  /** A line that matches and is too long to be shown. */
  overlong(): void;
  /** A sentence for the end of the result. */
  note(sentence: string): void;
  /** There is more than may be shown: the search can stop. */
  readonly full: boolean;
  finish(): ToolOutput;
  /** After the end: all lines that were found, when not all of them fit into the result. */
  readonly whole: readonly string[] | undefined;
}

interface FoundLine {
  readonly number: number;
  readonly text: string;
  readonly matches: boolean;
}

interface FoundFile {
  readonly path: string;
  readonly lines: FoundLine[];
  matches: number;
  overlong: number;
}

export function createMatchReport(options: ReportOptions): MatchReport {
  const { output, limit } = options;
  const files: FoundFile[] = [];
  const notes: string[] = [];
  let current: FoundFile | undefined;
  let total = 0;
  let overlong = 0;
  let full = false;
  let whole: readonly string[] | undefined;

  const keep = (file: FoundFile) => {
    overlong += file.overlong;
    if (file.matches === 0) return;
    if (output !== 'content' && files.length >= limit) full = true;
    else files.push(file);
  };

  const line = (number: number, text: string, matches: boolean) => {
    if (current === undefined || full) return;
    if (matches && text.length > MAX_LINE_BYTES / 4 && Buffer.byteLength(text) > MAX_LINE_BYTES) {
      current.overlong++;
      return;
    }
    if (matches && output === 'content' && total + current.matches >= limit) {
      full = true;
      return;
    }
    if (matches) current.matches++;
    if (output === 'content')
      current.lines.push({ number, text: cutText(text, MAX_SHOWN_LENGTH + 1), matches });
  };

  const end = (binary: boolean) => {
    if (current === undefined) return;
    if (!binary) {
      total += current.matches;
      keep(current);
    }
    current = undefined;
  };

  return {
    begin(path) {
      current = options.accepts(path) ? { path, lines: [], matches: 0, overlong: 0 } : undefined;
    },
    line,
    end,
    overlong() {
      if (current !== undefined) current.overlong++;
    },
    note: (sentence) => void notes.push(sentence),
    get full() {
      return full;
    },
    finish() {
      end(false);
      if (overlong > 0)
        notes.push(`Not shown: ${overlong} matching in lines longer than ${MAX_LINE_BYTES / 1024} KB.`);
      const rendered = render(files, { full, notes, total }, options);
      whole = rendered.whole;
      return rendered.output;
    },
    get whole() {
      return whole;
    },
  };
}

interface Totals {
  readonly full: boolean;
  readonly notes: readonly string[];
  readonly total: number;
}

function render(files: readonly FoundFile[], totals: Totals, options: ReportOptions) {
  const lines = options.output === 'content' ? contentLines(files, options) : fileLines(files, options);
  const { kept, cut } = withinBytes(lines);
  const notes = [...totals.notes];
  if (totals.full) {
    const what = options.output === 'content' ? 'matching lines' : 'files';
    const raise = options.limit < options.most ? ', or raise limit' : '';
    notes.unshift(`Only the first ${options.limit} ${what} are shown. Narrow it with path or glob${raise}.`);
  } else if (cut) notes.unshift('The result was cut. Narrow it with path, glob or limit.');
  const text = kept.length === 0 ? 'No matches.' : kept.join('\n');
  const footer = notes.length === 0 ? '' : `\n[${notes.join(' ')}]`;
  const display: Display = {
    kind: 'matches',
    title: options.title,
    count: options.output === 'content' ? totals.total : files.length,
    truncated: totals.full || cut,
    lines: kept.slice(0, MAX_DISPLAY_LINES),
  };
  return { output: textOutput(text + footer, display), whole: cut ? lines : undefined };
}

function contentLines(files: readonly FoundFile[], options: ReportOptions): readonly string[] {
  const hasContext = options.before + options.after > 0;
  const result: string[] = [];
  for (const file of files) {
    const path = shownPath(options.locate(file.path), options.cwd);
    if (result.length > 0 && hasContext) result.push('--');
    let previous: number | undefined;
    for (const { number, text, matches } of withinContext(file.lines, options.after)) {
      if (previous !== undefined && hasContext && number > previous + 1) result.push('--');
      result.push(
        matches ? `${path}:${number}: ${shownLine(text)}` : `${path}-${number}- ${shownLine(text)}`,
      );
      previous = number;
    }
  }
  return result;
}

/** Without the lines before a match that was one too many. */
function withinContext(lines: readonly FoundLine[], after: number): readonly FoundLine[] {
  const last = lines.findLast((line) => line.matches)?.number ?? 0;
  return lines.filter((line) => line.number <= last + after);
}

function fileLines(files: readonly FoundFile[], options: ReportOptions): readonly string[] {
  return files.map((file) => {
    const path = shownPath(options.locate(file.path), options.cwd);
    return options.output === 'count' ? `${path}: ${file.matches}` : path;
  });
}

function shownLine(text: string): string {
  return markUnseen(text.length <= MAX_SHOWN_LENGTH ? text : `${cutText(text, MAX_SHOWN_LENGTH)}…`);
}

/** As many lines as fit into one result. */
export function withinBytes(lines: readonly string[]): {
  readonly kept: readonly string[];
  readonly cut: boolean;
} {
  let bytes = FOOTER_BYTES;
  for (const [at, line] of lines.entries()) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > MAX_RESULT_BYTES) return { kept: lines.slice(0, at), cut: true };
  }
  return { kept: lines, cut: false };
}
