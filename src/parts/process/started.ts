// A program that was started on pipes, in the form that one on a terminal has, too.

import { type ChildProcess, spawn } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import { ToolFailure } from '../../core/errors.ts';
import type { ProcessChannel, ProcessRequest } from '../../core/host.ts';
import { startFailure } from './failure.ts';
import { Flow } from './flow.ts';
import { feed, pipesFor } from './keeper.ts';

/** What a program speaks through beside its standard streams. */
const CHANNEL = ['pipe', 'pipe'] as const;

export interface End {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface Started {
  readonly pid: number;
  readonly stdout: Flow;
  readonly stderr: Flow;
  readonly channel?: ProcessChannel;
  /** Of the main process alone. */
  readonly exited: Promise<End>;
  write(data: string | Uint8Array): Promise<void>;
  end(): void;
  resize(columns: number, rows: number): void;
  /** Lets go of the pipes, whoever holds their other ends. */
  release(): void;
}

/** Rejects with `ToolFailure`. */
export async function startOnPipes(request: ProcessRequest, env: NodeJS.ProcessEnv): Promise<Started> {
  const [program = '', ...args] = request.argv;
  if (request.channel === true && request.keeper !== undefined)
    throw new ToolFailure(`${program} speaks through pipes that the sandbox needs for itself.`);
  const child = spawn(program, args, {
    cwd: request.cwd,
    env,
    stdio: ['pipe', 'pipe', 'pipe', ...(request.channel === true ? CHANNEL : pipesFor(request.keeper))],
    detached: process.platform !== 'win32',
    windowsHide: true,
  });
  if (child.pid === undefined) throw startFailure(await errorOf(child), request);
  child.on('error', () => {});
  const { stdin, stdout, stderr } = child;
  if (stdin === null || stdout === null || stderr === null)
    throw new ToolFailure(`${program} was given no standard streams.`);
  stdin.on('error', () => {});
  feed(child, request.keeper);
  return {
    pid: child.pid,
    stdout: flowOf(stdout),
    stderr: flowOf(stderr),
    ...(request.channel === true && { channel: channelOf(child, program) }),
    exited: new Promise((resolve) => child.once('exit', (exitCode, signal) => resolve({ exitCode, signal }))),
    write: (data) => write(stdin, data, program),
    end: () => void stdin.end(),
    resize: () => {},
    release: () => {
      for (const stream of child.stdio) stream?.destroy();
    },
  };
}

function flowOf(pipe: NonNullable<ChildProcess['stdout']>): Flow {
  const flow = new Flow(pipe);
  pipe.on('data', (bytes: Buffer) => flow.push(bytes));
  pipe.on('error', () => {});
  pipe.on('close', () => flow.end());
  return flow;
}

function errorOf(child: ChildProcess): Promise<NodeJS.ErrnoException> {
  return new Promise((resolve) => child.once('error', resolve));
}

function channelOf({ stdio }: ChildProcess, program: string): ProcessChannel {
  const [, , , input, output] = stdio;
  if (!(input instanceof Writable && output instanceof Readable))
    throw new ToolFailure(`${program} was given no pipes beside its standard streams.`);
  input.on('error', () => {});
  return { write: (data) => write(input, data, program), output };
}

function write(input: Writable, data: string | Uint8Array, program: string): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!input.writable) return reject(new ToolFailure(`${program} reads no more.`));
    input.write(data, (error) => {
      if (error) reject(new ToolFailure(`${program} reads no more: ${error.message}.`, { cause: error }));
      else resolve();
    });
  });
}
