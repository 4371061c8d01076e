// Frames that were changed on their way, on each way into a daemon. Each is answered, or its connection is closed; the
// daemon answers a well-meant client afterwards as it did before.

import { connect as connectSocket, type Socket } from 'node:net';
import { seeded } from '../../src/core/seeded.ts';
import { FrameReader, HEADER, sealFrame } from '../../src/protocol/frames.ts';
import { fromJson } from '../../src/protocol/json-form.ts';
import { type ClientMessage, readServerMessage, writeClientMessage } from '../../src/protocol/messages.ts';
import { TYPES } from '../../src/protocol/types.ts';
import type { SmallDaemon } from '../support/small-daemon.ts';

export type Transport = 'socket' | 'jsonSocket' | 'tcp';

/** Frames that wait for their answers at a time. */
const BATCH = 100;
const PATIENCE_MS = 15_000;

/** Resolves with the faults that were found. */
export async function fuzz(
  small: SmallDaemon,
  transport: Transport,
  count: number,
  seed: number,
): Promise<readonly string[]> {
  const random = seeded(seed);
  const seeds = transport === 'jsonSocket' ? jsonFrames() : binaryFrames();
  const faults: string[] = [];
  for (let done = 0; done < count && faults.length === 0; done += BATCH) {
    const frames = Array.from({ length: Math.min(BATCH, count - done) }, () => {
      const one = seeds[Math.floor(random() * seeds.length)] ?? new Uint8Array();
      return mutated(one, random, transport === 'jsonSocket');
    });
    // What stands behind a wrong length cannot be found: it comes last, and the connection ends with it.
    const isCut = random() < 0.2;
    const [first] = frames;
    if (isCut && first !== undefined)
      frames.push(first.with(Math.floor(random() * HEADER), 1 + Math.floor(random() * 255)));
    const socket = await opened(small, transport);
    const heard = await answersTo(socket, frames, transport, isCut);
    if (heard === 'silent') faults.push(`${transport}: nothing is answered behind frame ${done}`);
    socket.destroy();
  }
  const client = await small.client();
  await client
    .request('ping', {}, 'pong')
    .catch((error: unknown) => faults.push(`not there any more: ${error}`));
  client.close();
  return faults;
}

async function opened(small: SmallDaemon, transport: Transport): Promise<Socket> {
  if (transport !== 'tcp') return small.socket(transport);
  const socket = connectSocket({ host: '127.0.0.1', port: small.daemon.port ?? 0 });
  socket.on('error', () => {});
  const hello = { version: 2, client: 'fuzz', capabilities: [], token: await small.token() };
  socket.write(frameOf({ requestId: 9, message: { case: 'hello', value: hello } }));
  return socket;
}

/** A frame at the end that must be answered shows that all before it were dealt with. */
async function answersTo(
  socket: Socket,
  frames: readonly Uint8Array[],
  transport: Transport,
  isCut: boolean,
): Promise<'answered' | 'closed' | 'silent'> {
  const isJson = transport === 'jsonSocket';
  const last = isJson
    ? jsonFrame({ type: 'Ping' })
    : frameOf({ requestId: 77, message: { case: 'ping', value: {} } });
  const reader = new FrameReader(isJson ? 'little' : 'big');
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve('silent'), PATIENCE_MS);
    const done = (how: 'answered' | 'closed') => {
      clearTimeout(timer);
      resolve(how);
    };
    socket.on('data', (bytes) => {
      for (const payload of reader.push(bytes)) {
        const isLast = isJson
          ? Buffer.from(payload).toString() === '{"type":"Pong"}'
          : readServerMessage(payload).requestId === 77;
        if (isLast) done('answered');
      }
    });
    socket.on('close', () => done('closed'));
    for (const frame of frames) socket.write(frame);
    if (isCut) socket.end();
    else socket.write(last);
  });
}

/** The payload is changed, and its length is right. */
function mutated(frame: Uint8Array, random: () => number, isJson: boolean): Uint8Array {
  const payload = Array.from(frame.subarray(HEADER));
  for (let changes = 1 + Math.floor(random() * 4); changes > 0; changes--) {
    const at = Math.floor(random() * (payload.length + 1));
    const byte = Math.floor(random() * 256);
    const how = random();
    if (how < 0.5) payload[Math.min(at, Math.max(0, payload.length - 1))] = byte;
    else if (how < 0.7) payload.splice(at, 0, byte);
    else if (how < 0.9) payload.splice(at, 1);
    else payload.length = at;
  }
  const changed = new Uint8Array(HEADER + payload.length);
  changed.set(payload, HEADER);
  sealFrame(changed, isJson ? 'little' : 'big');
  return changed;
}

function frameOf(message: ClientMessage): Uint8Array {
  return sealFrame(writeClientMessage(message, HEADER));
}

/** One of each message but those that end what others need. */
function binaryFrames(): readonly Uint8Array[] {
  const known = TYPES['ClientMessage'];
  const cases = known?.kind === 'message' ? (known.cases ?? {}) : {};
  const values = { agent: 'crab', content: 'hi', sender: 'fuzz', version: 2, client: 'fuzz' };
  return Object.entries(cases).map(([name, [type]], at) =>
    frameOf({
      requestId: at % 3,
      message: { case: name, value: fromJson(TYPES, type, values) },
    } as ClientMessage),
  );
}

function jsonFrames(): readonly Uint8Array[] {
  return [
    { type: 'Attach', working_dir: '/tmp' },
    { type: 'Attach', session_id: 'S1' },
    { type: 'Detach', session_id: 'S1' },
    { type: 'ListSessions' },
    { type: 'KillSession', session_id: 'S1' },
    { type: 'UserInput', session_id: 'S1', content: 'hi' },
    { type: 'Answer', session_id: 'S1', question_id: 'q', allowed: true },
    { type: 'Ping' },
  ].map(jsonFrame);
}

function jsonFrame(value: object): Uint8Array {
  const text = Buffer.from(JSON.stringify(value));
  const frame = new Uint8Array(HEADER + text.length);
  frame.set(text, HEADER);
  return sealFrame(frame, 'little');
}
