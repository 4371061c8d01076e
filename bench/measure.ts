// What a command costs: wall time, processor time and peak memory of the process and of all it waited for, from the
// kernel's own accounts. Node has no `wait4`, so two small programs stand between: GNU time for the memory, and bash
// for the times, to the millisecond where GNU time has but hundredths. Both are smaller than any subject, and the
// clock runs inside of them.

import { execFileSync, spawn } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, readFileSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const TIME = '/usr/bin/time';
const SCRIPT = fileURLToPath(new URL('measure.sh', import.meta.url));

export interface Cost {
  readonly wallMs: number;
  /** User and system. */
  readonly cpuMs: number;
  readonly rssMb: number;
  readonly output: string;
}

export interface MeasureOptions {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A folder for files of ours; one measurement at a time. */
  readonly scratch: string;
  /** Milliseconds that the reader of standard output rests after each piece. */
  readonly restMs?: number;
  readonly timeoutMs?: number;
}

/** Rejects when the command does not end with status 0, with what it wrote to standard error. */
export async function measure(command: readonly string[], options: MeasureOptions): Promise<Cost> {
  if (!existsSync(TIME)) throw new Error(`${TIME} is not here: npm run setup:system installs it`);
  const memory = join(options.scratch, 'memory');
  const output = openPipe(join(options.scratch, 'output'));
  const child = spawn(TIME, ['-q', '-f', '%M', '-o', memory, SCRIPT, ...command], {
    cwd: options.cwd,
    env: options.env,
    stdio: ['ignore', output.writeTo, 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 120_000,
  });
  closeSync(output.writeTo);
  const times = child.stdio[3];
  if (!(times instanceof Socket) || child.stderr === null)
    throw new Error('the pipes of a child are missing');
  const ended = new Promise<number | null>((done, fail) => {
    child.on('error', fail);
    child.on('close', done);
  });
  const [status, text, errors, account] = await Promise.all([
    ended,
    readText(output.readFrom, options.restMs ?? 0),
    readText(child.stderr, 0),
    readText(times, 0),
  ]);
  if (status !== 0) throw new Error(`${command.join(' ')} ended with status ${status}: ${errors}`);
  return { ...readTimes(account), rssMb: Number(readFileSync(memory, 'utf8')) / 1024, output: text };
}

/** A real pipe, as between two programs of a shell; those that `spawn` makes are sockets. */
function openPipe(path: string): { readonly readFrom: Socket; readonly writeTo: number } {
  if (!existsSync(path)) execFileSync('mkfifo', [path]);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { readFrom: new Socket({ fd, readable: true, writable: false }), writeTo: openSync(path, 'w') };
}

async function readText(stream: NodeJS.ReadableStream, restMs: number): Promise<string> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) {
    text += piece;
    if (restMs > 0) await sleep(restMs);
  }
  return text;
}

/** Start and end; the shell's own times; its children's, such as `0m0.018s 0m0.020s`. */
function readTimes(account: string): { readonly wallMs: number; readonly cpuMs: number } {
  const [wall = '', , children = ''] = account.split('\n');
  const [started = Number.NaN, ended = Number.NaN] = wall
    .split(' ')
    .map((one) => Number(one.replace(',', '.')));
  const parts = [...children.matchAll(/(\d+)m(\d+)[.,](\d+)s/g)];
  if (Number.isNaN(started + ended) || parts.length !== 2) throw new Error(`no times in ${account}`);
  const cpuMs = parts.reduce((sum, [, minutes, seconds, thousandths]) => {
    return sum + Number(minutes) * 60_000 + Number(seconds) * 1000 + Number(thousandths);
  }, 0);
  return { wallMs: (ended - started) * 1000, cpuMs };
}
