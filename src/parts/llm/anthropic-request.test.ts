import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { createAnthropicWire } from './anthropic.ts';
import { factsOf } from './facts.ts';
import type { AnthropicDialect } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';
import { assistant, modelRequest, user } from './testing.ts';

const DIALECT = PROVIDERS.find(({ name }) => name === 'anthropic')?.dialect as AnthropicDialect;
const MARK = { cache_control: { type: 'ephemeral' } };

function wireFor(model: string) {
  return createAnthropicWire({
    provider: 'anthropic',
    model,
    facts: factsOf(model),
    dialect: DIALECT,
    random: () => 0.5,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, looked into by its tests
function bodyOf(request: ModelRequest, wire = wireFor(request.model)): any {
  return JSON.parse(Buffer.concat(wire.encode(request)).toString());
}

function result(
  id: string,
  content: Extract<Message, { role: 'toolResult' }>['content'],
  isError = false,
): Message {
  return { role: 'toolResult', toolCallId: id, toolName: 'read', content, isError, timestamp: 0 };
}

const TOOLS: readonly ToolSchema[] = [
  {
    name: 'read',
    description: 'Reads.',
    input: { type: 'object', properties: { path: { type: 'string' } } },
  },
  { name: 'ls', description: 'Lists.', input: { type: 'object' } },
];
const PNG = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;

test('a request with everything in it', () => {
  const messages: Message[] = [
    {
      role: 'user',
      content: [{ type: 'text', text: 'Look' }, PNG, { type: 'text', text: ' ' }],
      timestamp: 0,
    },
    assistant([
      { type: 'thinking', thinking: 'Hmm', thinkingSignature: 'sig' },
      { type: 'thinking', thinking: '', thinkingSignature: 'opaque', redacted: true },
      { type: 'text', text: '' },
      { type: 'text', text: 'I read.' },
      { type: 'toolCall', id: 'a', name: 'read', arguments: { path: 'ü' } },
      { type: 'toolCall', id: 'fc:b|1', name: 'ls', arguments: {} },
    ]),
    result('a', [{ type: 'text', text: 'text' }, PNG]),
    result('fc:b|1', [], true),
    user('And now?'),
  ];
  assert.deepEqual(
    bodyOf(modelRequest({ model: 'claude-test', system: 'Be good.', messages, tools: TOOLS })),
    {
      model: 'claude-test',
      max_tokens: 1000,
      stream: true,
      system: [{ type: 'text', text: 'Be good.', ...MARK }],
      tools: [
        {
          name: 'read',
          description: 'Reads.',
          input_schema: { type: 'object', properties: { path: { type: 'string' } } },
        },
        { name: 'ls', description: 'Lists.', input_schema: { type: 'object' }, ...MARK },
      ],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWNv' }, ...MARK },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hmm', signature: 'sig' },
            { type: 'redacted_thinking', data: 'opaque' },
            { type: 'text', text: 'I read.' },
            { type: 'tool_use', id: 'a', name: 'read', input: { path: 'ü' } },
            { type: 'tool_use', id: 'fc_b_1', name: 'ls', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [
                { type: 'text', text: 'text' },
                { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aWNv' } },
              ],
            },
            {
              type: 'tool_result',
              tool_use_id: 'fc_b_1',
              content: [{ type: 'text', text: 'failed without output' }],
              is_error: true,
            },
            { type: 'text', text: 'And now?', ...MARK },
          ],
        },
      ],
    },
  );
});

test('without system and tools there is neither', () => {
  assert.deepEqual(bodyOf(modelRequest({ model: 'claude-test' })), {
    model: 'claude-test',
    max_tokens: 1000,
    stream: true,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', ...MARK }] }],
  });
});

test('messages that come to nothing are left out, and roles still alternate', () => {
  const messages = [
    user('a'),
    assistant([{ type: 'text', text: ' ' }], { stopReason: 'aborted' }),
    user(''),
    user('b'),
    assistant([{ type: 'thinking', thinking: 'cut short' }]),
  ];
  assert.deepEqual(bodyOf(modelRequest({ messages })).messages, [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b', ...MARK },
      ],
    },
  ]);
});

test('a lone surrogate becomes a replacement character', () => {
  const messages = [user('a\ud800 \\ud800 🦀')];
  const [turn] = bodyOf(modelRequest({ messages })).messages;
  assert.equal(turn.content[0].text, 'a\ufffd \\ud800 🦀');
});

test('of a conversation that goes on only what is new is encoded, and the marked prefix stays as it was', () => {
  const wire = wireFor('claude-test');
  const first = [user('one'), assistant([{ type: 'text', text: 'two' }]), user('three')];
  const before = wire.encode(modelRequest({ system: 'S', tools: TOOLS, messages: first }));
  const then = [...first, assistant([{ type: 'text', text: 'four' }]), user('five')];
  const after = wire.encode(modelRequest({ system: 'S', tools: TOOLS, messages: then }));
  const isOld = (part: Buffer) =>
    before.some(({ buffer, byteOffset }) => buffer === part.buffer && byteOffset === part.byteOffset);
  const fresh = after.filter((part) => !isOld(part)).map(String);
  const once = (text: string) => fresh.filter((part) => part.includes(text)).length;
  assert.deepEqual(['one', 'two', 'three', 'Reads.', '"S"'].map(once), [0, 0, 0, 0, 0]);
  assert.deepEqual(['four', 'five'].map(once), [1, 1]);
  const [old, next] = [before, after].map((parts) => {
    const text = Buffer.concat(parts).toString();
    return text.slice(0, text.indexOf('three')).replaceAll(',"cache_control":{"type":"ephemeral"}', '');
  });
  assert.equal(old, next);
});

test('only the last two user turns are marked', () => {
  const messages = [1, 2, 3, 4].flatMap((n) => [user(`u${n}`), assistant([{ type: 'text', text: `a${n}` }])]);
  const marked = bodyOf(modelRequest({ messages })).messages.flatMap(
    (turn: { content: { text: string; cache_control?: object }[] }) =>
      turn.content.flatMap((block) => (block.cache_control ? [block.text] : [])),
  );
  assert.deepEqual(marked, ['u3', 'u4']);
});

test('thinking goes back only to the provider and wire that signed it', () => {
  const thinking = { type: 'thinking', thinking: 'Hmm', thinkingSignature: 'sig' } as const;
  const text = { type: 'text', text: 'x' } as const;
  const kept = (fields: object, model = 'claude-test') =>
    bodyOf(modelRequest({ model, messages: [user('a'), assistant([thinking, text], fields)] })).messages[1]
      .content.length === 2;
  assert.equal(kept({}), true);
  assert.equal(kept({ api: 'openai-completions' }), false);
  assert.equal(kept({ provider: 'elsewhere' }), false);
  assert.equal(kept({ model: 'claude-other' }), true);
  assert.equal(kept({ model: 'claude-other' }, 'claude-opus-5-5'), false);
  assert.equal(kept({ model: 'claude-opus-5-5' }, 'claude-opus-5-5'), true);
});

function head(fields: Partial<ModelRequest>): object {
  const { messages: _, stream: __, model: ___, tools: ____, ...rest } = bodyOf(modelRequest(fields));
  return rest;
}

const BOUND = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const ADAPTIVE = { type: 'adaptive', display: 'summarized' };

for (const [name, fields, expected] of [
  ['none asked for', {}, { max_tokens: 1000 }],
  ['off', { effort: 'off' }, { max_tokens: 1000 }],
  [
    'a budget below the tokens allowed',
    { effort: 'low', maxTokens: 4000 },
    { max_tokens: 4000, thinking: { type: 'enabled', budget_tokens: 2048 } },
  ],
  [
    'a budget above the tokens allowed raises them',
    { effort: 'max', maxTokens: 16_000 },
    { max_tokens: 48_768, thinking: { type: 'enabled', budget_tokens: 32_768 } },
  ],
  [
    'never above what the model can write',
    { model: 'claude-opus-4-1', effort: 'max', maxTokens: 64_000 },
    { max_tokens: 32_000, thinking: { type: 'enabled', budget_tokens: 30_976 } },
  ],
  [
    'beside a tool that must be called',
    { effort: 'high', toolChoice: 'ls', tools: TOOLS },
    { max_tokens: 1000, tool_choice: { type: 'tool', name: 'ls' } },
  ],
  [
    'adaptive where the model decides',
    { model: 'claude-opus-4-8', effort: 'high' },
    { max_tokens: 1000, thinking: ADAPTIVE, output_config: { effort: 'high' } },
  ],
  ['adaptive, not asked for', { model: 'claude-opus-4-8' }, { max_tokens: 1000 }],
  ['adaptive by default', { model: 'claude-sonnet-5' }, { max_tokens: 1000, thinking: ADAPTIVE }],
  [
    'adaptive by default, switched off',
    { model: 'claude-sonnet-5', effort: 'off' },
    { max_tokens: 1000, thinking: { type: 'disabled' } },
  ],
  [
    'bound and always on',
    { model: 'claude-sonnet-5-5' },
    { max_tokens: 1000, thinking: { ...ADAPTIVE, ...BOUND } },
  ],
  [
    'bound, switched off as far as it goes, and no tool can be forced',
    { model: 'claude-opus-5-5', effort: 'off', toolChoice: 'ls', tools: TOOLS },
    { max_tokens: 1000, thinking: { ...ADAPTIVE, ...BOUND }, output_config: { effort: 'low' } },
  ],
] as const) {
  test(`thinking: ${name}`, () => {
    assert.deepEqual(head({ model: 'claude-test', ...fields }), expected);
  });
}

test('a model that thinks within a budget does not when the turn under way began without thinking', () => {
  const call = { type: 'toolCall', id: 'a', name: 'ls', arguments: {} } as const;
  const thinking = { type: 'thinking', thinking: 'Hmm', thinkingSignature: 'sig' } as const;
  const under = (content: Parameters<typeof assistant>[0]) => ({
    effort: 'low' as const,
    messages: [user('a'), assistant(content), result('a', [])],
  });
  assert.deepEqual(head(under([call])), { max_tokens: 1000 });
  assert.deepEqual(head(under([thinking, call])), {
    max_tokens: 3048,
    thinking: { type: 'enabled', budget_tokens: 2024 },
  });
});

test('models whose thinking is bound are sent the header that lets a shortened history drop it', () => {
  assert.deepEqual(wireFor('claude-sonnet-4-5').headers, { 'anthropic-version': '2023-06-01' });
  assert.deepEqual(wireFor('claude-fable-5-1').headers, {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'thinking-binding-controls-2026-08-01',
  });
});
