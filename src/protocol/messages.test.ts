import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';
import { randomMessage } from '../../test/support/random-message.ts';
import { seeded } from '../core/seeded.ts';
import { fromJson, toJson } from './json-form.ts';
import {
  type ClientMessage,
  readClientMessage,
  readServerMessage,
  type ServerMessage,
  writeClientMessage,
  writeServerMessage,
} from './messages.ts';
import { TYPES } from './types.ts';
import { WireError } from './wire.ts';

const SCHEMA = fileURLToPath(new URL('crab.proto', import.meta.url));
const DRAWN = 3000;

/** Another implementation, which reads the schema itself. */
const judge = protobuf.loadSync(SCHEMA);

const ENVELOPES = [
  {
    name: 'ClientMessage',
    draw: (random: () => number) => {
      const message = randomMessage<ClientMessage>('ClientMessage', random);
      return { message, bytes: writeClientMessage(message) };
    },
    read: readClientMessage,
  },
  {
    name: 'ServerMessage',
    draw: (random: () => number) => {
      const message = randomMessage<ServerMessage>('ServerMessage', random);
      return { message, bytes: writeServerMessage(message) };
    },
    read: readServerMessage,
  },
] as const;

for (const { name, draw, read } of ENVELOPES) {
  const type = judge.lookupType(`crab.v2.${name}`);
  const options = { longs: String, enums: String, json: true } as const;

  test(`${name}: what is written is read again, also by another implementation, and the other way round`, () => {
    const random = seeded(1);
    for (let count = 0; count < DRAWN; count++) {
      const { message, bytes } = draw(random);
      assert.deepEqual(read(bytes), message);
      const theirs = type.decode(bytes);
      assert.deepEqual(type.toObject(theirs, options), toJson(TYPES, name, message));
      assert.deepEqual(read(type.encode(theirs).finish()), message);
    }
  });

  test(`${name}: the JSON form loses nothing`, () => {
    const random = seeded(2);
    for (let count = 0; count < DRAWN; count++) {
      const { message } = draw(random);
      assert.deepEqual(
        fromJson(TYPES, name, JSON.parse(JSON.stringify(toJson(TYPES, name, message)))),
        message,
      );
    }
  });

  test(`${name}: bytes that were cut, changed or made up are read or refused with a reason`, () => {
    const random = seeded(3);
    let refused = 0;
    for (let count = 0; count < DRAWN * 3; count++) {
      const bytes = draw(random).bytes;
      for (let change = 0; change < 1 + random() * 3; change++)
        bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
      try {
        read(bytes.subarray(0, random() < 0.3 ? Math.floor(random() * bytes.length) : bytes.length));
      } catch (error) {
        assert.ok(error instanceof WireError, String(error));
        refused++;
      }
    }
    assert.ok(refused > DRAWN / 4, `only ${refused} were refused`);
  });
}

test('fields of a later version are skipped', () => {
  const later = judge.root.lookupType('crab.v2.ClientMessage');
  const known = later.encode(later.fromObject({ ping: {}, requestId: 7 })).finish();
  const added = [
    0xa2, 0x3f, 3, 1, 2, 3, 0x98, 0x40, 0x96, 1, 0xa5, 0x40, 1, 2, 3, 4, 0xa9, 0x40, 1, 2, 3, 4, 5, 6, 7, 8,
  ];
  assert.deepEqual(readClientMessage(Uint8Array.from([...known, ...added])), {
    message: { case: 'ping', value: {} },
    requestId: 7,
  });
});

test('numbers and texts that cannot be are refused', () => {
  const cases: readonly (readonly [readonly number[], string])[] = [
    [[0x0b], 'Field 1 has the wire type 3, which is not used here.'],
    [[0x0a, 5, 1], 'A field of 5 bytes does not fit into the 1 that are left.'],
    [[0x07], 'There is no field 0.'],
    [[0xa0, 6, 0x80], 'The message ends within a number.'],
    [[0xa0, 6, ...Array.from({ length: 10 }, () => 0xff), 1], 'A number has more than ten bytes.'],
    [[0xa0, 6, 0xff, 0xff, 0xff, 0xff, 0x1f], 'A 32-bit number is larger than 2^32 - 1.'],
    [[0x2a, 4, 0x0a, 2, 0xc3, 0x28], 'A string is not valid UTF-8.'],
  ];
  const told = cases.map(([bytes]) => {
    try {
      readClientMessage(Uint8Array.from(bytes));
      return 'read';
    } catch (error) {
      return error instanceof WireError ? error.message : String(error);
    }
  });
  assert.deepEqual(
    told,
    cases.map(([, message]) => message),
  );
});

test('JSON of another shape is refused by the name of its field', () => {
  const refusals: readonly (readonly [unknown, string])[] = [
    [[], 'ClientMessage must be an object.'],
    [{ kill: { agent: 1 } }, 'ClientMessage.kill.agent must be a string.'],
    [{ ping: {}, kill: {} }, 'ClientMessage has more than one of its messages.'],
    [
      { kill: {}, requestId: 1, request_id: 1 },
      'ClientMessage.requestId stands there twice, written in two ways.',
    ],
    [{ requestId: -1 }, 'ClientMessage.requestId must be a whole number from 0 to 4294967295.'],
    [{ subscribeEvents: { agents: 'x' } }, 'ClientMessage.subscribeEvents.agents must be an array.'],
    [
      { subscribeEvents: { kinds: ['constructor'] } },
      'ClientMessage.subscribeEvents.kinds[0] must be a whole number from 0 to 4294967295, or a name.',
    ],
  ];
  for (const [json, message] of refusals)
    assert.throws(() => fromJson(TYPES, 'ClientMessage', json), { name: 'WireError', message });
  assert.deepEqual(
    fromJson(TYPES, 'ClientMessage', { request_id: 3, kill: { agent: 'a' }, __proto__: { x: 1 }, more: 1 }),
    {
      message: { case: 'kill', value: { agent: 'a', sender: '' } },
      requestId: 3,
    },
  );
});
