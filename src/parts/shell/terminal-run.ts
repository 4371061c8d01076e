// A command in a terminal that is waited for. Nothing runs a terminal to its end but a job, so it is one that nobody else
// gets to hear of: it is gone when its call is over.

import type { Job } from '../../core/job.ts';
import type { ToolContext, ToolOutput } from '../../core/tool.ts';
import { startInBackground } from './background.ts';
import { hintFor } from './hints.ts';
import { tailOf } from './job-output.ts';
import { standing } from './standing.ts';

export interface TerminalRun {
  readonly command: string;
  readonly argv: readonly string[];
  readonly timeoutMs: number;
  /** Outside the sandbox, which a person has allowed. */
  readonly unconfined: boolean;
}

/** Bytes in one piece of what is shown while it runs. */
const PIECE = 64 * 1024;

export async function runOnTerminal(run: TerminalRun, context: ToolContext): Promise<ToolOutput> {
  const { command, argv, timeoutMs, unconfined } = run;
  const { jobs, clock, signal } = context;
  const { id } = await startInBackground({ command, argv, terminal: true, unconfined }, context);
  jobs.seen(id);
  const until = clock.monotonic() + timeoutMs;
  let position = 0;
  try {
    while (jobs.get(id).state === 'running' && clock.monotonic() < until) {
      await jobs.wait(id, position, Math.max(1, until - clock.monotonic()), signal);
      const { text, next } = await jobs.read(id, position, PIECE);
      position = next;
      if (text !== '') context.output(text);
    }
    const timedOut = jobs.get(id).state === 'running';
    const job = timedOut ? await jobs.stop(id) : jobs.get(id);
    return await present(job, { ...run, timedOut }, context);
  } finally {
    await jobs.stop(id);
  }
}

async function present(
  job: Job,
  { command, timeoutMs, timedOut }: TerminalRun & { readonly timedOut: boolean },
  { jobs, clock, identity }: ToolContext,
): Promise<ToolOutput> {
  const output = await tailOf(jobs, job);
  const isError = timedOut || job.exitCode !== 0;
  const notes: string[] = [];
  if (timedOut) notes.push(`Timed out after ${timeoutMs / 1000} s; everything that it started was ended.`);
  else if (job.exitCode === null) notes.push(`Ended by ${job.signal ?? 'a signal'}`);
  else if (isError)
    notes.push(job.exitCode === undefined ? standing(job, clock.now()) : `Exit code ${job.exitCode}`);
  const hint = isError ? hintFor(output, timedOut) : undefined;
  if (hint !== undefined) notes.push(hint);
  const shown = output === '' ? '(no output)' : output;
  const text = notes.length === 0 ? shown : `${shown}\n\n${notes.join('\n')}`;
  const exit = typeof job.exitCode === 'number' ? { exitCode: job.exitCode } : {};
  return {
    content: [{ type: 'text', text }],
    isError,
    display: { kind: 'command', command, cwd: identity.cwd, ...exit, output },
  };
}
