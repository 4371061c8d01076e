// The work that goes on behind the calls of a conversation, each with a file that holds its output. A file and not
// memory: a server may talk for days. What does not fit into the file is counted and dropped.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf, messageOf, ToolFailure } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Job, JobOutput, Jobs, JobWork } from '../../core/job.ts';
import type { TextFilter } from '../../core/redact.ts';
import { JobFile } from './job-file.ts';
import { Sanitizer } from './sanitizer.ts';

export interface OpenJobs extends Jobs {
  /** Those that ended since the last time that this was asked, but for those that somebody has `seen`. */
  ended(): readonly Job[];
  /** Resolves when it is over. */
  over(id: string): Promise<void>;
  /** For the end of the conversation: stops what runs. Resolves when nothing is left. */
  close(): Promise<void>;
}

export interface JobsOptions {
  readonly clock: Clock;
  /** Where the output files go; made on first use. */
  readonly folder: () => Promise<string>;
  /** Takes secrets out of the output (law 10). Made for each job. */
  readonly filter?: () => TextFilter;
  /** Bytes of one job's output that are kept. */
  readonly fileLimit?: number;
}

const FILE_LIMIT = 64 * 1024 * 1024;

const MAX_RUNNING = 16;

/** Milliseconds that work waits with each piece that is dropped: an endless talker shall not take the whole machine. */
const DROPPED_PAUSE_MS = 20;

interface Running {
  job: Job;
  readonly work: JobWork;
  readonly stop: AbortController;
  readonly over: Promise<void>;
  readonly file: JobFile;
  readonly sanitizer: Sanitizer;
  readonly waiting: Set<Waiting>;
  isSeen: boolean;
}

interface Waiting {
  readonly from: number;
  readonly resolve: () => void;
}

export function createJobs(options: JobsOptions): OpenJobs {
  return new FileJobs(options);
}

class FileJobs implements OpenJobs {
  readonly #options: JobsOptions;
  readonly #all = new Map<string, Running>();
  #count = 0;
  #isClosed = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  async start(work: JobWork): Promise<Job> {
    this.#check();
    const { clock } = this.#options;
    const { kind, title } = work;
    const { id, file } = await this.#newFile(kind.charAt(0));
    const outputPath = file.path;
    const nothing = { bytes: 0, kept: 0 } as const;
    const job: Job = { id, kind, title, state: 'running', startedAt: clock.now(), ...nothing, outputPath };
    const stop = new AbortController();
    const { promise: over, resolve: end } = Promise.withResolvers<void>();
    const sanitizer = new Sanitizer();
    const running = { job, work, stop, over, file, sanitizer, waiting: new Set<Waiting>(), isSeen: false };
    this.#all.set(id, running);
    this.#carryOut(running).then(end);
    // Closed while the file was made.
    if (this.#isClosed) await this.stop(id);
    return running.job;
  }

  #check(): void {
    if (this.#isClosed) throw new ToolFailure('The conversation is being closed.');
    const running = this.list().filter(({ state }) => state === 'running');
    if (running.length < MAX_RUNNING) return;
    const ids = running.map(({ id }) => id).join(', ');
    throw new ToolFailure(`${MAX_RUNNING} jobs are running already (${ids}): stop one of them first.`);
  }

  /** Numbers go on behind the files that an earlier process of the same session left. */
  async #newFile(letter: string): Promise<{ readonly id: string; readonly file: JobFile }> {
    const { fileLimit = FILE_LIMIT } = this.#options;
    const folder = await this.#options.folder();
    for (;;) {
      const id = `${letter}${++this.#count}`;
      const path = join(folder, `job-${id}.txt`);
      try {
        return { id, file: new JobFile(path, await open(path, 'wx', 0o600), fileLimit) };
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error;
      }
    }
  }

  /** Never rejects. */
  async #carryOut(running: Running): Promise<void> {
    const { clock, filter } = this.#options;
    const { work, stop, sanitizer } = running;
    const clean = filter?.();
    const write = (text: string) => this.#write(running, clean === undefined ? text : clean.push(text));
    let state: Job['state'] = 'done';
    let result: Awaited<ReturnType<JobWork['run']>> = {};
    try {
      result = await work.run((text) => write(sanitizer.push(text)), stop.signal);
      if (result.exitCode !== undefined && result.exitCode !== 0) state = 'failed';
    } catch (error) {
      state = 'failed';
      if (!stop.signal.aborted) await write(sanitizer.push(`\n[${messageOf(error)}]\n`));
    }
    await write(sanitizer.end());
    if (clean !== undefined) await this.#write(running, clean.end());
    await running.file.close();
    if (stop.signal.aborted) state = 'stopped';
    const { exitCode, signal } = result;
    const how = { ...(exitCode !== undefined && { exitCode }), ...(signal != null && { signal }) };
    running.job = { ...running.job, state, endedAt: clock.now(), ...how };
    for (const { resolve } of running.waiting) resolve();
  }

  async #write(running: Running, text: string): Promise<void> {
    const { file } = running;
    const isKept = await file.append(text);
    running.job = { ...running.job, bytes: file.bytes, kept: file.kept };
    for (const { from, resolve } of running.waiting) if (Number.isFinite(from)) resolve();
    // Until then the disk holds the work back, if anything.
    if (!isKept) await this.#options.clock.sleep(DROPPED_PAUSE_MS, running.stop.signal).catch(() => {});
  }

  list(): readonly Job[] {
    return [...this.#all.values()].map(({ job }) => job);
  }

  ended(): readonly Job[] {
    const news = [...this.#all.values()].filter(({ job, isSeen }) => job.state !== 'running' && !isSeen);
    for (const each of news) each.isSeen = true;
    return news.map(({ job }) => job);
  }

  get(id: string): Job {
    return this.#of(id).job;
  }

  seen(id: string): void {
    this.#of(id).isSeen = true;
  }

  #of(id: string): Running {
    const found = this.#all.get(id);
    if (found !== undefined) return found;
    const known = [...this.#all.keys()];
    const hint =
      known.length === 0 ? 'nothing was started in the background' : `there are ${known.join(', ')}`;
    throw new ToolFailure(`There is no job ${id}: ${hint}.`);
  }

  async read(id: string, from: number, bytes: number): Promise<JobOutput> {
    const { file, sanitizer } = this.#of(id);
    const output = await file.read(from, bytes);
    const { pending } = sanitizer;
    return output.more || pending === '' ? output : { ...output, pending };
  }

  over(id: string): Promise<void> {
    return this.#of(id).over;
  }

  async wait(id: string, from: number, ms: number, signal: AbortSignal): Promise<void> {
    const running = this.#of(id);
    if (running.job.state !== 'running' || running.job.bytes > from) return;
    const timeout = new AbortController();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting: Waiting = { from, resolve };
    running.waiting.add(waiting);
    try {
      const ended = AbortSignal.any([signal, timeout.signal]);
      await Promise.race([promise, this.#options.clock.sleep(ms, ended)]);
    } finally {
      timeout.abort();
      running.waiting.delete(waiting);
    }
  }

  async write(id: string, text: string): Promise<void> {
    const { job, work } = this.#of(id);
    if (job.state !== 'running') throw new ToolFailure(`The job ${id} is over.`);
    if (work.input === undefined) throw new ToolFailure(`The job ${id} reads no input.`);
    await work.input(text);
  }

  async stop(id: string): Promise<Job> {
    const running = this.#of(id);
    running.stop.abort(new ToolFailure('The job was stopped.'));
    await running.over;
    running.isSeen = true;
    return running.job;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#all.keys()].map((id) => this.stop(id)));
  }
}
