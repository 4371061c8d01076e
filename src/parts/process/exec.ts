// Starts programs and sees to it that nothing of them is left. A call ends with its main process and not
// with its pipes: a grandchild that holds one open must not hold up the result.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Exec, ExecRequest, ExecResult, OpenProcess } from '../../core/host.ts';
import type { TextFilter } from '../../core/redact.ts';
import { Children, type ChildrenOptions } from './children.ts';
import { checkRequest, startFailure } from './failure.ts';
import { feed, pipesFor } from './keeper.ts';
import { createOpen } from './open.ts';
import { Output } from './output.ts';
import { endTree, groupAlive, type Tree } from './tree.ts';

export interface ExecOptions extends ChildrenOptions {
  /** Takes secrets out of all output, before it is shown, kept or spilled (law 10). Made for each stream. */
  readonly filter?: () => TextFilter;
}

export type HostExec = Exec & {
  /** Ends what outlived the calls that are over. For the end of a run: looks at `/proc` if anything was run. */
  sweep(): Promise<void>;
  /** Kills everything at once, synchronously: for the moment before the host itself ends. */
  killAll(): void;
  /** The same without the filter: for programs that are run to be told a secret. */
  readonly unfiltered: Exec;
  /** For programs that outlive the call. Their output is theirs alone: it is not filtered. */
  readonly open: OpenProcess;
};

/** Milliseconds, about, that what a keeper kept may take to end with it. */
const KEPT_MS = 20;

/** Milliseconds to hear of the end of a main process that is not found any more. */
const REAP_MS = 500;

type Cause = 'exit' | 'timeout' | 'abort' | 'bounds';

/** Milliseconds between SIGTERM and SIGKILL. For what a finished command left behind its result waits. */
const PATIENCE = { exit: 150, timeout: 2000, abort: 2000 } as const;

export function createExec(options: ExecOptions): HostExec {
  const children = new Children(options);
  const { clock, kill } = children;

  /** A command's children do not survive it, whether it ended by itself or not. */
  async function clear(tree: Tree, cause: Cause, ended: Promise<unknown>, output: Output): Promise<void> {
    if (cause === 'exit') await output.settle();
    if (cause === 'exit' && tree.isKeeper === true) await keptEnd(tree.pid);
    if (cause === 'exit' && !output.open && !groupAlive(tree.pid)) return;
    if (cause === 'bounds') await children.endNow(tree);
    else await endTree(tree, { clock, kill, patienceMs: PATIENCE[cause] });
    if (cause !== 'exit') await within(REAP_MS, ended);
    await output.settle();
  }

  /** The kernel ends what a keeper kept a moment after the keeper; looking for it would take longer. */
  async function keptEnd(pid: number): Promise<void> {
    for (let waited = 0; waited < KEPT_MS && groupAlive(pid); waited++) await clock.sleep(1);
  }

  async function run(
    request: ExecRequest,
    signal: AbortSignal,
    filter?: () => TextFilter,
  ): Promise<ExecResult> {
    signal.throwIfAborted();
    checkRequest(request);
    const marker = children.mark(request);
    const env = children.environment(marker, request.env);
    const started = clock.monotonic();
    const child = start(request, env);
    if (child.pid === undefined) throw startFailure(await errorOf(child), request);
    const tree = { pid: child.pid, marker, isKeeper: request.keeper !== undefined };
    children.add(tree);
    const output = new Output(child, request, clock, filter);
    const ended = new Promise<Cause>((resolve) => child.once('exit', () => resolve('exit')));
    let exceeded: string | undefined;
    const overBounds = new Promise<Cause>((resolve) =>
      children.bound(tree, request.bounds, (sentence) => {
        exceeded = sentence;
        resolve('bounds');
      }),
    );
    try {
      const cause = await firstOf(Promise.race([ended, overBounds]), request.timeoutMs, signal);
      await clear(tree, cause, ended, output);
      const captured = await output.finish();
      if (cause === 'abort') throw signal.reason;
      return {
        exitCode: child.exitCode,
        signal: child.signalCode,
        timedOut: cause === 'timeout',
        ...(exceeded !== undefined && { exceeded }),
        ...captured,
        durationMs: clock.monotonic() - started,
      };
    } finally {
      children.remove(tree);
      child.unref();
    }
  }

  const exec: Exec = (request, signal) => run(request, signal, options.filter);
  return Object.assign(exec, {
    unfiltered: ((request, signal) => run(request, signal)) satisfies Exec,
    open: createOpen(children),
    sweep: () => children.sweep(),
    killAll: () => children.killAll(),
  });
}

function start(request: ExecRequest, env: NodeJS.ProcessEnv): ChildProcess {
  const [program = '', ...args] = request.argv;
  const { cwd, stdin, keeper } = request;
  let child: ChildProcess;
  try {
    child = spawn(program, args, {
      cwd,
      env,
      stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...pipesFor(keeper)],
      // A session of its own: one group to kill, and no terminal to ask a person on.
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
  } catch (error) {
    throw startFailure(error as NodeJS.ErrnoException, request);
  }
  // A program need not read what it is given.
  child.stdin?.on('error', () => {}).end(stdin);
  feed(child, keeper);
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
