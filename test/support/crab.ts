// Drives the built program as a person or a script would: a process with an environment of its own, in which
// no key, no home and no setting of the machine that runs the tests can be seen.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const BUILT = fileURLToPath(new URL('../../dist/crab.cjs', import.meta.url));

export interface CrabOptions {
  readonly args: readonly string[];
  readonly cwd: string;
  /** `$HOME`; sessions and settings go to `.crab` below it. */
  readonly home: string;
  /** Beside the few variables that are set anyway; undefined removes one of those. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Ends the process and all of its children. */
  readonly signal?: AbortSignal;
  /** A script for Node or an executable. Default: `$CRAB_BIN`, else what the build made. */
  readonly bin?: string;
}

export interface CrabExit {
  /** Null when a signal ended it. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CrabProcess extends AsyncDisposable {
  readonly pid: number;
  readonly stdin: Writable;
  /** Everything so far. */
  readonly stdout: string;
  readonly stderr: string;
  readonly exited: Promise<CrabExit>;
  /**
   * Resolves with the output up to the end of the next match; the next call looks behind it. Rejects
   * when the process ends first or `timeoutMs` (default 60 s) pass.
   */
  waitFor(pattern: string | RegExp, options?: WaitOptions): Promise<string>;
  /** Signals this process and none of its children. Default: SIGTERM. */
  kill(signal?: NodeJS.Signals): void;
  /** Stops reading standard output, as a slow reader does; what the system holds in between fills up. */
  pause(): void;
  resume(): void;
}

export interface WaitOptions {
  readonly on?: 'stdout' | 'stderr';
  readonly timeoutMs?: number;
}

export interface RunOptions extends CrabOptions {
  /** Default: nothing, as from `/dev/null`. */
  readonly stdin?: string | Uint8Array;
  /** Default: 120 s. */
  readonly timeoutMs?: number;
}

/** Runs to the end. Rejects when that does not come in time, or when the signal aborts. */
export async function runCrab({
  stdin = '',
  timeoutMs = 120_000,
  ...options
}: RunOptions): Promise<CrabExit> {
  const bound = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? bound : AbortSignal.any([options.signal, bound]);
  await using crab = spawnCrab({ ...options, signal });
  crab.stdin.end(stdin);
  const exit = await crab.exited;
  if (bound.aborted) throw new Error(`no end after ${timeoutMs} ms\n${transcript(exit)}`);
  signal.throwIfAborted();
  return exit;
}

/** Starts the program with open pipes. Disposing of it kills whatever it left behind. */
export function spawnCrab(options: CrabOptions): CrabProcess {
  const { args, cwd, home, env, signal } = options;
  const [file, ...before] = commandOf(options.bin ?? testedBin());
  // A process group of its own, so that its children can be killed with it.
  const child = spawn(file, [...before, ...args], {
    cwd,
    env: { ...cleanEnv(home), ...env },
    detached: true,
  });
  const killAll = () => killGroup(child);
  signal?.addEventListener('abort', killAll, { once: true });
  if (signal?.aborted) killAll();
  // Writing to a process that is gone is the test's subject at times, never its failure.
  child.stdin.on('error', () => {});
  const stdout = listen(child.stdout.setEncoding('utf8'));
  const stderr = listen(child.stderr.setEncoding('utf8'));
  const exited = exitOf(child, stdout, stderr).finally(() => signal?.removeEventListener('abort', killAll));
  // Whoever only waits for output still learns of a failed start from `waitFor`.
  exited.catch(() => {});
  return {
    pid: child.pid ?? -1,
    stdin: child.stdin,
    exited,
    get stdout() {
      return stdout.text;
    },
    get stderr() {
      return stderr.text;
    },
    waitFor: (pattern, wait = {}) => waitFor(wait.on === 'stderr' ? stderr : stdout, pattern, exited, wait),
    kill: (name = 'SIGTERM') => void child.kill(name),
    pause: () => void child.stdout.pause(),
    resume: () => void child.stdout.resume(),
    async [Symbol.asyncDispose]() {
      killAll();
      await exited.catch(() => {});
    },
  };
}

function testedBin(): string {
  return process.env['CRAB_BIN'] ?? BUILT;
}

/** What the standalone binary, which runs on Bun, does not do; a test that needs it names it here. */
const BUN_LACKS = {
  'a removed working directory': 'Bun itself ends with its own message when its working directory is gone',
  NODE_OPTIONS: 'Bun reads no NODE_OPTIONS, so nothing can be loaded before the program',
} as const;

/** The `skip` of a test that the standalone binary cannot pass: why it cannot, or false where Node runs the program. */
export function needs(feature: keyof typeof BUN_LACKS): string | false {
  return testedCommand().length === 1 ? BUN_LACKS[feature] : false;
}

/** How the tested program is started, for tests that start it through another one. */
export function testedCommand(): readonly string[] {
  return commandOf(testedBin());
}

function commandOf(bin: string): readonly [string, ...string[]] {
  return /\.[cm]?[jt]s$/.test(bin) ? [process.execPath, bin] : [bin];
}

/** Of the tests themselves: where temporary files lie, and what Node shares between one run of the program and the next. */
const KEPT = ['TMPDIR', 'NODE_V8_COVERAGE', 'NODE_COMPILE_CACHE'];

/** An allow-list: what is not named here does not reach the program. */
export function cleanEnv(home: string): Readonly<Record<string, string | undefined>> {
  const kept = Object.fromEntries(
    KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
  return {
    PATH: process.env['PATH'],
    ...kept,
    HOME: home,
    CRAB_HOME: join(home, '.crab'),
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  };
}

interface Output {
  text: string;
  /** How far `waitFor` has read. */
  read: number;
  readonly changed: Set<() => void>;
}

function listen(stream: NodeJS.ReadableStream): Output {
  const output: Output = { text: '', read: 0, changed: new Set() };
  stream.on('data', (piece: string) => {
    output.text += piece;
    for (const check of output.changed) check();
  });
  return output;
}

async function exitOf(child: ChildProcess, stdout: Output, stderr: Output): Promise<CrabExit> {
  const [code, signal] = await once(child, 'close');
  return { code, signal, stdout: stdout.text, stderr: stderr.text };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them are gone.
  }
}

function waitFor(
  output: Output,
  pattern: string | RegExp,
  exited: Promise<CrabExit>,
  { timeoutMs = 60_000 }: WaitOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const leave = () => {
      clearTimeout(timer);
      output.changed.delete(check);
    };
    const check = () => {
      const end = endOfMatch(output.text.slice(output.read), pattern);
      if (end === undefined) return;
      leave();
      const from = output.read;
      output.read += end;
      resolve(output.text.slice(from, output.read));
    };
    const fail = (why: string) => {
      leave();
      reject(
        new Error(`${why} before ${pattern} was seen in: ${JSON.stringify(output.text.slice(output.read))}`),
      );
    };
    const timer = setTimeout(() => fail(`${timeoutMs} ms passed`), timeoutMs);
    output.changed.add(check);
    check();
    exited.then(
      (exit) => fail(`the process ended (${transcript(exit)})`),
      (error) => fail(String(error)),
    );
  });
}

function endOfMatch(text: string, pattern: string | RegExp): number | undefined {
  if (typeof pattern === 'string') {
    const at = text.indexOf(pattern);
    return at < 0 ? undefined : at + pattern.length;
  }
  const match = pattern.exec(text);
  return match === null ? undefined : match.index + match[0].length;
}

function transcript({ code, signal, stdout, stderr }: CrabExit): string {
  return `code ${code}, signal ${signal}, stdout ${JSON.stringify(stdout)}, stderr ${JSON.stringify(stderr)}`;
}
