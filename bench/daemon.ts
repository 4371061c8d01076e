// What a daemon costs: until it is ready against a bare Node, what it holds when idle and with many conversations and
// clients, and what the protocol takes. `npm run bench:daemon` after a build; with `--check` a missed bar is a failure. Bars are
// ratios to a floor of the same run where there is one, since no two machines are alike.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startFakeProvider } from '../src/dev/fake-provider.ts';
import { type Dialled, dial } from '../src/hosts/daemon/dial.ts';
import { readServerMessage, type ServerMessage, writeServerMessage } from '../src/protocol/messages.ts';
import { cleanEnv } from '../test/support/crab.ts';
import { measureDeltas, processorMs } from './delta-stream.ts';
import { measureHops } from './hops.ts';
import { median } from './statistics.ts';

const CRAB = fileURLToPath(new URL('../dist/crab.cjs', import.meta.url));
const ROUNDS = 9;
const CONVERSATIONS = 1000;
const CLIENTS = 256;
const DELTA_ROUNDS = 7;
const REST_MS = 5000;

/** Milliseconds that a way may add, whatever the machine. */
const SOCKET_MS = 1;
const PIPE_MS = 0.1;

interface Started {
  readonly pid: number;
  readonly readyMs: number;
  stop(): Promise<void>;
}

async function started(home: string, env: Readonly<Record<string, string>> = {}): Promise<Started> {
  mkdirSync(join(home, '.crab'), { recursive: true });
  const from = performance.now();
  const args = [CRAB, 'daemon', 'run', '--no-tcp', '--max-clients', String(CLIENTS + 8)];
  const child = spawn(process.execPath, args, {
    cwd: home,
    env: { ...cleanEnv(home), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  for await (const text of child.stderr) if (String(text).includes('is ready')) break;
  const readyMs = performance.now() - from;
  return {
    pid: child.pid ?? -1,
    readyMs,
    async stop() {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function bareNode(): Promise<number> {
  const from = performance.now();
  await once(spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }), 'exit');
  return performance.now() - from;
}

/** As proc(5) has it. */
function residentMib(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function perSecond(turn: () => void): number {
  for (let at = 0; at < 100_000; at++) turn();
  const from = performance.now();
  for (let at = 0; at < 500_000; at++) turn();
  return 500_000 / ((performance.now() - from) / 1000);
}

const CHUNK: ServerMessage = {
  requestId: 7,
  message: { case: 'stream', value: { event: { case: 'chunk', value: { content: 'a few words' } } } },
};

async function dialled(home: string, count: number): Promise<readonly Dialled[]> {
  const options = { home: join(home, '.crab'), uid: process.getuid?.(), name: 'bench' };
  const all = await Promise.all(Array.from({ length: count }, () => dial(options)));
  return all.map((one) => one ?? missing());
}

function missing(): never {
  throw new Error('the daemon is gone');
}

/** A turn with the model in each of many conversations, and many clients that stay. */
async function crowd(home: string): Promise<readonly Dialled[]> {
  const clients = await dialled(home, CLIENTS);
  for (let at = 0; at < CONVERSATIONS; at++) {
    const message = { agent: 'crab', content: 'hello', sender: `bench:${at}`, cwd: home };
    const { client } = clients[at % CLIENTS] ?? missing();
    const { content } = await client.request('send', message, 'response');
    if (content !== 'Here.') throw new Error(`conversation ${at} said ${content}`);
  }
  return clients;
}

const missed: string[] = [];

/** `most`, `least`: the bar. */
function print(
  name: string,
  value: number,
  unit: string,
  { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = {},
): void {
  const isMet = value <= most && value >= least;
  if (!isMet) missed.push(name);
  const bar = Number.isFinite(most) ? `at most ${most.toFixed(2)}` : `at least ${least.toFixed(2)}`;
  const hasBar = Number.isFinite(most) || Number.isFinite(least);
  const digits = Math.abs(value) < 10 ? 3 : Math.abs(value) < 100 ? 1 : 0;
  const text = `${name.padEnd(52)} ${value.toFixed(digits).padStart(10)} ${unit}`;
  console.log(hasBar ? `${text.padEnd(72)} ${isMet ? '' : 'MISSED '}(${bar})` : text);
}

async function start(scratch: string): Promise<void> {
  const bare: number[] = [];
  const ready: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    bare.push(await bareNode());
    const daemon = await started(scratch);
    ready.push(daemon.readyMs);
    await daemon.stop();
  }
  print('bare node, to its end', median(bare), 'ms');
  print('daemon, until it is ready', median(ready), 'ms', { most: 4 * median(bare) });
}

async function rest(scratch: string): Promise<void> {
  const daemon = await started(scratch);
  await pause(REST_MS / 2);
  print('idle', residentMib(daemon.pid), 'MiB', { most: 60 });
  const before = processorMs(daemon.pid);
  await pause(REST_MS);
  print(`processor in ${REST_MS / 1000} idle seconds`, processorMs(daemon.pid) - before, 'ms', { most: 10 });
  await daemon.stop();
}

async function many(scratch: string): Promise<void> {
  const provider = await startFakeProvider({
    scenario: { replies: [{ text: 'Here.' }] },
    keepBodies: false,
  });
  try {
    const env = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'fake' };
    const daemon = await started(scratch, env);
    const clients = await crowd(scratch);
    await pause(REST_MS);
    const name = `${CONVERSATIONS} conversations that were used, ${CLIENTS} clients`;
    print(name, residentMib(daemon.pid), 'MiB', { most: 200 });
    for (const { client } of clients) client.close();
    await daemon.stop();
    const again = await started(scratch, env);
    print(`ready again with ${CONVERSATIONS} sessions`, again.readyMs, 'ms', { most: 2000 });
    await again.stop();
  } finally {
    await provider.close();
  }
}

async function ways(): Promise<void> {
  const { direct, pipe, socket, echo } = await measureHops();
  print('to the first event, same process, no protocol', direct, 'ms');
  print('the protocol within the process adds', pipe - direct, 'ms', { most: PIPE_MS });
  print('bytes to another process and back', echo, 'ms');
  // Of a machine that is slow at that, nothing better can be asked.
  print('the protocol over a socket adds', socket - direct, 'ms', { most: Math.max(SOCKET_MS, 5 * echo) });
  const frames = perSecond(() => readServerMessage(writeServerMessage(CHUNK, 0)));
  const json = perSecond(() => JSON.parse(JSON.stringify(CHUNK)));
  print('JSON of the same message, there and back', json / 1000, 'thousand/s');
  print('messages, encoded and decoded', frames / 1000, 'thousand/s', {
    least: Math.min(300, json / 1000 / 2),
  });
}

async function deltas(): Promise<void> {
  const { alone, client, daemon } = await measureDeltas(DELTA_ROUNDS);
  print('20,000 deltas, processor, same process', alone, 'ms');
  print('20,000 deltas, client and daemon', client + daemon, 'ms', { most: 1.1 * alone });
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const scratch = mkdtempSync(join(tmpdir(), 'crab-bench-'));
try {
  await start(scratch);
  await rest(scratch);
  await ways();
  await deltas();
  await many(scratch);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
if (process.argv.includes('--check') && missed.length > 0) {
  console.log(`missed: ${missed.join(', ')}`);
  process.exitCode = 1;
}
