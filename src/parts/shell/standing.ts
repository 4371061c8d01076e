// How jobs stand, in words.

import type { Job } from '../../core/job.ts';

/** How a job stands, in a sentence. `now`: milliseconds since the epoch. */
export function standing(job: Job, now: number): string {
  const { id, state, exitCode, signal, startedAt, endedAt = now } = job;
  const time = `${Math.round((endedAt - startedAt) / 100) / 10} s`;
  if (state === 'running') return `Job ${id} has been running for ${time}`;
  if (state === 'stopped') return `Job ${id} was stopped after ${time}`;
  if (exitCode === null) return `Job ${id} was ended by ${signal ?? 'a signal'} after ${time}`;
  if (exitCode === undefined) return `Job ${id} ${state === 'done' ? 'is done' : 'failed'} after ${time}`;
  return `Job ${id} ended after ${time} with exit code ${exitCode}`;
}

/** One line for each job. */
export function listing(jobs: readonly Job[], now: number): string {
  if (jobs.length === 0) return 'Nothing was started in the background.';
  return jobs.map((job) => `${standing(job, now)}: ${job.title} (${job.bytes} bytes of output)`).join('\n');
}
