// A long life of the real daemon: turns with three tool calls each, in conversations that come and go. What it holds behind a
// whole collection is looked at early and at the end, and so is what it has open. The longest run is
//
//   npm run campaign:soak -- --turns 5000 --warm 500

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startFakeProvider } from '../../src/dev/fake-provider.ts';
import { dial } from '../../src/hosts/daemon/dial.ts';
import { cleanEnv } from '../support/crab.ts';
import { daemonFor } from '../support/daemon.ts';
import { eventually } from '../support/processes.ts';

export interface SoakOptions {
  readonly turns: number;
  /** Turns before the first look: by then everything is loaded, and has the size that it keeps. */
  readonly warm: number;
  /** A fault that is planted: each request to the model leaves something behind. */
  readonly leaks?: boolean;
}

/** What a daemon holds. */
export interface Held {
  /** Bytes that are in use. */
  readonly memory: number;
  /** Sockets, timers and the like, by kind. */
  readonly resources: readonly string[];
  readonly descriptors: number;
  /** Bytes of the process. */
  readonly rss: number;
}

export interface Soaked {
  readonly early: Held;
  readonly late: Held;
  readonly turns: number;
  readonly calls: number;
  readonly seconds: number;
}

/** Turns of one conversation. */
const TURNS = 20;

const CALLS = [
  { name: 'read', input: { path: 'notes.txt' } },
  { name: 'grep', input: { pattern: 'line 7' } },
  { name: 'bash', input: { command: 'echo here' } },
];

const SETTINGS = `[permissions]
default_mode = "bypassPermissions"

[sandbox]
mode = "off"

[daemon]
max_loaded_sessions = 0
`;

/** Says what the process holds, into a file that appears whole. */
const HOOK = `
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');
const { renameSync, writeFileSync } = require('node:fs');
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => {
  collect();
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const held = { memory: heapUsed + external, rss, resources: process.getActiveResourcesInfo().sort() };
  writeFileSync(process.env.HELD + '.new', JSON.stringify(held));
  renameSync(process.env.HELD + '.new', process.env.HELD);
});
if (process.env.LEAKS) {
  const http = require('node:http');
  const { request } = http;
  const kept = [];
  http.request = (...args) => {
    kept.push(Array.from({ length: 12_000 }, (_, at) => ({ at })));
    return request(...args);
  };
}
`;

/** Throws where a turn comes to something else than it should. */
export async function soak({ turns, warm, leaks = false }: SoakOptions): Promise<Soaked> {
  const scratch = mkdtempSync(join(tmpdir(), 'crab-soak-'));
  const [home, cwd] = [join(scratch, 'home'), join(scratch, 'work')];
  mkdirSync(join(home, '.crab'), { recursive: true });
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'notes.txt'), Array.from({ length: 200 }, (_, at) => `line ${at}\n`).join(''));
  writeFileSync(join(home, '.crab/config.toml'), SETTINGS, { mode: 0o600 });
  writeFileSync(join(scratch, 'hook.cjs'), HOOK);
  const replies = Array.from({ length: TURNS }, () => [{ calls: CALLS }, { text: 'It is so.' }]).flat();
  const provider = await startFakeProvider({ scenario: { replies }, keepBodies: false });
  const env = {
    ...cleanEnv(home),
    ...{ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'fake' },
    ...{ NODE_OPTIONS: `--require=${join(scratch, 'hook.cjs')}`, HELD: join(scratch, 'held.json') },
    ...(leaks && { LEAKS: '1' }),
  };
  try {
    await using daemon = await daemonFor({ cwd, env });
    const dialled = await dial({ home: join(home, '.crab'), uid: process.getuid?.(), name: 'soak' });
    if (dialled === undefined) throw new Error('no daemon listens');
    const { client } = dialled;
    const from = performance.now();
    const say = async (turn: number) => {
      const message = { agent: 'crab', sender: `soak-${Math.floor(turn / TURNS)}`, content: 'look', cwd };
      const { content, error } = await client.request('send', message, 'response');
      if (content !== 'It is so.') throw new Error(`turn ${turn} came to ${content} ${error}`);
    };
    const look = async (): Promise<Held> => {
      await eventually('every conversation has left', async () => {
        const { sessions } = await client.request('sessions', {}, 'sessions');
        return sessions.length === 0;
      });
      return heldBy(daemon.pid, env.HELD);
    };
    for (let turn = 0; turn < warm; turn++) await say(turn);
    const early = await look();
    for (let turn = warm; turn < turns; turn++) await say(turn);
    const late = await look();
    const calls = turns * CALLS.length;
    const soaked = { early, late, turns, calls, seconds: (performance.now() - from) / 1000 };
    if (provider.violations.length > 0) throw new Error(`refused: ${provider.violations[0]?.message}`);
    client.close();
    return soaked;
  } finally {
    await provider.close();
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function heldBy(pid: number, path: string): Promise<Held> {
  rmSync(path, { force: true });
  process.kill(pid, 'SIGUSR2');
  let text = '';
  await eventually('it says what it holds', async () => {
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return false;
    }
    return true;
  });
  return { ...JSON.parse(text), descriptors: await keptOpen(pid) };
}

/** The fewest of several looks: a file that is being written at one of them is closed at the next, and a leak is not. */
async function keptOpen(pid: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 20; look++) {
    least = Math.min(least, readdirSync(`/proc/${pid}/fd`).length);
    await pause(25);
  }
  return least;
}

/** What has grown, beyond a tenth of the memory or by a handle; none where all is well. */
export function grown({ early, late }: Soaked): readonly string[] {
  const ratio = late.memory / early.memory;
  const more = late.resources.length - early.resources.length;
  const open = late.descriptors - early.descriptors;
  return [
    ...(ratio > 1.1 ? [`the memory is ${ratio.toFixed(2)} times what it was`] : []),
    ...(more > 0 ? [`${more} more of ${late.resources.join(', ')}`] : []),
    ...(open > 0 ? [`${open} more descriptors`] : []),
  ];
}

const mib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

if (import.meta.main) {
  const { values } = parseArgs({
    options: { turns: { type: 'string', default: '5000' }, warm: { type: 'string', default: '500' } },
  });
  const soaked = await soak({ turns: Number(values.turns), warm: Number(values.warm) });
  const { early, late, turns, calls, seconds } = soaked;
  console.log(`${turns} turns, ${calls} tool calls, ${seconds.toFixed(0)} s`);
  for (const [name, held] of [
    [`at ${values.warm}`, early],
    [`at ${turns}`, late],
  ] as const)
    console.log(
      `${name}: ${mib(held.memory)} in use, ${mib(held.rss)} in all, ${held.resources.length} resources, ${held.descriptors} descriptors`,
    );
  for (const fault of grown(soaked)) console.log(`FAULT ${fault}`);
  if (grown(soaked).length > 0) process.exitCode = 1;
}
