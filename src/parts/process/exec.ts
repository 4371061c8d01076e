// Starts programs and sees to it that nothing of them is left. A call ends with its main process and not
// with its pipes: a grandchild that holds one open must not hold up the result.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Clock, Exec, ExecRequest, ExecResult } from '../../core/host.ts';
import type { TextFilter } from '../../core/redact.ts';
import { CALL_VARIABLE, declaredEnvironment } from './environment.ts';
import { checkRequest, startFailure } from './failure.ts';
import { Output } from './output.ts';
import {
  endTree,
  extinguish,
  findMarked,
  groupAlive,
  type Kill,
  killNow,
  killTree,
  type Tree,
} from './tree.ts';

export interface ExecOptions {
  /** The host's own environment; keys of providers are not passed on. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Names of further variables that hold keys. */
  readonly keys?: readonly string[];
  /** Takes secrets out of all output, before it is shown, kept or spilled (law 10). Made for each stream. */
  readonly filter?: () => TextFilter;
  /** Taken away by tests that must see processes survive. */
  readonly kill?: Kill;
}

export type HostExec = Exec & {
  /** Ends what outlived the calls that are over. For the end of a run: looks at `/proc` if anything was run. */
  sweep(): Promise<void>;
  /** Kills everything at once, synchronously: for the moment before the host itself ends. */
  killAll(): void;
  /** The same without the filter: for programs that are run to be told a secret. */
  readonly unfiltered: Exec;
};

/** Milliseconds between SIGTERM and SIGKILL for a call that was aborted or took too long. */
const PATIENCE_MS = 2000;

/** The same for what a finished command left behind: its result waits for it. */
const LEFTOVER_PATIENCE_MS = 150;

/** The same at the end of a run, where a server that was left running has time to close its files. */
const SWEEP_PATIENCE_MS = 1000;

/** Milliseconds to hear of the end of a main process that is not found any more. */
const REAP_MS = 500;

type Cause = 'exit' | 'timeout' | 'abort';

export function createExec(options: ExecOptions): HostExec {
  const { clock, kill = process.kill } = options;
  const base = declaredEnvironment(options.env, options.keys);
  const instance = `${process.pid}.${Math.random().toString(36).slice(2)}.`;
  const active = new Map<string, Tree>();
  let count = 0;
  let unswept = false;

  /** A command's children do not survive it, whether it ended by itself or not. */
  async function clear(tree: Tree, cause: Cause, ended: Promise<unknown>, output: Output): Promise<void> {
    if (cause === 'exit') await output.settle();
    if (cause === 'exit' && !output.open && !groupAlive(tree.pid)) return;
    const patienceMs = cause === 'exit' ? LEFTOVER_PATIENCE_MS : PATIENCE_MS;
    await endTree(tree, { clock, kill, patienceMs });
    if (cause !== 'exit') await within(REAP_MS, ended);
    await output.settle();
  }

  async function run(
    request: ExecRequest,
    signal: AbortSignal,
    filter?: () => TextFilter,
  ): Promise<ExecResult> {
    signal.throwIfAborted();
    checkRequest(request);
    const marker = `${instance}${++count};`;
    // An agent that runs inside an agent is found by the outer one too: its marker comes behind the outer one's.
    const env = { ...base, ...request.env, [CALL_VARIABLE]: (base[CALL_VARIABLE] ?? '') + marker };
    const started = clock.monotonic();
    const child = start(request, env);
    if (child.pid === undefined) throw startFailure(await errorOf(child), request);
    const tree = { pid: child.pid, marker };
    active.set(marker, tree);
    const output = new Output(child, request, clock, filter);
    const ended = new Promise<Cause>((resolve) => child.once('exit', () => resolve('exit')));
    try {
      const cause = await firstOf(ended, request.timeoutMs, signal);
      await clear(tree, cause, ended, output);
      const captured = await output.finish();
      if (cause === 'abort') throw signal.reason;
      return {
        exitCode: child.exitCode,
        signal: child.signalCode,
        timedOut: cause === 'timeout',
        ...captured,
        durationMs: clock.monotonic() - started,
      };
    } finally {
      active.delete(marker);
      unswept = true;
      child.unref();
    }
  }

  const exec: Exec = (request, signal) => run(request, signal, options.filter);
  return Object.assign(exec, {
    unfiltered: ((request, signal) => run(request, signal)) satisfies Exec,
    async sweep() {
      if (!unswept) return;
      unswept = false;
      const strays = () => findMarked(instance, active.keys());
      await extinguish(strays, { clock, kill, patienceMs: SWEEP_PATIENCE_MS });
    },
    killAll() {
      if (!unswept && active.size === 0) return;
      for (const tree of active.values()) killTree(tree, kill);
      killNow(findMarked(instance, []), kill);
    },
  });
}

function start(request: ExecRequest, env: NodeJS.ProcessEnv): ChildProcess {
  const [program = '', ...args] = request.argv;
  const { cwd, stdin } = request;
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd,
      env,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      // A session of its own: one group to kill, and no terminal to ask a person on.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } catch (error) {
    throw startFailure(error as NodeJS.ErrnoException, request);
  }
  // A program need not read what it is given.
  child.stdin?.on('error', () => {}).end(stdin);
  return child;
}

function errorOf(child: ChildProcess): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => child.once('error', resolve));
}

function firstOf(ended: Promise<Cause>, timeoutMs: number | undefined, signal: AbortSignal): Promise<Cause> {
  return new Promise((resolve) => {
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => settle('timeout'), timeoutMs);
    const abort = () => settle('abort');
    const settle = (cause: Cause) => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      resolve(cause);
    };
    signal.addEventListener('abort', abort);
    ended.then(settle);
  });
}

function within(ms: number, promise: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    promise.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
