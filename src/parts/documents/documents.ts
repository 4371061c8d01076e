// Reads documents of strangers in threads: one document a thread, which is ended as soon as it has answered, has taken too
// long or holds too much. A thread starts in a few dozen milliseconds; one that were kept could be left in any state by
// what it read.

import { Worker } from 'node:worker_threads';
import type { Documents } from '../../core/document.ts';
import { errnoOf, messageOf, ToolFailure } from '../../core/errors.ts';
import type { Answer, Answers, Task } from './task.ts';

export interface DocumentOptions {
  /** Milliseconds for one document, the start of its thread included. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 20_000;

/** Threads at a time: each may take a core and the memory below. */
const MAX_THREADS = 2;

/** MiB of JavaScript's own heap. */
const MAX_HEAP = 512;
/** Bytes outside of it, such as what a stream unpacks to; the thread's heap limit does not count them. */
const MAX_BUFFERS = 512 * 1024 * 1024;
/** Milliseconds between looks at them. */
const LOOK_MS = 100;

declare const CRAB_VERSION: string | undefined;

export function createDocuments({ timeoutMs = TIMEOUT_MS }: DocumentOptions = {}): Documents {
  const turn = createTurns(MAX_THREADS);
  const read = async <Kind extends Task['kind']>(
    name: string,
    task: Task & { readonly kind: Kind },
    signal: AbortSignal,
  ): Promise<Answers[Kind]> => {
    const done = await turn(signal);
    try {
      const answer = await inThread(name, task, { signal, timeoutMs });
      if (answer.fault === undefined) return answer.value as Answers[Kind];
      throw new ToolFailure(`${name} cannot be read: ${answer.fault}.`);
    } finally {
      done();
    }
  };
  return {
    page: (name, page, signal) => read(name, { kind: 'page', ...page }, signal),
    results: (name, html, signal) => read(name, { kind: 'results', html }, signal),
    // They may be a piece of a larger buffer, all of which would be copied.
    pdf: (name, bytes, range, signal) =>
      read(name, { kind: 'pdf', bytes: Uint8Array.from(bytes), range }, signal),
  };
}

interface Bounds {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
}

/** Nothing of the thread is left when it settles. */
async function inThread(name: string, task: Task, { signal, timeoutMs }: Bounds): Promise<Answer> {
  signal.throwIfAborted();
  const thread = new Worker(threadFile(), {
    workerData: task,
    transferList: task.kind === 'pdf' ? [task.bytes.buffer as ArrayBuffer] : [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP, maxYoungGenerationSizeMb: 64, stackSizeMb: 4 },
    // It has no business with the person's keys, nor with what this process was started with.
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  thread.stdout.resume();
  thread.stderr.resume();
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const tooMuch = (what: string) => new ToolFailure(`${name} cannot be read here: ${what}.`);
  const abort = () => reject(signal.reason);
  const late = setTimeout(() => reject(tooMuch(`it took longer than ${timeoutMs / 1000} s`)), timeoutMs);
  const stopLooking = watchBuffers(thread, () => reject(tooMuch('it takes too much memory')));
  signal.addEventListener('abort', abort, { once: true });
  thread.once('message', resolve);
  thread.once('error', (error) =>
    reject(
      errnoOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
        ? tooMuch('it takes too much memory')
        : tooMuch(messageOf(error)),
    ),
  );
  thread.once('exit', () => reject(tooMuch('its reader ended without an answer')));
  try {
    return await promise;
  } finally {
    clearTimeout(late);
    stopLooking();
    signal.removeEventListener('abort', abort);
    await thread.terminate();
  }
}

/** Returns how to end it. A busy thread is asked, too: it answers between two instructions. */
function watchBuffers(thread: Worker, tooMany: () => void): () => void {
  const look = async () => {
    const { external_memory: bytes } = await thread.getHeapStatistics();
    if (bytes > MAX_BUFFERS) tooMany();
  };
  // One that has ended, or a runtime that cannot tell, has nothing to be told.
  const timer = setInterval(() => look().catch(() => {}), LOOK_MS);
  return () => clearInterval(timer);
}

/** Bun finds it in its binary by its path in the project; there `import.meta.url` is a path of the machine that built it. */
function threadFile(): URL | string {
  const { Bun } = globalThis as { readonly Bun?: { readonly embeddedFiles?: readonly unknown[] } };
  if ((Bun?.embeddedFiles?.length ?? 0) > 0) return './dist/standalone/thread/document-thread.js';
  const isBuilt = typeof CRAB_VERSION === 'string';
  return new URL(isBuilt ? './document-thread.js' : './document-thread.ts', import.meta.url);
}

/** Whoever comes when all places are taken waits for the first that is free. Resolves with what frees it. */
function createTurns(places: number): (signal: AbortSignal) => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let free = places;
  const release = () => {
    const next = waiting.shift();
    if (next === undefined) free++;
    else next();
  };
  return async (signal) => {
    signal.throwIfAborted();
    if (free > 0) {
      free--;
      return release;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = () => {
      const at = waiting.indexOf(resolve);
      if (at >= 0) waiting.splice(at, 1);
      reject(signal.reason);
    };
    waiting.push(resolve);
    signal.addEventListener('abort', abort, { once: true });
    try {
      await promise;
      return release;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  };
}
