// A daemon in a process of its own, for the home in its environment.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { testedCommand } from './crab.ts';

export interface Daemon extends AsyncDisposable {
  readonly pid: number;
  /** Where clients elsewhere are let in, of `crab serve`. */
  readonly url: string;
  /** Resolves when it is gone. */
  kill(signal?: NodeJS.Signals): Promise<void>;
}

export interface DaemonOptions {
  readonly cwd: string;
  /** The whole of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Of `crab daemon run`. Default: no TCP. */
  readonly flags?: readonly string[];
  /** Flags of `crab serve`, in place of `crab daemon run`. */
  readonly serve?: readonly string[];
}

const URL_SAID = /are let in at (\S+)/;

/** Resolves when its sockets listen. */
export async function daemonFor({ cwd, env, flags = ['--no-tcp'], serve }: DaemonOptions): Promise<Daemon> {
  const [file = '', ...before] = testedCommand();
  const command = serve === undefined ? ['daemon', 'run', ...flags] : ['serve', ...serve];
  const child = spawn(file, [...before, ...command], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (said.includes('is ready') && (serve === undefined || URL_SAID.test(said))) resolve();
    });
    exited.then(([code]) => reject(new Error(`the daemon ended with ${code}: ${said}`)), reject);
  });
  const kill = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await exited;
  };
  return {
    pid: child.pid ?? -1,
    url: URL_SAID.exec(said)?.[1] ?? '',
    kill,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) await kill('SIGKILL');
    },
  };
}
