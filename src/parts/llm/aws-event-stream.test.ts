import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { CrabError } from '../../core/errors.ts';
import { EventStreamParser, type Frame } from './aws-event-stream.ts';

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString('utf8'),
  (text) => Buffer.from(text),
);

/** As AWS's own library writes it. */
function frame(headers: Readonly<Record<string, string>>, payload: string): Buffer {
  const typed = Object.entries(headers).map(([name, value]) => [name, { type: 'string', value }] as const);
  return Buffer.from(codec.encode({ headers: Object.fromEntries(typed), body: Buffer.from(payload) }));
}

function event(name: string, payload: string): Buffer {
  return frame(
    { ':message-type': 'event', ':event-type': name, ':content-type': 'application/json' },
    payload,
  );
}

const WRITTEN = [
  event('chunk', '{"bytes":"e30="}'),
  event('chunk', ''),
  event('last', `{"text":"${'ü🦀'.repeat(40)}"}`),
  frame(
    { ':message-type': 'exception', ':exception-type': 'throttlingException' },
    '{"message":"Slow down"}',
  ),
  frame({ ':message-type': 'error', ':error-code': 'InternalFailure', ':error-message': 'Oh no' }, ''),
];
const READ: Frame[] = [
  { kind: 'event', name: 'chunk', payload: '{"bytes":"e30="}' },
  { kind: 'event', name: 'chunk', payload: '' },
  { kind: 'event', name: 'last', payload: `{"text":"${'ü🦀'.repeat(40)}"}` },
  { kind: 'exception', name: 'throttlingException', payload: '{"message":"Slow down"}' },
  { kind: 'error', name: 'InternalFailure', payload: 'Oh no' },
];
const STREAM = Buffer.concat(WRITTEN);

function isDamage(thrown: unknown): boolean {
  assert.ok(thrown instanceof CrabError, String(thrown));
  assert.deepEqual([thrown.code, thrown.retryable], ['stream-cut', true]);
  return true;
}

test('frames that AWS’s own codec wrote are read, wherever the reads are cut', () => {
  assert.deepEqual(new EventStreamParser().push([STREAM]), READ);
  for (let at = 0; at <= STREAM.length; at++) {
    const parser = new EventStreamParser();
    const frames = [...parser.push([STREAM.subarray(0, at)]), ...parser.push([STREAM.subarray(at)])];
    assert.deepEqual(frames, READ, `cut at ${at}`);
    assert.equal(parser.end(), undefined);
  }
  const parser = new EventStreamParser();
  const bytewise = [...STREAM].flatMap((byte) => parser.push([Buffer.of(byte)]));
  assert.deepEqual(bytewise, READ);
});

test('a stream that ends anywhere gives its whole frames and nothing else', () => {
  const ends = WRITTEN.map((_, at) => Buffer.concat(WRITTEN.slice(0, at + 1)).length);
  for (let at = 0; at < STREAM.length; at++) {
    const parser = new EventStreamParser();
    const whole = ends.filter((end) => end <= at).length;
    assert.deepEqual(parser.push([STREAM.subarray(0, at)]), READ.slice(0, whole), `ended at ${at}`);
    if (at >= 12) assert.equal(parser.end(), undefined);
  }
});

test('a bit that flips anywhere is found', () => {
  for (let at = 0; at < STREAM.length; at++) {
    const bent = Buffer.from(STREAM);
    bent.writeUInt8((bent[at] ?? 0) ^ 0x10, at);
    const parser = new EventStreamParser();
    if (at < 12) {
      assert.deepEqual(parser.push([bent]), [], `byte ${at}`);
      assert.notEqual(parser.end(), undefined);
    } else {
      assert.throws(() => parser.push([bent]), isDamage, `byte ${at}`);
    }
  }
});

test('headers of every type are passed over', () => {
  const headers = {
    a: { type: 'boolean', value: true },
    b: { type: 'byte', value: 1 },
    c: { type: 'short', value: 2 },
    d: { type: 'integer', value: 3 },
    e: { type: 'binary', value: Buffer.from('xyz') },
    f: { type: 'timestamp', value: new Date(0) },
    g: { type: 'uuid', value: '00112233-4455-6677-8899-aabbccddeeff' },
    ':event-type': { type: 'string', value: 'chunk' },
  } as const;
  const bytes = Buffer.from(codec.encode({ headers, body: Buffer.from('{}') }));
  assert.deepEqual(new EventStreamParser().push([bytes]), [{ kind: 'event', name: 'chunk', payload: '{}' }]);
});

test('a body that is no event stream is quoted', () => {
  const parser = new EventStreamParser();
  assert.deepEqual(parser.push([Buffer.from('<html>a long page')]), []);
  assert.equal(parser.foreign, undefined);
  assert.equal(parser.end(), '<html>a long page');
  const short = new EventStreamParser();
  assert.deepEqual(short.push([Buffer.from('oops')]), []);
  assert.equal(short.end(), 'oops');
  const long = new EventStreamParser();
  long.push([Buffer.from('x'.repeat(5000))]);
  assert.equal(long.foreign, 'x'.repeat(4096));
});

test('a frame that says it is larger than any may be is refused before it is waited for', () => {
  const parser = new EventStreamParser();
  const first = event('chunk', '{}');
  const huge = Buffer.from(event('chunk', '{}').subarray(0, 12));
  huge.writeUInt32BE(0x7fffffff, 0);
  huge.writeUInt32BE(crc(huge.subarray(0, 8)), 8);
  assert.throws(() => parser.push([first, huge]), isDamage);
});

/** The checksum, written from its definition rather than taken from the module under test. */
function crc(bytes: Buffer): number {
  let value = 0xffffffff;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  }
  return (value ^ 0xffffffff) >>> 0;
}
