import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameError, FrameReader, HEADER, MAX_FRAME, sealFrame } from './frames.ts';

function frame(payload: readonly number[], order: 'big' | 'little' = 'big'): Uint8Array {
  const bytes = new Uint8Array(HEADER + payload.length);
  bytes.set(payload, HEADER);
  return sealFrame(bytes, order);
}

test('the length stands before the payload, in the order of bytes that was asked for', () => {
  assert.deepEqual([...frame([7, 8])], [0, 0, 0, 2, 7, 8]);
  assert.deepEqual([...frame([7, 8], 'little')], [2, 0, 0, 0, 7, 8]);
});

test('payloads come out whole however the bytes come in', () => {
  const payloads = [[], [1], [2, 3, 4, 5, 6], [7, 8]];
  const stream = payloads.flatMap((payload) => [...frame(payload)]);
  for (let first = 0; first <= stream.length; first++)
    for (let second = first; second <= stream.length; second++) {
      const reader = new FrameReader();
      const pieces = [stream.slice(0, first), stream.slice(first, second), stream.slice(second)];
      const read = pieces.flatMap((piece) => reader.push(Uint8Array.from(piece)));
      reader.end();
      assert.deepEqual(
        read.map((payload) => [...payload]),
        payloads,
      );
    }
});

test('a frame that is too large is refused at its header, and the largest is not', () => {
  const refused = {
    name: 'FrameError',
    code: 'too-large',
    message: 'A frame of 16777217 bytes is larger than 16777216 allow.',
  };
  assert.throws(() => new FrameReader().push(Uint8Array.from([1, 0, 0, 1])), refused);
  assert.throws(() => new FrameReader('little').push(Uint8Array.from([0, 0, 0, 255])), FrameError);
  assert.throws(() => sealFrame(new Uint8Array(HEADER + MAX_FRAME + 1)), refused);
  const reader = new FrameReader();
  const whole = sealFrame(new Uint8Array(HEADER + MAX_FRAME));
  const read = [whole.subarray(0, 5_000_000), whole.subarray(5_000_000)].flatMap((piece) =>
    reader.push(piece),
  );
  assert.deepEqual(
    read.map((payload) => payload.length),
    [MAX_FRAME],
  );
});

test('a stream that ends within a frame is told from one that ends behind it', () => {
  const reader = new FrameReader();
  reader.push(Uint8Array.from([0, 0, 0, 2, 7]));
  assert.throws(() => reader.end(), {
    name: 'FrameError',
    code: 'cut',
    message: 'The stream ends 5 bytes into a frame.',
  });
});
