// What the tools for jobs do: read on, end, type.

import type { Job } from '../../core/job.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { type Reading, readFrom, readMatching, readNewest } from './job-output.ts';
import type { Readings } from './readings.ts';
import { listing, standing } from './standing.ts';

const BLOCK_MS = 30_000;
const MAX_BLOCK_MS = 600_000;

/** After something was typed: how long silence must last, and how long an answer may take. */
const SILENCE_MS = 200;
const ANSWER_MS = 5000;

/** How long a program may take that has shown nothing but what was typed. */
const ECHO_MS = 1500;

interface Reader {
  readonly readings: Readings;
  readonly context: ToolContext;
}

export async function readJob(input: JsonObject, { readings, context }: Reader): Promise<ToolOutput> {
  const { jobs, clock, signal } = context;
  if (input['task_id'] === undefined) return textOutput(listing(jobs.list(), clock.now()));
  const id = String(input['task_id']);
  if (input['block'] === true) {
    const ms = Math.min(Number(input['timeout'] ?? BLOCK_MS), MAX_BLOCK_MS);
    await jobs.wait(id, Number.POSITIVE_INFINITY, ms, signal);
  }
  const job = jobs.get(id);
  const reading = await read(job, input, { readings, context });
  if (job.state !== 'running') jobs.seen(id);
  return report(job, reading, context);
}

function read(job: Job, { filter, offset }: JsonObject, { readings, context }: Reader): Promise<Reading> {
  const { jobs } = context;
  if (typeof offset === 'number' && filter === undefined) return readFrom(jobs, job, offset);
  const from = typeof offset === 'number' ? offset : readings.of(jobs, job.id);
  const reading =
    filter === undefined
      ? readNewest(jobs, job, from)
      : readMatching(job, { from, pattern: String(filter) }, context);
  return reading.then((done) => {
    if (offset === undefined) readings.note(jobs, job.id, done.next);
    return done;
  });
}

function report(job: Job, { text }: Reading, { clock }: ToolContext): ToolOutput {
  const output = text.replace(/\n+$/, '');
  const notes = [`${standing(job, clock.now())}: ${job.title}`];
  if (job.kept < job.bytes)
    notes.push(`${job.bytes - job.kept} bytes of output did not fit into ${job.outputPath} and are lost.`);
  const shown = output === '' ? '(no new output)' : output;
  const exit = typeof job.exitCode === 'number' ? { exitCode: job.exitCode } : {};
  return textOutput(`${shown}\n\n${notes.join('\n')}`, {
    kind: 'command',
    command: job.title,
    ...exit,
    output,
  });
}

export async function stopJob(id: string, { jobs, clock }: ToolContext): Promise<ToolOutput> {
  const before = jobs.get(id);
  const job = await jobs.stop(id);
  const told = `${standing(job, clock.now())}: ${job.title}`;
  return textOutput(before.state === 'running' ? told : `It was over already. ${told}`);
}

export async function typeInto(given: JsonObject, { readings, context }: Reader): Promise<ToolOutput> {
  const { jobs } = context;
  const id = String(given['task_id']);
  const from = readings.of(jobs, id);
  await jobs.write(id, String(given['input']));
  await answered(id, context);
  let reading = await readNewest(jobs, jobs.get(id), from);
  if (jobs.get(id).state === 'running' && isEcho(reading.text, String(given['input']))) {
    await jobs.wait(id, jobs.get(id).bytes, ECHO_MS, context.signal);
    await answered(id, context);
    reading = await readNewest(jobs, jobs.get(id), from);
  }
  const job = jobs.get(id);
  readings.note(jobs, id, reading.next);
  if (job.state !== 'running') jobs.seen(id);
  return report(job, reading, context);
}

/** A terminal shows what is typed before the program has even read it. */
function isEcho(text: string, typed: string): boolean {
  return text.trim() === typed.trim();
}

/** Resolves when the job has said something and fallen silent, or is over. */
async function answered(id: string, { jobs, clock, signal }: ToolContext): Promise<void> {
  const until = clock.monotonic() + ANSWER_MS;
  const state = async () => {
    const { bytes, kept, state: how } = jobs.get(id);
    return `${how} ${bytes} ${(await jobs.read(id, kept, 0)).pending ?? ''}`;
  };
  for (let before = await state(); clock.monotonic() < until; ) {
    await jobs.wait(id, jobs.get(id).bytes, SILENCE_MS, signal);
    const after = await state();
    if (after === before || jobs.get(id).state !== 'running') return;
    before = after;
    await clock.sleep(SILENCE_MS / 2, signal);
  }
}
