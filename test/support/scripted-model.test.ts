import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrabError } from '../../src/core/errors.ts';
import { MAX_RESULT_BYTES } from '../../src/core/limits.ts';
import { type AssistantMessage, toolResultMessage, userMessage } from '../../src/core/message.ts';
import type { ModelChunk, ModelRequest } from '../../src/core/model.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import type { Reply } from '../../src/dev/scenario.ts';
import { signatureOf } from '../../src/dev/signature.ts';
import { type ScriptedModel, scriptedModel } from './scripted-model.ts';
import { virtualClock } from './virtual-clock.ts';

const HELLO = userMessage('hello', 0);

function request(messages: ModelRequest['messages'], fields: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'm', system: 'be kind', messages, tools: [], maxTokens: 100, ...fields };
}

function assistant(...content: AssistantMessage['content']): AssistantMessage {
  const base = { role: 'assistant', api: 'x', provider: 'x', model: 'x', timestamp: 0 } as const;
  return { ...base, content, usage: NO_USAGE, stopReason: 'stop' };
}

const call = (id: string, name = 'ls') => ({ type: 'toolCall', id, name, arguments: {} }) as const;

const result = (id: string, text = 'ok') =>
  toolResultMessage({ id, name: 'ls' }, [{ type: 'text', text }], { isError: false, timestamp: 0 });

async function batchesOf(
  model: ScriptedModel,
  messages: ModelRequest['messages'] = [HELLO],
  signal = new AbortController().signal,
): Promise<readonly (readonly ModelChunk[])[]> {
  return Array.fromAsync(model.stream(request(messages), signal));
}

test('an answer comes as chunks in batches, and ends', async () => {
  const model = scriptedModel([{ thinking: 'hm', text: ['a', 'b'], calls: [{ name: 'ls', input: {} }] }], {
    batch: 4,
  });
  const id = 'call_1_1';
  assert.deepEqual(await batchesOf(model), [
    [
      { type: 'messageStart', id: 'scripted_1', model: 'm' },
      { type: 'thinkingDelta', index: 0, delta: 'hm' },
      { type: 'thinkingSignature', index: 0, signature: signatureOf('hm') },
      { type: 'contentBlockStop', index: 0 },
    ],
    [
      { type: 'contentDelta', index: 1, delta: 'a' },
      { type: 'contentDelta', index: 1, delta: 'b' },
      { type: 'contentBlockStop', index: 1 },
      { type: 'toolUseStart', index: 2, id, name: 'ls' },
    ],
    [
      { type: 'toolUseDelta', id, delta: '{' },
      { type: 'toolUseDelta', id, delta: '}' },
      { type: 'contentBlockStop', index: 2 },
      {
        type: 'end',
        stopReason: 'toolUse',
        tokens: { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 },
      },
    ],
  ]);
});

test('requests are recorded as they were, and the history chooses the reply', async () => {
  const model = scriptedModel([{ calls: [{ name: 'ls', input: {} }] }, { text: '{{result}} in {{cwd}}' }], {
    vars: { cwd: '/here' },
  });
  const messages: ModelRequest['messages'][number][] = [HELLO];
  await batchesOf(model, messages);
  messages.push(assistant(call('a')), result('a', 'files'));
  const second = (await batchesOf(model, messages)).flat();
  assert.deepEqual(second[1], { type: 'contentDelta', index: 0, delta: 'files in /here' });
  assert.deepEqual(
    model.requests.map((sent) => sent.messages.length),
    [1, 3],
  );
  assert.deepEqual(model.violations, []);
});

const FAULTS: readonly (readonly [Reply, readonly string[], Partial<CrabError>])[] = [
  [
    { fault: { status: 429, headers: { 'retry-after': '2' }, message: 'slow down' } },
    [],
    { code: 'rate-limited', message: 'slow down', status: 429, retryAfterMs: 2000, retryable: true },
  ],
  [{ fault: { status: 529 } }, [], { code: 'provider-overloaded', status: 529 }],
  [{ fault: { status: 401 } }, [], { code: 'auth-refused', retryable: false }],
  [{ fault: { status: 422 } }, [], { code: 'provider-request' }],
  [{ fault: { status: 500 } }, [], { code: 'provider-failed' }],
  [{ fault: { overflow: true } }, [], { code: 'context-overflow' }],
  [{ fault: { html: true } }, [], { code: 'provider-protocol' }],
  [{ fault: { reset: true } }, [], { code: 'network' }],
  [{ text: ['one', 'two'], fault: { cutAfter: 5 } }, ['one'], { code: 'stream-cut' }],
  [
    { text: 'x', calls: [{ name: 'ls', input: { a: 1 } }], fault: { cutAfter: 'call' } },
    ['x', '{"a"'],
    { code: 'stream-cut' },
  ],
  [{ text: 'one', fault: { noStop: true } }, ['one'], { code: 'stream-cut' }],
  [{ text: 'no', fault: { refuse: true } }, ['no'], { code: 'content-refused' }],
  [
    { text: 'one', fault: { errorEvent: { type: 'api_error', message: 'oh' } } },
    ['one'],
    { code: 'provider-failed', message: 'oh' },
  ],
];

for (const [reply, heard, expected] of FAULTS) {
  test(`the fault ${JSON.stringify(reply.fault)} ends the answer with ${expected.code}`, async () => {
    const chunks = (await batchesOf(scriptedModel([reply]))).flat();
    const last = chunks.at(-1);
    assert.ok(last?.type === 'failure' && last.error instanceof CrabError);
    const { code, message, status, retryAfterMs, retryable } = last.error;
    const actual: Partial<CrabError> = { code, message, status, retryAfterMs, retryable };
    assert.deepEqual({ ...actual, ...expected }, actual);
    assert.deepEqual(
      chunks.flatMap((chunk) => ('delta' in chunk ? [chunk.delta] : [])),
      heard,
    );
  });
}

test('a fault with times is over after that many requests', async () => {
  const model = scriptedModel([{ text: 'ok', fault: { status: 500 }, times: 2 }]);
  const ends: (string | undefined)[] = [];
  for (let time = 0; time < 3; time++) ends.push((await batchesOf(model)).flat().at(-1)?.type);
  assert.deepEqual(ends, ['failure', 'failure', 'end']);
});

test('a stalled answer ends when it is cancelled, as a failure and not as an exception', async () => {
  const cancel = new AbortController();
  const model = scriptedModel([{ text: ['one', 'two'], fault: { stallAfter: 3 } }]);
  const seen: string[] = [];
  for await (const [chunk] of model.stream(request([HELLO]), cancel.signal)) {
    seen.push(chunk?.type === 'failure' ? chunk.error.code : (chunk?.type ?? 'nothing'));
    if (chunk?.type === 'contentDelta') cancel.abort();
  }
  assert.deepEqual(seen, ['messageStart', 'contentDelta', 'interrupted']);
});

test('a request that is cancelled already gets nothing but the failure', async () => {
  const chunks = (await batchesOf(scriptedModel([{ text: 'x' }]), [HELLO], AbortSignal.abort())).flat();
  assert.deepEqual(
    chunks.map(({ type }) => type),
    ['failure'],
  );
});

test('delays pass on the clock of the test', async () => {
  const clock = virtualClock();
  const model = scriptedModel([{ text: 'x', delayMs: 100 }], { clock });
  const answer = batchesOf(model);
  for (let chunk = 0; chunk < 4; chunk++) {
    await clock.untilSleeping();
    await clock.advance(100);
  }
  assert.equal((await answer).length, 4);
  assert.equal(clock.monotonic(), 400);
});

const BREACHES: Record<string, readonly [Partial<ModelRequest>, string]> = {
  'no message': [{ messages: [] }, '1 messages: there is no message'],
  'the assistant first': [
    { messages: [assistant({ type: 'text', text: 'x' })] },
    '1 messages[0]: the first message is not from the user',
  ],
  'an empty user message': [{ messages: [userMessage([], 0)] }, '1 messages[0]: the user message is empty'],
  'an assistant message that no wire could send': [
    { messages: [HELLO, assistant({ type: 'thinking', thinking: 'unsigned' }, { type: 'text', text: ' ' })] },
    '1 messages[1]: the assistant message is empty',
  ],
  'a call without a result': [
    { messages: [HELLO, assistant(call('a'), call('b')), result('a'), HELLO] },
    '1 messages[1]: call b has no result right after it',
  ],
  'a result without a call': [
    { messages: [HELLO, result('a')] },
    '1 messages[1]: result for a answers no open call',
  ],
  'results out of call order': [
    { messages: [HELLO, assistant(call('a'), call('b')), result('b'), result('a')] },
    '1 messages[2]: result for b is not in call order',
  ],
  'a call id used twice': [
    { messages: [HELLO, assistant(call('a')), result('a'), assistant(call('a')), result('a')] },
    '1 messages[3]: call id a is used twice',
  ],
  'a bad tool name': [
    { tools: [{ name: 'a b', description: '', input: {} }] },
    '1 tools[0]: tool name "a b" is not allowed',
  ],
  'a result beyond the cap': [
    { messages: [HELLO, assistant(call('a')), result('a', 'x'.repeat(MAX_RESULT_BYTES + 1025))] },
    '5 messages[2]: the result has 52225 bytes, more than 52224',
  ],
  'a system prompt beyond the cap': [
    { system: 'x'.repeat(262_145) },
    '5 system: the system prompt has 262145 bytes, more than 262144',
  ],
};

for (const [breach, [fields, told]] of Object.entries(BREACHES)) {
  test(`${breach} is recorded and fails the request`, async () => {
    const model = scriptedModel([{ text: 'never said' }]);
    const { signal } = new AbortController();
    const chunks = (await Array.fromAsync(model.stream(request([HELLO], fields), signal))).flat();
    const [only] = chunks;
    assert.ok(only?.type === 'failure' && chunks.length === 1);
    assert.equal(only.error.code, 'provider-request');
    assert.match(only.error.message, /^law [15] violated at /);
    assert.deepEqual(
      model.violations.map(({ law, at, message, request }) => [request, `${law} ${at}: ${message}`]),
      [[0, told]],
    );
  });
}
