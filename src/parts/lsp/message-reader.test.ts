import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { messagesIn } from './message-reader.ts';

const framed = (value: unknown) => {
  const body = Buffer.from(JSON.stringify(value));
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
};

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const MESSAGES = [
  { jsonrpc: '2.0', id: 1, result: 'é𝒳' },
  { jsonrpc: '2.0', method: 'x', params: { text: 'a\r\n\r\nContent-Length: 3\r\n\r\n' } },
  { jsonrpc: '2.0', id: 2, result: 'x'.repeat(10_000) },
];

async function failureOf(text: string | Uint8Array): Promise<string> {
  try {
    for await (const _ of messagesIn(chunksOf(Buffer.from(text), 16)));
  } catch (error) {
    return String(error);
  }
  return 'it was read';
}

suite('messages in a stream', () => {
  test('are found wherever the stream was cut', async () => {
    const bytes = Buffer.concat(MESSAGES.map(framed));
    for (const size of [1, 2, 3, 7, 64, 4096, bytes.length])
      assert.deepEqual(
        await Array.fromAsync(messagesIn(chunksOf(bytes, size))),
        MESSAGES,
        `in ${size} bytes`,
      );
  });

  test('may have further headers, in any case', async () => {
    const text = 'content-type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length:2\r\n\r\n{}';
    assert.deepEqual(await Array.fromAsync(messagesIn(chunksOf(Buffer.from(text), 5))), [{}]);
  });

  test('are taken from the stream one by one', async () => {
    let pulled = 0;
    async function* endless(): AsyncGenerator<Uint8Array> {
      for (;;) {
        pulled++;
        yield framed({ jsonrpc: '2.0', method: 'x' });
      }
    }
    const reading = messagesIn(endless());
    for (let count = 1; count <= 3; count++) {
      await reading.next();
      assert.equal(pulled, count);
    }
  });

  test('of a size that nobody needs, and what is none, are refused before more is read', async () => {
    assert.match(await failureOf('Content-Length: 16777217\r\n\r\n'), /message of 16777217 bytes; the limit/);
    assert.match(await failureOf('Content-Length: -1\r\n\r\n{}'), /what is no message/);
    assert.match(await failureOf('Content-Length: 1e3\r\n\r\n{}'), /what is no message/);
    assert.match(await failureOf('\r\n\r\n{}'), /what is no message/);
    assert.match(await failureOf(`X: ${'y'.repeat(5000)}`), /what is no message/);
    assert.match(await failureOf('hello world, no header here'), /what is no message: "hello world, no/);
    assert.match(await failureOf('Content-Length: 2\r\n\r\n[]'), /no object/);
    assert.match(await failureOf('Content-Length: 4\r\n\r\nnull'), /no object/);
    assert.equal(await failureOf('Content-Length: 10\r\n\r\n{"a'), 'it was read', 'half of one is none');
  });
});
