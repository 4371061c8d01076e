// Whatever a network can send to the remote door: requests of strangers in every combination, messages and frames that
// were changed at random, and heads that never end. Each attack returns what it found: nothing, where the door holds.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { RemoteClient } from '../../src/hosts/remote/remote-client.ts';
import { type Door, TOKEN, until, upgradeRequest } from '../support/remote-door.ts';

type Random = () => number;

/** A text frame as a client sends it (RFC 6455, 5.2). */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const mask = randomBytes(4);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length])
      : Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 0xff]);
  const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  return Buffer.concat([head, mask, masked]);
}

interface Trait {
  readonly name: string;
  readonly good: readonly (string | undefined)[];
  readonly bad: readonly (string | undefined)[];
}

function traits(port: number): readonly Trait[] {
  return [
    {
      name: 'Host',
      good: [`127.0.0.1:${port}`, 'localhost', '[::1]'],
      bad: [
        'evil.example',
        '127.0.0.1.evil.example',
        `localhost.evil.example:${port}`,
        '0.0.0.0',
        '2130706433',
      ],
    },
    {
      name: 'Origin',
      good: [undefined, 'https://app.example'],
      bad: ['https://evil.example', 'null', 'http://app.example', 'https://app.example.evil.example'],
    },
    {
      name: 'Authorization',
      good: [`Bearer ${TOKEN}`],
      bad: [undefined, 'Bearer wrong', `Basic ${TOKEN}`, `Bearer ${TOKEN.slice(1)}`, `Bearer ${TOKEN} x`],
    },
  ];
}

const CALL = textFrame(
  '{"jsonrpc":"2.0","id":1,"method":"publishEvent","params":{"source":"a","payload":"b"}}',
);

/** Every combination with at least one bad trait, each with a call behind it: no handler may hear of it. */
export async function strangers(door: Door, port = door.port): Promise<readonly string[]> {
  const faults: string[] = [];
  const [hosts, origins, tokens] = traits(port).map((trait) => [
    ...trait.good.map((value) => ({ ...trait, value, isBad: false })),
    ...trait.bad.map((value) => ({ ...trait, value, isBad: true })),
  ]);
  for (const host of hosts ?? [])
    for (const origin of origins ?? [])
      for (const token of tokens ?? []) {
        const all = [host, origin, token];
        if (!all.some(({ isBad }) => isBad)) continue;
        const headers = Object.fromEntries(all.map(({ name, value }) => [name, value]));
        const before = door.reached.length;
        await exchange(port, Buffer.concat([Buffer.from(upgradeRequest(port, headers)), CALL]));
        if (door.reached.length > before) faults.push(`reached with ${JSON.stringify(headers)}`);
      }
  const forms = [
    `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 60\r\n\r\n{"jsonrpc":"2.0","id":1,"method":"publishEvent","params":{}}`,
    upgradeRequest(port, { Authorization: undefined }, `/?token=${TOKEN}`),
    upgradeRequest(port, { 'Sec-WebSocket-Protocol': undefined }),
  ];
  for (const form of forms) {
    const before = door.reached.length;
    await exchange(port, Buffer.concat([Buffer.from(form), CALL]));
    if (door.reached.length > before) faults.push(`reached with ${form.slice(0, 40)}`);
  }
  return faults;
}

/** Until the other end has answered the head, and what lies behind it if it wants to; then it is left. */
function exchange(port: number, bytes: Buffer): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(port, '127.0.0.1');
  let said = '';
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1');
    // An acceptance is followed by the answer to the call.
    const isOver = said.startsWith('HTTP/1.1 101') ? said.includes('"jsonrpc"') : said.includes('\r\n\r\n');
    if (isOver) socket.destroy();
  });
  socket.on('error', () => {});
  socket.on('close', () => resolve());
  socket.write(bytes);
  return promise;
}

const SEEDS: readonly string[] = [
  '{"jsonrpc":"2.0","id":7,"method":"ping"}',
  '{"jsonrpc":"2.0","id":"a","method":"sessions","params":{}}',
  '{"jsonrpc":"2.0","id":8,"method":"send","params":{"agent":"crab","content":"hi \\ud83e\\udd80"}}',
  '{"jsonrpc":"2.0","method":"kill","params":{"agent":"crab","sender":"user"}}',
  '{"jsonrpc":"2.0","id":9,"method":"subscribeEvents","params":{"agents":["crab"],"kinds":["DONE",3]}}',
  '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
];

const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  '\\',
  ',',
  ':',
  'null',
  '-1',
  '1e999',
  '\\ud800',
  '\u0000',
  '__proto__',
  '"id":7,',
  '['.repeat(200),
];

function changed(random: Random): string {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  let text = pick(SEEDS);
  for (let count = Math.floor(random() * 4); count >= 0; count--) {
    const at = Math.floor(random() * text.length);
    const length = Math.floor(random() * 8);
    text = text.slice(0, at) + (random() < 0.7 ? pick(PIECES) : '') + text.slice(at + length);
  }
  return text;
}

/** What another reader takes for a request. */
function isRequest(text: string): boolean {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, ''));
    return value?.jsonrpc === '2.0' && typeof value.method === 'string';
  } catch {
    return false;
  }
}

/** Messages that were changed, over one connection that must outlive them all. */
export async function messages(
  door: Door,
  count: number,
  random: Random,
  patienceMs = 5000,
): Promise<readonly string[]> {
  const faults: string[] = [];
  const socket = connect(door.port, '127.0.0.1');
  socket.on('error', () => {});
  let said = '';
  socket.on('data', (chunk) => {
    said = (said + chunk.toString('latin1')).slice(-4096);
  });
  socket.write(upgradeRequest(door.port));
  let requests = 0;
  const before = door.reached.length;
  for (let number = 0; number < count && !socket.closed; number++) {
    const text = changed(random);
    if (isRequest(text)) requests++;
    socket.write(textFrame(text));
    if (number % 100 !== 99) continue;
    const id = `ping-${number}`;
    socket.write(textFrame(JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' })));
    requests++;
    const answer = `{"jsonrpc":"2.0","id":"${id}","result":{}}`;
    if (!(await happens(() => said.includes(answer), patienceMs))) {
      faults.push(`no answer to ${id}`);
      break;
    }
  }
  const reached = door.reached.length - before;
  if (reached > requests) faults.push(`${reached} calls of ${requests} requests`);
  if (socket.closed) faults.push('the connection was ended by a message');
  socket.destroy();
  return faults;
}

/** Frames that were changed: each may end its connection, and nothing else. */
export async function frames(
  door: Door,
  count: number,
  random: Random,
  known: RemoteClient,
): Promise<readonly string[]> {
  const sockets: Socket[] = [];
  for (let number = 0; number < count; number++) {
    const socket = connect(door.port, '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    const frame = textFrame(SEEDS[number % SEEDS.length] ?? '');
    for (let changes = 1 + Math.floor(random() * 3); changes > 0; changes--)
      frame[Math.floor(random() * Math.min(12, frame.length))] = Math.floor(random() * 256);
    socket.write(upgradeRequest(door.port));
    socket.write(frame);
    sockets.push(socket);
    if (sockets.length < 32) continue;
    await known.client.request('ping', {}, 'pong');
    for (const one of sockets.splice(0)) one.destroy();
  }
  for (const one of sockets) one.destroy();
  const isEmpty = await happens(() => door.remote.clients === 1, 5000);
  return isEmpty ? [] : [`${door.remote.clients - 1} clients stay behind`];
}

/** Heads that come a byte at a time: others are served meanwhile, and all of them end. */
export async function slowHeads(door: Door, count: number, known: RemoteClient): Promise<readonly string[]> {
  const head = upgradeRequest(door.port);
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(door.port, '127.0.0.1');
    socket.on('error', () => {});
    return socket.resume();
  });
  let at = 0;
  const drip = setInterval(() => {
    for (const socket of sockets) if (socket.writable) socket.write(head[at % (head.length - 4)] ?? '');
    at++;
  }, 50);
  try {
    await known.client.request('ping', {}, 'pong');
    const ended = await happens(() => sockets.every(({ closed }) => closed), 8000);
    return ended ? [] : [`${sockets.filter(({ closed }) => !closed).length} slow heads are still waited for`];
  } finally {
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
  }
}

async function happens(holds: () => boolean, ms: number): Promise<boolean> {
  return until(holds, '', ms).then(
    () => true,
    () => false,
  );
}
