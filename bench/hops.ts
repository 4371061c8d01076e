// What stands between a channel and a platform costs: nothing, the protocol within the process, and the protocol over a socket
// to another process. The platform is the same scripted one in all three, so that the difference is the way. Beside the socket
// stands the floor: bytes that go to that process and come straight back.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenRequest, Platform } from '../src/core/platform.ts';
import { dial } from '../src/hosts/daemon/dial.ts';
import { createClient } from '../src/protocol/client.ts';
import type { ClientMessage, ServerMessage } from '../src/protocol/messages.ts';
import { createPipe } from '../src/protocol/pipe.ts';
import { remotePlatform } from '../src/protocol/remote-platform.ts';
import { serve } from '../src/protocol/serve.ts';
import { scriptedPlatform, smallDaemon } from '../test/support/small-daemon.ts';
import { median } from './statistics.ts';

const ROUNDS = 2000;
const WARM = 300;
const ADDRESS = { agent: 'crab', sender: 'bench' };
const REQUEST = {
  ...ADDRESS,
  cwd: '/',
  session: { kind: 'new' },
  declaration: { agent: { name: 'crab' }, rules: [] } as unknown as OpenRequest['declaration'],
  commands: [],
} as const satisfies OpenRequest;

export interface Hops {
  /** Milliseconds, medians: from a prompt to the first event of its run. */
  readonly direct: number;
  readonly pipe: number;
  readonly socket: number;
  /** A few bytes to another process and back. */
  readonly echo: number;
}

export async function measureHops(): Promise<Hops> {
  const home = mkdtempSync(join(tmpdir(), 'crab-hops-'));
  const child = fork(import.meta.filename, [home]);
  try {
    await once(child, 'message');
    const near = scriptedPlatform();
    await using here = await smallDaemon({ listen: undefined });
    const [mine, its] = createPipe<ClientMessage, ServerMessage>();
    const serving = serve(its, {
      server: here.daemon.server,
      ...{ name: 'bench', isTrusted: true, authenticate: async () => false },
    });
    const piped = createClient(mine);
    const dialled = await dial({ home, uid: process.getuid?.(), name: 'bench' });
    if (dialled === undefined) throw new Error('the other process does not listen');
    let count = 0;
    const names = () => `b${++count}`;
    const ways = {
      direct: near as Platform,
      pipe: remotePlatform(piped, names),
      socket: remotePlatform(dialled.client, names),
    };
    const times = { direct: [], pipe: [], socket: [], echo: [] } as Record<keyof Hops, number[]>;
    for (const platform of Object.values(ways)) await platform.open(REQUEST);
    const echo = connect(join(home, 'echo'));
    await once(echo, 'connect');
    // Side by side, so that what disturbs the machine disturbs all of them.
    for (let round = -WARM; round < ROUNDS; round++) {
      const note = (name: keyof Hops, ms: number) => void (round >= 0 && times[name].push(ms));
      for (const [name, platform] of Object.entries(ways))
        note(name as keyof Hops, await untilFirst(platform));
      note('echo', await thereAndBack(echo));
    }
    echo.destroy();
    piped.close();
    dialled.client.close();
    await serving;
    const { direct, pipe, socket } = times;
    return { direct: median(direct), pipe: median(pipe), socket: median(socket), echo: median(times.echo) };
  } finally {
    child.disconnect();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(home, { recursive: true, force: true });
  }
}

/** The rest of the run is heard out behind it. */
async function untilFirst(platform: Platform): Promise<number> {
  const from = performance.now();
  let first: number | undefined;
  for await (const _ of platform.prompt(ADDRESS, { text: 'a' }, new AbortController().signal))
    first ??= performance.now() - from;
  return first ?? Number.NaN;
}

async function thereAndBack(echo: Socket): Promise<number> {
  const from = performance.now();
  echo.write('a few bytes');
  await once(echo, 'data');
  return performance.now() - from;
}

/** The other process. */
async function beFar(home: string): Promise<void> {
  await using _small = await smallDaemon({ home });
  const echo = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  await once(echo.listen(join(home, 'echo')), 'listening');
  process.send?.('ready');
  await once(process, 'disconnect');
  echo.close();
}

if (import.meta.main) await beFar(process.argv[2] ?? '');
