// What a job printed, within the limits of a result: the newest of it, or the lines that match a pattern. The whole is in
// the job's file, which the result names.

import type { Job, Jobs } from '../../core/job.ts';
import type { ToolContext } from '../../core/tool.ts';
import { matchingLines } from './line-filter.ts';

/** Bytes of output in one result; with what stands around it they stay below `MAX_RESULT_BYTES`. */
const SHOWN_BYTES = 40 * 1024;
const SHOWN_LINES = 1900;

/** Bytes that are looked through at once, and in one call. */
const PIECE = 1024 * 1024;
const SEARCHED_BYTES = 64 * PIECE;

export interface Reading {
  readonly text: string;
  /** Where the next one begins. */
  readonly next: number;
}

/** What was kept of a job from `from` on: all of it or, where that is too much, its end. */
export async function readNewest(jobs: Jobs, { id, outputPath }: Job, from: number): Promise<Reading> {
  const { kept } = jobs.get(id);
  const start = Math.max(from, kept - SHOWN_BYTES);
  const { text, next, pending = '' } = await jobs.read(id, start, SHOWN_BYTES + 4);
  const { text: shown, cut } = lastLines(text, start > from);
  const left = cut || start > from;
  const mark = left ? `[the beginning of this is left out; the whole is in ${outputPath}]\n` : '';
  return { text: mark + shown + pending.slice(-SHOWN_BYTES / 4), next };
}

/** Reads on from `from`; `limit` bytes at most. */
export async function readFrom(jobs: Jobs, { id }: Job, from: number): Promise<Reading> {
  const { text, next, more, pending = '' } = await jobs.read(id, from, SHOWN_BYTES);
  return { text: more ? `${text}\n[more from offset ${next} on]` : text + pending, next };
}

/** The lines behind `from` that match. */
export async function readMatching(
  job: Job,
  { from, pattern }: { readonly from: number; readonly pattern: string },
  context: ToolContext,
): Promise<Reading> {
  const { jobs } = context;
  let next = from;
  let rest = '';
  let found = '';
  for (let more = true; more && found.length < SHOWN_BYTES && next - from < SEARCHED_BYTES; ) {
    const piece = await jobs.read(job.id, next, PIECE);
    const text = rest + piece.text;
    const end = piece.more ? text.lastIndexOf('\n') + 1 : text.length;
    rest = text.slice(end);
    found += await matchingLines(pattern, text.slice(0, end), context);
    ({ next, more } = piece);
  }
  const cut = found.length > SHOWN_BYTES;
  const mark = `\n[more lines match; search in ${job.outputPath}]`;
  return { text: cut ? found.slice(0, SHOWN_BYTES) + mark : found, next };
}

/** The end of a job's output, without the last line end. */
export async function tailOf(jobs: Jobs, job: Job): Promise<string> {
  const { text } = await readNewest(jobs, job, 0);
  return text.replace(/\n+$/, '');
}

function lastLines(text: string, isCut: boolean): { readonly text: string; readonly cut: boolean } {
  const lines = text.split('\n');
  if (isCut && lines.length > 1) lines.shift();
  const cut = lines.length > SHOWN_LINES;
  return { text: (cut ? lines.slice(-SHOWN_LINES) : lines).join('\n'), cut };
}
