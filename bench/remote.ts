// `npm run bench:remote`: what idle clients cost a remote door, and how soon one of them is answered among the others. The
// door is a process of its own, so that its memory is its own.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { RemoteClient } from '../src/hosts/remote/remote-client.ts';
import { openDoor, TOKEN, upgradeRequest } from '../test/support/remote-door.ts';

const PINGS = 2000;
/** Opened at once: more overflow the queue of the listening socket. */
const STEP = 200;

const { values: flags } = parseArgs({
  options: { clients: { type: 'string', default: '10000' }, door: { type: 'boolean', default: false } },
});

interface Report {
  readonly url: string;
  readonly clients: number;
  /** Bytes, after a collection. */
  readonly rss: number;
}

/** Tells what it holds whenever it is asked. */
async function beDoor(): Promise<void> {
  const limits = { clients: 100_000, rate: 1e6, burst: 1e6, pingMs: 600_000 };
  await using door = await openDoor({ limits });
  process.on('message', () => {
    globalThis.gc?.();
    process.send?.({ url: door.url, clients: door.remote.clients, rss: process.memoryUsage.rss() });
  });
  process.send?.('ready');
  await once(process, 'disconnect');
}

async function measure(count: number): Promise<void> {
  const child = fork(import.meta.filename, ['--door'], { execArgv: ['--expose-gc'] });
  try {
    await once(child, 'message');
    const ask = async (): Promise<Report> => {
      child.send('report');
      const [report] = await once(child, 'message');
      return report;
    };
    const before = await ask();
    await using client = await RemoteClient.connect(
      before.url,
      { mode: 'header', token: TOKEN },
      { client: 'bench' },
    );
    const alone = await pings(client);
    const sockets: Socket[] = [];
    const start = performance.now();
    while (sockets.length < count)
      sockets.push(...(await Promise.all(Array.from({ length: STEP }, () => idle(before.url)))));
    const seconds = (performance.now() - start) / 1000;
    const after = await ask();
    const among = await pings(client);
    const each = (after.rss - before.rss) / after.clients / 1024;
    console.log(`${after.clients} clients, opened at ${Math.round(sockets.length / seconds)} a second`);
    console.log(
      `memory       ${mib(before.rss)} MiB alone, ${mib(after.rss)} MiB with them: ${each.toFixed(1)} KiB each`,
    );
    console.log(
      `ping         p50 ${among.p50} ms, p99 ${among.p99} ms (alone ${alone.p50} and ${alone.p99})`,
    );
    for (const socket of sockets) socket.destroy();
  } finally {
    child.disconnect();
  }
}

/** A connection that says nothing more once it is one. */
async function idle(url: string): Promise<Socket> {
  const port = Number(new URL(url).port);
  const socket = connect(port, '127.0.0.1');
  socket.write(upgradeRequest(port));
  const [said] = await once(socket, 'data');
  if (!String(said).startsWith('HTTP/1.1 101')) throw new Error(`refused: ${said}`);
  return socket;
}

async function pings({ client }: RemoteClient): Promise<{ readonly p50: string; readonly p99: string }> {
  const times: number[] = [];
  for (let count = 0; count < PINGS; count++) {
    const start = performance.now();
    await client.request('ping', {}, 'pong');
    times.push(performance.now() - start);
  }
  times.sort((one, other) => one - other);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? 0).toFixed(2);
  return { p50: at(0.5), p99: at(0.99) };
}

function mib(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

if (flags.door) await beDoor();
else await measure(Number(flags.clients));
