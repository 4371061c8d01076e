// What the tools that wait do.

import { ToolFailure } from '../../core/errors.ts';
import type { Job } from '../../core/job.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { absolute, subject } from './awaited.ts';
import { createCommandLine } from './command-line.ts';
import { readMatching } from './job-output.ts';
import { showOutput } from './result.ts';
import { standing } from './standing.ts';
import type { MonitorOptions } from './waiting-tools.ts';

const MAX_WAIT_MS = 600_000;
const MONITOR_MS = 60_000;

/** Between two looks at what cannot say that it has changed. */
const INTERVAL_MS = 1000;

export async function sleepFor(seconds: number, context: ToolContext): Promise<ToolOutput> {
  const { clock, jobs } = context;
  const started = clock.monotonic();
  const running = jobs.list().filter(({ state }) => state === 'running');
  await firstEnd(running, seconds * 1000, context);
  const slept = Math.round((clock.monotonic() - started) / 100) / 10;
  const over = running.map(({ id }) => jobs.get(id)).filter(({ state }) => state !== 'running');
  for (const { id } of over) jobs.seen(id);
  const news = over.map((job) => `${standing(job, clock.now())}: ${job.title}`);
  return textOutput([`Waited ${slept} s.`, ...news].join('\n'));
}

/** Resolves when one of the jobs is over, or after `ms`. */
async function firstEnd(running: readonly Job[], ms: number, context: ToolContext): Promise<void> {
  const { clock, jobs, signal } = context;
  const enough = new AbortController();
  const until = AbortSignal.any([signal, enough.signal]);
  const ends = running.map(({ id }) => jobs.wait(id, Number.POSITIVE_INFINITY, ms, until));
  const all = [clock.sleep(ms, until), ...ends];
  for (const each of all) each.catch(() => {});
  try {
    await Promise.race(all);
  } finally {
    enough.abort();
  }
}

type Watching = MonitorOptions & { readonly context: ToolContext };

export async function monitorUntil(input: JsonObject, watching: Watching): Promise<ToolOutput> {
  const ms = Math.min(Number(input['timeout'] ?? MONITOR_MS), MAX_WAIT_MS);
  const until = watching.context.clock.monotonic() + ms;
  const happened = await watch(input, until, watching);
  return happened ?? textOutput(`In ${ms / 1000} s it did not happen: ${subject(input)}.`);
}

/** Undefined: the time is over. `until` is a time of the monotonic clock. */
function watch(input: JsonObject, until: number, watching: Watching): Promise<ToolOutput | undefined> {
  if (input['path'] !== undefined) return watchFile(String(input['path']), until, watching);
  if (input['command'] !== undefined) return watchCommand(String(input['command']), until, watching);
  const { task_id, pattern } = input;
  return watchJob(String(task_id), pattern === undefined ? undefined : String(pattern), until, watching);
}

async function watchJob(
  id: string,
  pattern: string | undefined,
  until: number,
  { readings, context }: Watching,
): Promise<ToolOutput | undefined> {
  const { jobs, clock, signal } = context;
  let position = readings.of(jobs, id);
  for (;;) {
    const job = jobs.get(id);
    if (pattern !== undefined) {
      const { text, next } = await readMatching(job, { from: position, pattern }, context);
      if (text !== '') return textOutput(`Job ${id} printed:\n${text.trimEnd()}`);
      position = next;
    }
    if (job.state !== 'running') {
      jobs.seen(id);
      const missed = pattern === undefined ? '' : `, and printed nothing that matches ${pattern}`;
      return textOutput(`${standing(job, clock.now())}${missed}.`);
    }
    const left = until - clock.monotonic();
    if (left <= 0) return undefined;
    const from = pattern === undefined ? Number.POSITIVE_INFINITY : job.bytes;
    await jobs.wait(id, from, left, signal);
  }
}

async function watchFile(
  path: string,
  until: number,
  { context }: Watching,
): Promise<ToolOutput | undefined> {
  const { files, identity } = context;
  const file = absolute(path, identity.cwd);
  const look = async () => {
    const info = await files.info(file);
    return info === undefined ? 'missing' : `${info.kind} ${info.size} ${info.modified} ${info.mode}`;
  };
  const before = await look();
  return repeatedly(until, context, async () => {
    const now = await look();
    if (now === before) return undefined;
    const how = before === 'missing' ? 'was made' : now === 'missing' ? 'is gone' : 'has changed';
    return textOutput(`${path} ${how}.`);
  });
}

async function watchCommand(
  command: string,
  until: number,
  { shell, context }: Watching,
): Promise<ToolOutput | undefined> {
  const { exec, identity, signal, clock, tools } = context;
  const { cwd } = identity;
  if (!tools.list().some(({ name }) => name === 'bash'))
    throw new ToolFailure('There is no bash here, so that no command is run: give task_id or path.');
  const argv = await createCommandLine(shell)(command, { exec, cwd }, signal);
  let last = '';
  const success = await repeatedly(until, context, async () => {
    const timeoutMs = Math.max(1, until - clock.monotonic());
    const result = await exec({ argv, cwd, timeoutMs }, signal);
    const { text } = showOutput(result);
    if (result.exitCode === 0) return textOutput(`The command succeeded.\n${text}`.trimEnd());
    // What was cut off at the end of the time says less than the attempt before it.
    if (!result.timedOut || last === '') last = text;
    return undefined;
  });
  if (success !== undefined) return success;
  return textOutput(`The command did not succeed in time: ${command}\n${last}`.trimEnd());
}

async function repeatedly(
  until: number,
  { clock, signal }: ToolContext,
  attempt: () => Promise<ToolOutput | undefined>,
): Promise<ToolOutput | undefined> {
  for (;;) {
    signal.throwIfAborted();
    const done = await attempt();
    if (done !== undefined) return done;
    const left = until - clock.monotonic();
    if (left <= 0) return undefined;
    await clock.sleep(Math.min(INTERVAL_MS, left), signal);
  }
}
