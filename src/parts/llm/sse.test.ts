import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SseEvent, SseParser } from './sse.ts';

function parse(...reads: readonly (string | Buffer)[]): SseEvent[] {
  const parser = new SseParser();
  return reads.flatMap((read) => parser.push([Buffer.from(read)]));
}

test('an event is its data lines joined, its name, and nothing of comments and other fields', () => {
  const text =
    ': hello\n\nid: 7\nretry: 10\nevent: a\ndata: one\ndata:two\ndata\nunknown: x\n\ndata: three\n\n';
  assert.deepEqual(parse(text), [{ event: 'a', data: 'one\ntwo\n' }, { data: 'three' }]);
});

test('one space after the colon belongs to the format, further ones to the value', () => {
  assert.deepEqual(parse('data:a\n\ndata: b\n\ndata:  c\n\n'), [
    { data: 'a' },
    { data: 'b' },
    { data: ' c' },
  ]);
});

test('an event without data is none, and its name does not stick to the next', () => {
  assert.deepEqual(parse('event: ping\n\ndata: x\n\n'), [{ data: 'x' }]);
});

test('an event without its blank line is not there yet', () => {
  assert.deepEqual(parse('event: a\ndata: x\n'), []);
  assert.deepEqual(parse('event: a\ndata: x\n', '\n'), [{ event: 'a', data: 'x' }]);
});

test('a byte order mark is skipped', () => {
  assert.deepEqual(parse('\ufeffdata: x\n\n'), [{ data: 'x' }]);
});

test('every line end and every cut, also inside a character, gives the same events', () => {
  const plain =
    'event: é\ndata: {"a":"ü€𝄞"}\n\n: c\ndata: 1\ndata: 2\n\ndata:\n\nid: 1\nevent: z\ndata: y\n\n';
  const expected = [
    { event: 'é', data: '{"a":"ü€𝄞"}' },
    { data: '1\n2' },
    { data: '' },
    { event: 'z', data: 'y' },
  ];
  for (const lineEnd of ['\n', '\r\n', '\r']) {
    const bytes = Buffer.from(plain.replaceAll('\n', lineEnd));
    for (let first = 0; first <= bytes.length; first++) {
      for (const second of [first, Math.min(first + 1, bytes.length), Math.min(first + 7, bytes.length)]) {
        const reads = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
        assert.deepEqual(
          parse(...reads),
          expected,
          `${JSON.stringify(lineEnd)} cut at ${first} and ${second}`,
        );
      }
    }
    assert.deepEqual(parse(...[...bytes].map((byte) => Buffer.from([byte]))), expected);
  }
});

test('invalid UTF-8 becomes replacement characters, the same ones wherever it is cut', () => {
  const bytes = Buffer.from([...Buffer.from('data: '), 0xff, 0xe2, 0x82, 0x41, 0xf0, 0x9d, 0x84, 10, 10]);
  const expected = parse(bytes);
  assert.deepEqual(expected, [{ data: '\ufffd\ufffdA\ufffd' }]);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(parse(bytes.subarray(0, cut), bytes.subarray(cut)), expected, `cut at ${cut}`);
  }
});

test('a line of many reads arrives whole', () => {
  const long = 'x'.repeat(100_000);
  const text = `data: ${long}\n\n`;
  const reads = Array.from({ length: Math.ceil(text.length / 10) }, (_, at) =>
    text.slice(at * 10, at * 10 + 10),
  );
  assert.deepEqual(parse(...reads), [{ data: long }]);
});

test('several buffers of one read are one read', () => {
  const parser = new SseParser();
  assert.deepEqual(parser.push([Buffer.from('data: a'), Buffer.from('b\n\nda'), Buffer.from('ta: c\n\n')]), [
    { data: 'ab' },
    { data: 'c' },
  ]);
});

for (const [name, body] of [
  ['a web page', '<!doctype html>\n<title>Sign in</title>\n'],
  ['a JSON document', '{"error":{"message":"no"}}'],
  ['a short word', 'no'],
] as const) {
  test(`${name} is recognised as no event stream, however it is cut`, () => {
    for (let cut = 0; cut <= body.length; cut++) {
      const parser = new SseParser();
      assert.deepEqual(parser.push([Buffer.from(body.slice(0, cut))]), []);
      assert.deepEqual(parser.push([Buffer.from(body.slice(cut))]), []);
      assert.equal(parser.end(), body);
    }
  });
}

test('a foreign body is reported before its end once enough of it is there', () => {
  const parser = new SseParser();
  assert.deepEqual(parser.push([Buffer.from(`<p>${'x'.repeat(10_000)}`)]), []);
  assert.equal(parser.foreign?.length, 4096);
});

test('an empty body and a truncated event are no foreign body', () => {
  const empty = new SseParser();
  assert.equal(empty.end(), undefined);
  const cut = new SseParser();
  cut.push([Buffer.from('data: {"a":')]);
  assert.equal(cut.end(), undefined);
});
