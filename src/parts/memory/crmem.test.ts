import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/memory.ts';
import { seeded } from '../../core/seeded.ts';
import { type Database, decode, EMPTY, encode } from './crmem.ts';

/** Written by hand from the description of the format, a line for each field. */
const GOLDEN = hex(`
  43 52 4d 45 4d 00                     magic
  01 00 00 00                           version
  00 00                                 flags
  00 00 00 00                           reserved
  03 00 00 00 00 00 00 00               next id
  02 00 00 00                           entries
  01 00 00 00 00 00 00 00               id
  80 00 00 00 01 00 00 00               created
  00 00 00 00                           kind: note
  06 00 00 00 64 65 70 6c 6f 79         name: deploy
  05 00 00 00 73 74 65 70 73            content: steps
  02 00 00 00                           aliases
  04 00 00 00 73 68 69 70               ship
  02 00 00 00 c3 a9                     é
  02 00 00 00 00 00 00 00               id
  00 00 00 00 00 00 00 00               created
  01 00 00 00                           kind: archive
  01 00 00 00 61                        name: a
  00 00 00 00                           content: nothing
  00 00 00 00                           aliases
`);

const DATABASE: Database = {
  nextId: 3n,
  entries: [
    {
      id: 1n,
      name: 'deploy',
      aliases: ['ship', 'é'],
      content: 'steps',
      kind: 'note',
      createdAt: 0x1_0000_0080n,
    },
    { id: 2n, name: 'a', aliases: [], content: '', kind: 'archive', createdAt: 0n },
  ],
};

function hex(text: string): Uint8Array {
  const bytes = text
    .trim()
    .split('\n')
    .flatMap((line) => /^\s*((?:[0-9a-f]{2} )+)/.exec(`${line} `)?.[1]?.trim().split(' ') ?? []);
  return Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 16));
}

function refusal(bytes: Uint8Array): string {
  try {
    decode(bytes, 'm.crmem');
  } catch (error) {
    if (error instanceof CrabError && error.code === 'memory-damaged') return error.message;
    throw error;
  }
  throw new Error('accepted');
}

function changed(at: number, ...bytes: readonly number[]): Uint8Array {
  const copy = GOLDEN.slice();
  copy.set(bytes, at);
  return copy;
}

suite('the CRMEM format', () => {
  test('is what its description says, byte for byte, in both directions', () => {
    assert.deepEqual(encode(DATABASE), GOLDEN);
    assert.deepEqual(decode(GOLDEN, 'm'), DATABASE);
    assert.equal(encode(EMPTY).length, 28);
  });

  for (const [what, bytes, message] of [
    ['another magic', changed(0, 0x58), /it does not begin as one\.$/],
    ['another version', changed(6, 2), /it has version 2; this Crab knows 1\.$/],
    ['flags', changed(10, 4), /it has flags that this Crab does not know \(4\)\.$/],
    ['reserved bytes that are used', changed(13, 1), /it has data where its header is reserved\.$/],
    ['an unknown kind', changed(44, 2), /it has entry 1 of an unknown kind \(2\)\.$/],
    ['invalid UTF-8', changed(52, 0xff), /it has text that is not UTF-8 in the name of entry 1\.$/],
    [
      'more entries than could fit',
      changed(24, 0xff, 0xff, 0xff, 0xff),
      /it is too short for 4294967295 entries\.$/,
    ],
    ['a text longer than the file', changed(48, 0xff, 0xff, 0xff, 0xff), /it ends in the name of entry 1\.$/],
    ['bytes behind the end', Uint8Array.of(...GOLDEN, 0), /it has 1 bytes behind its last entry\.$/],
    ['nothing at all', new Uint8Array(), /it does not begin as one\.$/],
  ] as const) {
    test(`${what} is refused`, () => assert.match(refusal(bytes), message));
  }

  test('a file that was cut anywhere is refused', () => {
    for (let length = 0; length < GOLDEN.length; length++) refusal(GOLDEN.subarray(0, length));
  });

  test('no damaged byte does more than change a value or be refused', () => {
    const random = seeded(4);
    for (let round = 0; round < 2000; round++) {
      const bytes = GOLDEN.slice();
      const at = Math.floor(random() * bytes.length);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << Math.floor(random() * 8));
      try {
        assert.deepEqual(encode(decode(bytes, 'm')), bytes);
      } catch (error) {
        assert.ok(error instanceof CrabError && error.code === 'memory-damaged', String(error));
      }
    }
  });

  test('any entries come back', () => {
    const random = seeded(7);
    const text = () =>
      Array.from({ length: Math.floor(random() * 9) }, () => 'aé漢🦀\0 '[Math.floor(random() * 4)]).join('');
    for (let round = 0; round < 200; round++) {
      const entries: MemoryEntry[] = Array.from({ length: Math.floor(random() * 5) }, (_, at) => ({
        id: BigInt(at) + (1n << 63n),
        name: text().toWellFormed(),
        aliases: [text().toWellFormed()],
        content: text().toWellFormed(),
        kind: random() < 0.5 ? 'note' : 'archive',
        createdAt: BigInt(Math.floor(random() * 2 ** 50)),
      }));
      const database = { nextId: (1n << 64n) - 1n, entries };
      assert.deepEqual(decode(encode(database), 'm'), database);
    }
  });
});
