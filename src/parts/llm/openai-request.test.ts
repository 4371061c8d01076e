import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { factsOf } from './facts.ts';
import { createOpenAiWire } from './openai-chat.ts';
import type { OpenAiDialect } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';
import { assistant, modelRequest, user } from './testing.ts';

const DIALECT = PROVIDERS.find(({ name }) => name === 'openai')?.moved as OpenAiDialect;
const LOCAL = 'http://localhost:8080/v1';

function wireFor(model: string, baseUrl = LOCAL) {
  return createOpenAiWire({
    provider: 'openai',
    model,
    baseUrl: new URL(baseUrl),
    facts: factsOf(model),
    dialect: DIALECT,
    random: () => 0.5,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, looked into by its tests
function bodyOf(request: ModelRequest, baseUrl = LOCAL): any {
  return JSON.parse(Buffer.concat(wireFor(request.model, baseUrl).encode(request)).toString());
}

const TOOLS: readonly ToolSchema[] = [{ name: 'ls', description: 'Lists.', input: { type: 'object' } }];
const PNG = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;
const PNG_PART = { type: 'image_url', image_url: { url: 'data:image/png;base64,aWNv' } };

function result(id: string, content: Extract<Message, { role: 'toolResult' }>['content']): Message {
  return { role: 'toolResult', toolCallId: id, toolName: 'read', content, isError: false, timestamp: 0 };
}

test('a request with everything in it', () => {
  const messages: Message[] = [
    {
      role: 'user',
      content: [{ type: 'text', text: 'Look' }, PNG, { type: 'text', text: '' }],
      timestamp: 0,
    },
    assistant([
      { type: 'thinking', thinking: 'Hmm', thinkingSignature: 'sig' },
      { type: 'toolCall', id: 'a', name: 'ls', arguments: { path: 'ü' } },
      { type: 'toolCall', id: 'b', name: 'ls', arguments: {} },
    ]),
    result('a', [PNG, { type: 'text', text: 'one' }, { type: 'text', text: 'two' }]),
    result('b', [PNG]),
    assistant([{ type: 'text', text: 'Well' }]),
    assistant([{ type: 'thinking', thinking: 'nothing came of it' }]),
    {
      role: 'user',
      content: [
        { type: 'text', text: 'c' },
        { type: 'text', text: 'd' },
      ],
      timestamp: 0,
    },
  ];
  const request = modelRequest({
    model: 'm',
    system: 'Be good.',
    messages,
    tools: TOOLS,
    effort: 'max',
    toolChoice: 'ls',
  });
  assert.deepEqual(bodyOf(request), {
    model: 'm',
    max_tokens: 1000,
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: 'high',
    tool_choice: { type: 'function', function: { name: 'ls' } },
    tools: [
      { type: 'function', function: { name: 'ls', description: 'Lists.', parameters: { type: 'object' } } },
    ],
    messages: [
      { role: 'system', content: 'Be good.' },
      { role: 'user', content: [{ type: 'text', text: 'Look' }, PNG_PART] },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'ls', arguments: '{"path":"ü"}' } },
          { id: 'b', type: 'function', function: { name: 'ls', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'a', content: 'one\ntwo' },
      { role: 'tool', tool_call_id: 'b', content: 'The image follows.' },
      {
        role: 'user',
        content: [{ type: 'text', text: 'The images that the tools returned:' }, PNG_PART, PNG_PART],
      },
      { role: 'assistant', content: 'Well' },
      { role: 'user', content: 'c\nd' },
    ],
  });
});

test('without system, tools and effort there is none of them', () => {
  assert.deepEqual(bodyOf(modelRequest({ model: 'm' })), {
    model: 'm',
    max_tokens: 1000,
    stream: true,
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Hi' }],
  });
});

test('images of the last results come after them', () => {
  const call = { type: 'toolCall', id: 'a', name: 'ls', arguments: {} } as const;
  const messages = [user('x'), assistant([call]), result('a', [PNG])];
  const roles = bodyOf(modelRequest({ messages })).messages.map(({ role }: { role: string }) => role);
  assert.deepEqual(roles, ['user', 'assistant', 'tool', 'user']);
});

for (const [baseUrl, field] of [
  ['https://api.openai.com/v1', 'max_completion_tokens'],
  ['https://me.openai.azure.com/openai/v1', 'max_completion_tokens'],
  ['https://openai.com.example/v1', 'max_tokens'],
  ['https://notopenai.com/v1', 'max_tokens'],
  [LOCAL, 'max_tokens'],
] as const) {
  test(`${new URL(baseUrl).host} is sent ${field}`, () => {
    assert.equal(bodyOf(modelRequest(), baseUrl)[field], 1000);
  });
}

for (const [model, effort, tools, expected] of [
  ['local', 'low', false, 'low'],
  ['local', 'off', false, undefined],
  ['local', undefined, true, undefined],
  ['gpt-5', 'off', false, 'minimal'],
  ['gpt-5-mini', 'max', true, 'high'],
  ['gpt-5.1', 'off', true, 'none'],
  ['gpt-5.2', 'max', true, 'xhigh'],
  ['gpt-5.5', 'high', false, 'high'],
  ['gpt-5.5', 'high', true, 'none'],
  ['gpt-6-sol', undefined, true, 'none'],
] as const) {
  test(`${model} asked for effort ${effort} ${tools ? 'with' : 'without'} tools gets ${expected}`, () => {
    const request = modelRequest({ model, ...(effort && { effort }), tools: tools ? TOOLS : [] });
    assert.equal(bodyOf(request).reasoning_effort, expected);
  });
}

test('no more tokens are asked for than the model can write', () => {
  assert.equal(bodyOf(modelRequest({ model: 'gpt-4o', maxTokens: 50_000 })).max_tokens, 16_384);
});
