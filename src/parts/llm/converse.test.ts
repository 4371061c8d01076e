import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import type { Message } from '../../core/message.ts';
import type { Model, ModelChunk, ModelRequest } from '../../core/model.ts';
import { createConverseWire } from './converse.ts';
import { assistant, chunks, modelRequest, outcome, serve, testModels, user } from './testing.ts';

const NOVA = 'us.amazon.nova-pro-v1:0';
const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString(),
  (text) => Buffer.from(text),
);

function frame(name: string, body: object, kind: 'event' | 'exception' = 'event'): Buffer {
  const headers = {
    ':message-type': { type: 'string', value: kind },
    [`:${kind}-type`]: { type: 'string', value: name },
    ':content-type': { type: 'string', value: 'application/json' },
  } as const;
  return Buffer.from(codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) }));
}

function delta(contentBlockIndex: number, body: object): Buffer {
  return frame('contentBlockDelta', { contentBlockIndex, delta: body, p: 'abc' });
}

function stop(contentBlockIndex: number): Buffer {
  return frame('contentBlockStop', { contentBlockIndex });
}

const USAGE = frame('metadata', {
  usage: {
    inputTokens: 7,
    outputTokens: 5,
    totalTokens: 15,
    cacheReadInputTokens: 3,
    cacheWriteInputTokens: null,
  },
  metrics: { latencyMs: 1 },
});
const ANSWER = [
  frame('messageStart', { role: 'assistant' }),
  delta(0, { reasoningContent: { text: 'Hmm' } }),
  delta(0, { reasoningContent: { signature: 'sig' } }),
  stop(0),
  delta(1, { reasoningContent: { redactedContent: 'b3BhcXVl' } }),
  stop(1),
  delta(2, { text: 'Look ' }),
  delta(2, { text: '🦀' }),
  stop(2),
  frame('contentBlockStart', { contentBlockIndex: 3, start: { toolUse: { toolUseId: 't1', name: 'read' } } }),
  delta(3, { toolUse: { input: '{"path":' } }),
  delta(3, { toolUse: { input: '"a"}' } }),
  stop(3),
  frame('messageStop', { stopReason: 'tool_use' }),
  USAGE,
];
const TOKENS = { input: 7, output: 5, cacheRead: 3, cacheWrite: 0 };
const TOLD: ModelChunk[] = [
  { type: 'messageStart', id: '', model: NOVA },
  { type: 'thinkingDelta', index: 0, delta: 'Hmm' },
  { type: 'thinkingSignature', index: 0, signature: 'sig' },
  { type: 'contentBlockStop', index: 0 },
  { type: 'thinkingSignature', index: 1, signature: 'b3BhcXVl', redacted: true },
  { type: 'contentBlockStop', index: 1 },
  { type: 'contentDelta', index: 2, delta: 'Look ' },
  { type: 'contentDelta', index: 2, delta: '🦀' },
  { type: 'contentBlockStop', index: 2 },
  { type: 'toolUseStart', index: 3, id: 't1', name: 'read' },
  { type: 'toolUseDelta', id: 't1', delta: '{"path":' },
  { type: 'toolUseDelta', id: 't1', delta: '"a"}' },
  { type: 'contentBlockStop', index: 3 },
  { type: 'end', stopReason: 'toolUse', tokens: TOKENS },
];

async function answered(frames: readonly Buffer[], model = NOVA): Promise<ModelChunk[]> {
  await using server = await serve((response) => response.end(Buffer.concat(frames)));
  return await chunks(await modelAt(server.url, model), modelRequest({ model }));
}

function modelAt(url: string, model = NOVA): Promise<Model> {
  const env = {
    AWS_ACCESS_KEY_ID: 'AKID',
    AWS_SECRET_ACCESS_KEY: 'very-secret',
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
    CRAB_MAX_RETRIES: '0',
  };
  return testModels({ env }).resolve(`bedrock/${model}`);
}

test('models of other makers answer over Converse: thinking, text and calls', async () => {
  await using server = await serve((response) => response.end(Buffer.concat(ANSWER)));
  const model = await modelAt(server.url);
  assert.deepEqual(await chunks(model, modelRequest({ model: NOVA })), TOLD);
  assert.equal(server.received[0]?.path, `/model/${encodeURIComponent(NOVA)}/converse-stream`);
  assert.match(server.received[0]?.headers.authorization ?? '', /^AWS4-HMAC-SHA256 Credential=AKID\//);
  assert.equal(model.info.api, 'bedrock-converse');
});

test('which wire a model of Bedrock’s speaks is known by its id', async () => {
  const arn = 'arn:aws:bedrock:us-east-1:123456789012';
  for (const [id, api] of [
    ['meta.llama4-scout-17b-instruct-v1:0', 'bedrock-converse'],
    [`${arn}:inference-profile/us.amazon.nova-lite-v1:0`, 'bedrock-converse'],
    [`${arn}:inference-profile/us.anthropic.claude-sonnet-4-6`, 'anthropic-messages'],
    [`${arn}:application-inference-profile/a1b2c3`, 'anthropic-messages'],
  ] as const)
    assert.equal((await modelAt('http://127.0.0.1:1', id)).info.api, api, id);
});

test('an answer that breaks off after any frame keeps what was whole, and has an end only when it has', async () => {
  const after = [0, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13];
  for (const [count, told] of after.entries()) {
    const got = await answered(ANSWER.slice(0, count));
    assert.deepEqual(got.slice(0, -1), TOLD.slice(0, told), `${count} frames`);
    const last = got.at(-1);
    assert.equal(last?.type === 'failure' && last.error.code, 'stream-cut', `${count} frames`);
  }
  const whole = await answered(ANSWER.slice(0, -1));
  assert.deepEqual(whole.at(-1), {
    type: 'end',
    stopReason: 'toolUse',
    tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  });
});

test('each reason to stop is what it means', async () => {
  for (const [reason, expected] of [
    ['end_turn', { type: 'end', stopReason: 'stop', tokens: TOKENS }],
    ['stop_sequence', { type: 'end', stopReason: 'stop', tokens: TOKENS }],
    ['max_tokens', { type: 'end', stopReason: 'length', tokens: TOKENS }],
    [
      'guardrail_intervened',
      {
        code: 'content-refused',
        message: 'The model refused to answer: guardrail intervened',
        retryable: false,
      },
    ],
  ] as const) {
    const got = await answered([
      delta(0, { text: 'x' }),
      frame('messageStop', { stopReason: reason }),
      USAGE,
    ]);
    assert.deepEqual(outcome(got.at(-1)), expected);
  }
  const odd = await answered([
    delta(0, { text: 'x' }),
    frame('messageStop', { stopReason: 'malformed_tool_use' }),
    USAGE,
  ]);
  assert.deepEqual(odd.at(-2), {
    type: 'notice',
    text: 'The provider ended its answer early (malformed_tool_use).',
  });
});

test('an exception in the answer is what its name says', async () => {
  const got = await answered([
    delta(0, { text: 'x' }),
    frame('throttlingException', { message: 'No.' }, 'exception'),
  ]);
  assert.deepEqual(outcome(got.at(-1)), {
    code: 'rate-limited',
    message: 'bedrock reported throttlingException: No.',
    status: 429,
    retryable: true,
  });
});

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, looked into by its tests
function bodyOf(request: ModelRequest, model = NOVA): any {
  const dialect = { wire: 'bedrock-converse', forced: /nova/ } as const;
  const wire = createConverseWire({ provider: 'bedrock', model, facts: {}, dialect, random: () => 0.5 });
  return JSON.parse(Buffer.concat(wire.encode(request)).toString());
}

test('a request with everything in it', () => {
  const own = { api: 'bedrock-converse', provider: 'bedrock', model: NOVA } as const;
  const pdf = {
    type: 'document',
    data: 'JVBERi0=',
    mimeType: 'application/pdf',
    name: 'a_b  c.pdf',
  } as const;
  const png = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;
  const result = (id: string, content: typeof png | undefined, isError: boolean): Message => ({
    role: 'toolResult',
    toolCallId: id,
    toolName: 'ls',
    content: content === undefined ? [] : [content],
    isError,
    timestamp: 0,
  });
  const messages: Message[] = [
    { role: 'user', content: [pdf], timestamp: 0 },
    assistant(
      [
        { type: 'thinking', thinking: 'Hmm', thinkingSignature: 'sig' },
        { type: 'thinking', thinking: '', thinkingSignature: 'b3BhcXVl', redacted: true },
        { type: 'text', text: 'I read.' },
        { type: 'toolCall', id: 'a|1', name: 'ls', arguments: { path: 'ü' } },
        { type: 'toolCall', id: 'b', name: 'ls', arguments: {} },
      ],
      own,
    ),
    result('a|1', png, false),
    result('b', undefined, true),
    assistant([{ type: 'thinking', thinking: 'Not its own', thinkingSignature: 'x' }]),
    user('Go on'),
  ];
  const tools = [{ name: 'ls', description: 'Lists.', input: { type: 'object' } }] as const;
  const request = modelRequest({ model: NOVA, system: 'Be brief.', messages, tools, toolChoice: 'ls' });
  assert.deepEqual(bodyOf(request), {
    inferenceConfig: { maxTokens: 1000 },
    system: [{ text: 'Be brief.' }],
    toolConfig: {
      tools: [{ toolSpec: { name: 'ls', description: 'Lists.', inputSchema: { json: { type: 'object' } } } }],
      toolChoice: { tool: { name: 'ls' } },
    },
    messages: [
      {
        role: 'user',
        content: [
          { document: { format: 'pdf', name: 'a b c', source: { bytes: 'JVBERi0=' } } },
          { text: 'See the document.' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hmm', signature: 'sig' } } },
          { reasoningContent: { redactedContent: 'b3BhcXVl' } },
          { text: 'I read.' },
          { toolUse: { toolUseId: 'a_1', name: 'ls', input: { path: 'ü' } } },
          { toolUse: { toolUseId: 'b', name: 'ls', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            toolResult: {
              toolUseId: 'a_1',
              content: [{ image: { format: 'png', source: { bytes: 'aWNv' } } }],
            },
          },
          { toolResult: { toolUseId: 'b', content: [{ text: 'failed without output' }], status: 'error' } },
          { text: 'Go on' },
        ],
      },
    ],
  });
  assert.equal(bodyOf({ ...request, model: 'meta.llama4' }, 'meta.llama4').toolConfig.toolChoice, undefined);
});

test('a conversation that grows is sent as one that was long from the start', () => {
  const dialect = { wire: 'bedrock-converse', forced: /nova/ } as const;
  const create = () =>
    createConverseWire({ provider: 'bedrock', model: NOVA, facts: {}, dialect, random: () => 0.5 });
  const grown = create();
  const messages: Message[] = [];
  for (let turn = 0; turn < 6; turn++) {
    messages.push(user(`u${turn}`), user('more'));
    const bytes = Buffer.concat(grown.encode(modelRequest({ messages }))).toString();
    assert.equal(bytes, Buffer.concat(create().encode(modelRequest({ messages: [...messages] }))).toString());
    messages.push(assistant([{ type: 'text', text: `a${turn}` }]));
  }
});
