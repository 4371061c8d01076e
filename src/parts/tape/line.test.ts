import assert from 'node:assert/strict';
import { test } from 'node:test';

import { decodeLine, encodeLine, splitMerged } from './line.ts';

const record = { type: 'message', id: 'A', parentId: null, text: 'Grüße, 世界 — "quoted"\n' };

function lineOf(object: object): Buffer {
  return Buffer.from(encodeLine(object)).subarray(0, -1);
}

test('a record comes back as it was, behind a checksum that ends the line', () => {
  assert.deepEqual(decodeLine(lineOf(record)), record);
  assert.match(encodeLine(record), /^\{"type":"message",.*,"crc":"[0-9a-f]{8}"\}\n$/);
});

test('every single flipped bit of a line is noticed', () => {
  const line = lineOf(record);
  const unnoticed: string[] = [];
  for (let bit = 0; bit < line.length * 8; bit++) {
    const flipped = Buffer.from(line);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    if (decodeLine(flipped) !== undefined) unnoticed.push(flipped.toString());
  }
  assert.deepEqual(unnoticed, []);
});

test('every line that was cut short is noticed', () => {
  const line = lineOf(record);
  for (let length = 0; length < line.length; length++) {
    assert.equal(decodeLine(line.subarray(0, length)), undefined, `cut to ${length} bytes`);
  }
});

test('a line without a checksum is taken as it is', () => {
  assert.deepEqual(decodeLine(Buffer.from('{"type":"x","code":"00000000"}')), {
    type: 'x',
    code: '00000000',
  });
  assert.equal(decodeLine(Buffer.from('[1]')), undefined);
  assert.equal(decodeLine(Buffer.from('{"type":')), undefined);
  assert.equal(decodeLine(Buffer.alloc(512)), undefined);
});

test('a line holds no character that some reader takes for its end', () => {
  const awkward = { text: 'a\u2028b\u2029c\nd\re' };
  assert.doesNotMatch(encodeLine(awkward).slice(0, -1), /[\n\r\u2028\u2029]/);
  assert.deepEqual(decodeLine(lineOf(awkward)), awkward);
});

test('lines whose break was lost are told apart by their checksums', () => {
  const first = lineOf({ n: 1 });
  const second = lineOf({ n: 2, text: 'it looks like ,"crc":"00000000"} but is a text' });
  const merged = Buffer.concat([first, Buffer.from('*'), second]);
  assert.equal(decodeLine(merged), undefined);
  assert.deepEqual(splitMerged(merged), [first, second]);
  assert.deepEqual(splitMerged(Buffer.from('no line at all')), [Buffer.from('no line at all')]);
});
