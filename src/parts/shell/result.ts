// What a model is told of a command that has ended: its output within the limits of a result, where the
// rest is, and how it ended. The first lines say what a command set out to do, the last how it went: both stay.

import type { ExecResult } from '../../core/host.ts';
import { MAX_RESULT_LINES } from '../../core/limits.ts';
import { hintFor } from './hints.ts';

/** Bytes of each end; together with the lines around them they stay below `MAX_RESULT_BYTES`. */
export const KEEP = { head: 16 * 1024, tail: 32 * 1024 } as const;

const HEAD_LINES = 500;

/** Lines around the output: the mark in the middle, where the rest is, how it ended, a hint. */
const FRAME_LINES = 10;

/** The line that the capture puts where it left something out: dropped here, its count must be ours. */
const CAPTURE_MARK = /^\[\d+ (?:lines|bytes).* left out here(?:; (?<note>.*))?\]$/;

export interface Shown {
  readonly text: string;
  /** Lines that the capture kept were left out here, so that the file with the whole is yet to be written. */
  readonly cut: boolean;
  /** What is to be said of the file with the whole. */
  readonly note?: string;
}

/** The output within the limit of lines. */
export function showOutput({ stdout }: ExecResult): Shown {
  const lines = (stdout.text.endsWith('\n') ? stdout.text.slice(0, -1) : stdout.text).split('\n');
  const limit = MAX_RESULT_LINES - FRAME_LINES;
  const from = HEAD_LINES;
  const to = lines.length - (limit - HEAD_LINES);
  const markAt = stdout.truncated ? lines.findIndex((line) => CAPTURE_MARK.test(line)) : -1;
  const note = CAPTURE_MARK.exec(lines[markAt] ?? '')?.groups?.['note'];
  const more = note === undefined ? {} : { note };
  if (lines.length <= limit) return { text: lines.join('\n'), cut: false, ...more };
  const isHidden = markAt >= from && markAt < to;
  const missing = isHidden ? stdout.lines - limit : to - from;
  const shown = [...lines.slice(0, from), `[${missing} lines left out here]`, ...lines.slice(to)];
  return { text: shown.join('\n'), cut: true, ...more };
}

export interface ResultFacts {
  readonly timeoutMs: number;
  readonly maxTimeoutMs: number;
  /** The file with the whole output. */
  readonly saved?: string | undefined;
  /** What else is to be said. */
  readonly hint?: string | undefined;
}

/** `shown` with what has to be known about it. */
export function resultText(result: ExecResult, { text, note }: Shown, facts: ResultFacts): string {
  const notes: string[] = [];
  const { saved, hint } = facts;
  if (saved !== undefined) {
    const { lines, bytes } = result.stdout;
    const count = `(${lines} lines, ${bytes} bytes)`;
    notes.push(note === undefined ? `Whole output ${count}: ${saved}` : `Output ${count}: ${saved}; ${note}`);
  }
  const ending = endingOf(result, facts);
  if (ending !== undefined) notes.push(ending);
  const hints = [ending === undefined ? undefined : hintFor(result.stdout.text, result.timedOut), hint];
  for (const each of hints) if (each !== undefined) notes.push(each);
  const output = text === '' ? '(no output)' : text;
  return notes.length === 0 ? output : `${output}\n\n${notes.join('\n')}`;
}

export function failed(result: ExecResult): boolean {
  return result.timedOut || result.exitCode !== 0;
}

function endingOf(
  { exitCode, signal, timedOut }: ExecResult,
  { timeoutMs, maxTimeoutMs }: { readonly timeoutMs: number; readonly maxTimeoutMs: number },
): string | undefined {
  if (timedOut) {
    const longer = timeoutMs < maxTimeoutMs ? `give a larger timeout (at most ${maxTimeoutMs} ms), or ` : '';
    return (
      `Timed out after ${timeoutMs / 1000} s; the command and everything that it started were ended. ` +
      `If it only needs longer, ${longer}do less at once; if it waits for input or never ends, run it another way.`
    );
  }
  if (exitCode === null) return `Ended by ${signal ?? 'a signal'}`;
  return exitCode === 0 ? undefined : `Exit code ${exitCode}`;
}
