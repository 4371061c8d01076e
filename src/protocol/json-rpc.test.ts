import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomMessage } from '../../test/support/random-message.ts';
import { wireServer } from '../../test/support/wire-server.ts';
import { seeded } from '../core/seeded.ts';
import { isSaid, RpcServerEnd } from './json-rpc.ts';
import { RESULTS, RpcClientEnd } from './json-rpc-client.ts';
import type { ClientMessage, ClientMessageCase, ServerMessage, ServerMessageCase } from './messages.ts';
import { createPipe } from './pipe.ts';
import { serve } from './serve.ts';
import { MAX_DEPTH } from './strict-json.ts';
import { TYPES } from './types.ts';

function casesOf(envelope: string): readonly (readonly [string, string])[] {
  const type = TYPES[envelope];
  assert.ok(type?.kind === 'message');
  return Object.entries(type.cases ?? {}).map(([name, [inner]]) => [name, inner]);
}

function answerTo(text: string, end = new RpcServerEnd()): unknown {
  const received = end.read(text);
  if (received.kind === 'message') return received.message;
  return received.answer === undefined ? undefined : JSON.parse(received.answer);
}

function refusal(code: number, message: string, id: string | number | null = null) {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };

test('every message of a client crosses and comes out as it went in', () => {
  const random = seeded(1);
  for (const [name, type] of casesOf('ClientMessage'))
    for (let count = 0; count < 50; count++) {
      const value = randomMessage<object>(type, random);
      const message = { case: name, value } as ClientMessageCase;
      const text = new RpcClientEnd().write({ requestId: 7, message });
      // What `unwatch` names is a request of this connection, and there is none.
      const expected = name === 'unwatch' ? { case: name, value: { watchId: 0 } } : message;
      assert.deepEqual(answerTo(text), { requestId: 1, message: expected });
    }
});

test('every answer crosses and comes out as it went in', () => {
  const random = seeded(2);
  const methods = Object.entries(RESULTS) as [ClientMessageCase['case'], string | undefined][];
  const seen = new Set<string>();
  for (const [name, type] of casesOf('ServerMessage')) {
    const asked = methods.find(([, result]) => result === name)?.[0] ?? 'stream';
    for (let count = 0; count < 50; count++) {
      const [near, far] = [new RpcClientEnd(), new RpcServerEnd()];
      far.read(near.write({ requestId: 7, message: { case: asked, value: {} } as ClientMessageCase }));
      const message = { case: name, value: randomMessage<object>(type, random) } as ServerMessageCase;
      assert.deepEqual(near.read(far.write({ requestId: 1, message }) ?? ''), {
        kind: 'message',
        message: { requestId: 7, message },
      });
      const end = far.answered(1);
      assert.equal(end, isSaid(name) ? '{"jsonrpc":"2.0","id":7,"result":null}' : undefined);
      if (end !== undefined) assert.equal(near.read(end), undefined);
    }
    seen.add(name);
  }
  assert.deepEqual(
    [...seen].sort(),
    casesOf('ServerMessage')
      .map(([name]) => name)
      .sort(),
  );
});

test('what is no request is refused by its own code, with its id where there is one', () => {
  const id = 'An id is a string of at most 128 characters or a whole number.';
  const shape = 'A message has jsonrpc "2.0" and the name of a method.';
  const cases: readonly (readonly [string, unknown])[] = [
    ['[]', refusal(-32600, 'Batches are not taken: send one message at a time.')],
    [`[${JSON.stringify(PING)}]`, refusal(-32600, 'Batches are not taken: send one message at a time.')],
    ['null', refusal(-32600, 'A message is an object.')],
    ['7', refusal(-32600, 'A message is an object.')],
    ['{"id":3,"method":"ping"}', refusal(-32600, shape, 3)],
    ['{"jsonrpc":"1.0","id":"a","method":"ping"}', refusal(-32600, shape, 'a')],
    ['{"jsonrpc":"2.0","id":3}', refusal(-32600, shape, 3)],
    ['{"jsonrpc":"2.0","id":null,"method":"ping"}', refusal(-32600, id)],
    ['{"jsonrpc":"2.0","id":1.5,"method":"ping"}', refusal(-32600, id)],
    ['{"jsonrpc":"2.0","id":{},"method":"ping"}', refusal(-32600, id)],
    ['{"jsonrpc":"2.0","id":3,"method":"nope"}', refusal(-32601, 'There is no method "nope".', 3)],
    ['{"jsonrpc":"2.0","id":3,"method":"__proto__"}', refusal(-32601, 'There is no method "__proto__".', 3)],
    [
      '{"jsonrpc":"2.0","id":3,"method":"constructor"}',
      refusal(-32601, 'There is no method "constructor".', 3),
    ],
    [
      '{"jsonrpc":"2.0","id":3,"method":"kill","params":["crab"]}',
      refusal(-32602, 'The params of kill must be an object.', 3),
    ],
    [
      '{"jsonrpc":"2.0","id":3,"method":"kill","params":{"agent":7}}',
      refusal(-32602, 'kill.agent must be a string.', 3),
    ],
    ['{"jsonrpc":"2.0","method":"nope"}', undefined],
    ['{"jsonrpc":"2.0","method":"kill","params":7}', undefined],
  ];
  for (const [text, expected] of cases) assert.deepEqual(answerTo(text), expected, text);
});

test('a text that readers could understand differently is refused before anything is made of it', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const deep = (depth: number) => `The message${'[0]'.repeat(depth)} is deeper than ${MAX_DEPTH} levels.`;
  const refusals: readonly (readonly [string, string | RegExp])[] = [
    ['', /^The message is not JSON: /],
    ['{', /^The message is not JSON: /],
    ['"', /^The message is not JSON: /],
    ['{"a\\', /^The message is not JSON: /],
    ['"\\x"', /^The message is not JSON: /],
    ['\uFEFF{}', /^The message is not JSON: /],
    ['{"a":1,"a":2}', 'The message.a stands there twice.'],
    ['{"a":1,"\\u0061":2}', 'The message.a stands there twice.'],
    ['[{"a":{"b":1,"c":[],"b":2}}]', 'The message[0].a.b stands there twice.'],
    ['["\\ud800"]', 'The message[0] has half of a surrogate pair.'],
    ['{"\\uDC00x":1}', /^The message.* has half of a surrogate pair\.$/],
    ['["\ud800"]', 'The message[0] has half of a surrogate pair.'],
    ['{"a":{"__proto__":{}}}', 'The message.a.__proto__ is a name that is not taken.'],
    [nested(MAX_DEPTH + 1), deep(MAX_DEPTH)],
    ['['.repeat(1_000_000), deep(MAX_DEPTH)],
    ['{"a":'.repeat(100_000), /is deeper than 64 levels\.$/],
  ];
  for (const [text, expected] of refusals) {
    const received = new RpcServerEnd().read(text);
    assert.ok(received.kind === 'refused');
    const { id, error } = JSON.parse(received.answer ?? '');
    assert.deepEqual({ id, code: error.code }, { id: null, code: -32700 });
    if (typeof expected === 'string') assert.equal(error.message, expected);
    else assert.match(error.message, expected);
  }
  assert.deepEqual(
    answerTo(nested(MAX_DEPTH)),
    refusal(-32600, 'Batches are not taken: send one message at a time.'),
  );
});

test('a name that means something elsewhere is a name like any other', () => {
  const params = '{"agent":"crab","constructor":{"sender":"x"},"toString":1}';
  assert.deepEqual(answerTo(`{"jsonrpc":"2.0","id":1,"method":"kill","params":${params}}`), {
    requestId: 1,
    message: { case: 'kill', value: { agent: 'crab', sender: '' } },
  });
});

test('an id is that of one request at a time, and a notification is never answered', () => {
  const end = new RpcServerEnd();
  end.read(JSON.stringify(PING));
  assert.deepEqual(
    answerTo(JSON.stringify(PING), end),
    refusal(-32600, 'The id 1 is that of a request in flight.', 1),
  );
  assert.deepEqual(answerTo(JSON.stringify({ ...PING, id: '1' }), end), {
    requestId: 2,
    message: { case: 'ping', value: {} },
  });
  const pong: ServerMessageCase = { case: 'pong', value: {} };
  assert.equal(end.write({ requestId: 1, message: pong }), '{"jsonrpc":"2.0","id":1,"result":{}}');
  assert.equal(end.read(JSON.stringify(PING)).kind, 'message');
  end.read(JSON.stringify({ jsonrpc: '2.0', method: 'ping' }));
  assert.equal(end.write({ requestId: 4, message: pong }), undefined);
  assert.equal(end.answered(4), undefined);
});

test('errors keep their code, their name and their hint', () => {
  const [near, far] = [new RpcClientEnd(), new RpcServerEnd()];
  far.read(near.write({ requestId: 9, message: { case: 'ping', value: {} } }));
  const value = { code: 409, message: 'Process 7 has it.', name: 'session-held', hint: 'Wait.' };
  const text = far.write({ requestId: 1, message: { case: 'error', value } }) ?? '';
  assert.deepEqual(JSON.parse(text), {
    jsonrpc: '2.0',
    id: 9,
    error: { code: 409, message: value.message, data: { name: 'session-held', hint: 'Wait.' } },
  });
  const codes = [-32700, -32600, -32601, -32602, -32603, 429].map((code) => {
    const received = near.read(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code, message: 'm' } }));
    return received?.kind === 'message' && received.message.message?.value;
  });
  assert.deepEqual(
    codes,
    [400, 400, 404, 400, 500, 429].map((code) => ({ code, message: 'm' })),
  );
});

test('a stream is told under the id of its request, and its result ends it', async () => {
  const texts: string[] = [];
  const end = new RpcServerEnd();
  const [near, far] = createPipe<ClientMessage, ServerMessage>();
  const say = (text: string | undefined) => void (text !== undefined && texts.push(text));
  const server = wireServer({
    async *stream({ content }) {
      yield { event: { case: 'chunk', value: { content } } };
      yield { event: { case: 'end', value: { agent: 'crab', error: '', code: 0 } } };
    },
    async *watch(_, { signal }) {
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  const served = serve(
    { ...far, send: async (message) => say(end.write(message)) },
    {
      server,
      name: 'test',
      isTrusted: true,
      authenticate: async () => false,
      answered: async (requestId) => say(end.answered(requestId)),
    },
  );
  const lines = [
    { jsonrpc: '2.0', id: 'w', method: 'watch', params: { agent: 'crab', sender: 'cli:1' } },
    { jsonrpc: '2.0', method: 'unwatch', params: { watchId: 'w' } },
    { jsonrpc: '2.0', id: 's', method: 'stream', params: { agent: 'crab', content: 'hi' } },
  ];
  for (const line of lines) {
    const received = end.read(JSON.stringify(line));
    assert.ok(received.kind === 'message');
    await near.send(received.message);
  }
  while (texts.length < 4) await new Promise((resolve) => setImmediate(resolve));
  near.close();
  await served;
  assert.deepEqual(
    texts.map((text) => JSON.parse(text)).sort((a, b) => String(a.id).localeCompare(b.id)),
    [
      { jsonrpc: '2.0', id: 's', result: null },
      { jsonrpc: '2.0', method: 'stream', params: { id: 's', value: { chunk: { content: 'hi' } } } },
      { jsonrpc: '2.0', method: 'stream', params: { id: 's', value: { end: { agent: 'crab' } } } },
      { jsonrpc: '2.0', id: 'w', result: null },
    ],
  );
});
