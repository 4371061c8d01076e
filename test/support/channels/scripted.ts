// What a channel is handed, under a test's control: a platform that yields what a script says, sinks that
// remember, stall or break, and a clock that moves when it is told to.

import { setImmediate as nextTick } from 'node:timers/promises';
import type { Declaration } from '../../../src/core/agent.ts';
import { CrabError } from '../../../src/core/errors.ts';
import type { Event } from '../../../src/core/event.ts';
import type { Clock, Sink } from '../../../src/core/host.ts';
import type { OpenReply, OpenRequest, Platform, Prompt } from '../../../src/core/platform.ts';
import type { Answer } from '../../../src/core/question.ts';
import { SANDBOX_OFF } from '../../../src/core/sandbox.ts';

export type Script = (prompt: Prompt, signal: AbortSignal) => AsyncIterable<readonly Event[]>;

export interface ScriptedPlatform extends Platform {
  readonly opened: OpenRequest[];
  readonly prompts: Prompt[];
  readonly answers: { readonly id: string; readonly answer: Answer }[];
}

export function scriptedPlatform(script: Script, reply: Partial<OpenReply> = {}): ScriptedPlatform {
  const opened: OpenRequest[] = [];
  const prompts: Prompt[] = [];
  const answers: { readonly id: string; readonly answer: Answer }[] = [];
  return {
    opened,
    prompts,
    answers,
    async open(request) {
      opened.push(request);
      return {
        address: { agent: 'crab', sender: 'cli:01J' },
        session: { id: '01JSESSION', path: '/home/s.jsonl', cwd: '/work/project', messages: 0 },
        commands: request.commands,
        notices: [],
        ...reply,
      };
    },
    prompt(_address, prompt, signal) {
      prompts.push(prompt);
      return script(prompt, signal);
    },
    async answer(_address, id, answer) {
      answers.push({ id, answer });
      return true;
    },
    async control() {},
    async leave() {},
    async close() {},
  };
}

/** A script that yields recorded batches. */
export function play(batches: readonly (readonly Event[])[]): Script {
  return async function* () {
    yield* batches;
  };
}

/** Resolves when the signal aborts. */
export function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

export const DECLARATION: Declaration = {
  agent: { name: 'crab' },
  mode: 'default',
  rules: [],
  directories: [],
  withoutTools: [],
  limits: {},
  instructions: { given: false, append: [], files: [], environment: [] },
  canAsk: false,
  sandbox: SANDBOX_OFF,
};

export const OPEN: OpenRequest = {
  agent: 'crab',
  cwd: '/work/project',
  session: { kind: 'new' },
  declaration: DECLARATION,
  commands: [],
};

export interface MemorySink extends Sink {
  readonly writes: string[];
  text(): string;
}

export function memorySink(
  options: { readonly terminal?: boolean; readonly colour?: boolean } = {},
): MemorySink {
  const writes: string[] = [];
  return {
    isTerminal: options.terminal ?? false,
    colour: options.colour ?? false,
    writes,
    text: () => writes.join(''),
    async write(text) {
      writes.push(text);
    },
  };
}

/** Takes one write at a time, each over several turns of the event loop, and notes when two overlapped. */
export function slowSink(): MemorySink & { overlapped(): boolean } {
  const sink = memorySink();
  let busy = false;
  let overlapped = false;
  return {
    ...sink,
    overlapped: () => overlapped,
    async write(text) {
      overlapped ||= busy;
      busy = true;
      for (let turn = 0; turn < 3; turn++) await nextTick();
      sink.writes.push(text);
      busy = false;
    },
  };
}

/** Takes `writes` writes; then its reader is gone. */
export function brokenSink(
  writes: number,
  code: 'output-closed' | 'output-failed' = 'output-closed',
): MemorySink {
  const sink = memorySink();
  return {
    ...sink,
    async write(text) {
      if (sink.writes.length >= writes) throw new CrabError(code, 'EPIPE: the pipe was closed');
      sink.writes.push(text);
    },
  };
}

export interface VirtualClock extends Clock {
  /** Moves time and wakes who is due. Lets woken code run before it returns. */
  advance(ms: number): Promise<void>;
  /** Resolves once somebody sleeps. */
  whenSleeping(): Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export function virtualClock(): VirtualClock {
  let now = 0;
  const sleepers = new Set<Sleeper>();
  return {
    now: () => now,
    monotonic: () => now,
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = { at: now + ms, wake: resolve };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', () => {
          sleepers.delete(sleeper);
          reject(signal.reason);
        });
      });
    },
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...sleepers].filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        now = Math.max(now, due.at);
        sleepers.delete(due);
        due.wake();
        await settled();
      }
      now = end;
      await settled();
    },
    async whenSleeping() {
      await until(() => sleepers.size > 0, 'somebody sleeps');
    },
  };
}

/** Lets everything that can go on do so. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTick();
}

/** Polls with a bound. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let turn = 0; turn < 10_000; turn++) {
    if (condition()) return;
    await nextTick();
  }
  throw new Error(`Waited in vain until ${what}.`);
}

export function numbered(): () => string {
  let number = 0;
  return () => `uuid-${++number}`;
}
