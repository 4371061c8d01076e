// What of the jobs the caller has read so far: a reading goes on where the one before it ended.

import type { Jobs } from '../../core/job.ts';

export class Readings {
  readonly #all = new WeakMap<Jobs, Map<string, number>>();

  of(jobs: Jobs, id: string): number {
    return this.#all.get(jobs)?.get(id) ?? 0;
  }

  note(jobs: Jobs, id: string, next: number): void {
    const known = this.#all.get(jobs) ?? new Map<string, number>();
    this.#all.set(jobs, known.set(id, next));
  }
}
