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
const CAPTURE_MARK = /^\[\d+ (?:lines|bytes).* left out here.*\]$/;

export interface Shown {
  readonly text: string;
  /** Lines that the capture kept were left out here, so that the file with the whole is yet to be written. */
  readonly cut: boolean;
}

/** The output within the limit of lines. */
export function showOutput({ stdout }: ExecResult): Shown {
  const text = stdout.text.endsWith('\n') ? stdout.text.slice(0, -1) : stdout.text;
  const lines = text.split('\n');
  const limit = MAX_RESULT_LINES - FRAME_LINES;
  if (lines.length <= limit) return { text, cut: false };
  const from = HEAD_LINES;
  const to = lines.length - (limit - HEAD_LINES);
  const hidden = stdout.truncated && lines.slice(from, to).some((line) => CAPTURE_MARK.test(line));
  const missing = hidden ? stdout.lines - limit : to - from;
  const mark = `[${missing} lines left out here]`;
  return { text: [...lines.slice(0, from), mark, ...lines.slice(to)].join('\n'), cut: true };
}

/** `shown` with what has to be known about it. `saved` names the file with the whole output. */
export function resultText(
  result: ExecResult,
  shown: string,
  options: { readonly timeoutMs: number; readonly maxTimeoutMs: number; readonly saved?: string },
): string {
  const notes: string[] = [];
  if (options.saved !== undefined) {
    notes.push(`Whole output (${result.stdout.lines} lines, ${result.stdout.bytes} bytes): ${options.saved}`);
  }
  const ending = endingOf(result, options);
  if (ending !== undefined) {
    notes.push(ending);
    const hint = hintFor(shown);
    if (hint !== undefined) notes.push(hint);
  }
  const output = shown === '' ? '(no output)' : shown;
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
