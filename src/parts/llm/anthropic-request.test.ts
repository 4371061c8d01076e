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

function wireFor(model: string, dialect: Partial<AnthropicDialect> = {}) {
  return createAnthropicWire({
    provider: 'anthropic',
    model,
    facts: factsOf(model),
    dialect: { ...DIALECT, ...dialect },
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
  const headersOf = (model: string) => {
    const wire = wireFor(model);
    return { ...wire.headers, ...wire.headersFor?.(modelRequest({ model })) };
  };
  assert.deepEqual(headersOf('claude-sonnet-4-5'), { 'anthropic-version': '2023-06-01' });
  assert.deepEqual(headersOf('claude-fable-5-1'), {
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'thinking-binding-controls-2026-08-01',
  });
});

test('a request ends the prefix that it marked where the next one looks for it, however long the turn', () => {
  const calls = Array.from({ length: 30 }, (_, at) => `c${at}`);
  const history = [
    user('one'),
    assistant(calls.map((id) => ({ type: 'toolCall', id, name: 'ls', arguments: {} }))),
    ...calls.map((id) => result(id, [])),
  ];
  const marks = (messages: readonly Message[]) =>
    bodyOf(modelRequest({ messages })).messages.map((turn: { content: { cache_control?: object }[] }) =>
      turn.content.findLastIndex((block) => block.cache_control !== undefined),
    );
  assert.deepEqual(marks(history.slice(0, 1)), [0]);
  assert.deepEqual(marks(history), [0, -1, 29]);
});

test('the cache is kept for an hour where the row says so', () => {
  const wire = wireFor('claude-test', { quirks: { cacheTtl: '1h' } });
  const body = bodyOf(modelRequest({ system: 'Be brief.', tools: TOOLS }), wire);
  const mark = { type: 'ephemeral', ttl: '1h' };
  assert.deepEqual(
    [body.tools[1], body.system[0], body.messages[0].content[0]].map((block) => block.cache_control),
    [mark, mark, mark],
  );
});

test('the sources of a text go back to the provider that named them, unless they name a block that is gone', () => {
  const page = { type: 'page_location', cited_text: 'x', document_index: 0 };
  const web = { type: 'web_search_result_location', url: 'https://example.com', encrypted_index: 'e' };
  const text = { type: 'text', text: 'x', citations: [page, web] } as const;
  const sent = (fields: object) =>
    bodyOf(modelRequest({ messages: [user('a'), assistant([text], fields)] })).messages[1].content;
  assert.deepEqual(sent({}), [{ type: 'text', text: 'x', citations: [page] }]);
  assert.deepEqual(sent({ provider: 'elsewhere' }), [{ type: 'text', text: 'x' }]);
});

const PDF = { type: 'document', data: 'JVBERi0=', mimeType: 'application/pdf', name: 'a.pdf' } as const;

test('a document is cited only where the row asks for it', () => {
  const sent = (dialect: Partial<AnthropicDialect>) => {
    const messages: Message[] = [
      { role: 'user', content: [PDF, { type: 'text', text: 'Read' }], timestamp: 0 },
    ];
    return bodyOf(modelRequest({ messages }), wireFor('claude-opus-5', dialect)).messages[0].content[0];
  };
  const source = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' };
  assert.deepEqual(sent({}), { type: 'document', source, title: 'a.pdf' });
  assert.deepEqual(sent({ quirks: { citations: true } }), {
    type: 'document',
    source,
    title: 'a.pdf',
    citations: { enabled: true },
  });
});

test('the answer is held to a schema by models that can be', () => {
  const output = {
    name: 'answer',
    schema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] },
  } as const;
  const format = {
    type: 'json_schema',
    schema: {
      type: 'object',
      properties: { n: { type: 'integer', description: '{minimum: 1}' } },
      required: ['n'],
      additionalProperties: false,
    },
  };
  assert.deepEqual(head({ model: 'claude-opus-5-5', output, effort: 'low' }), {
    max_tokens: 1000,
    thinking: { ...ADAPTIVE, ...BOUND },
    output_config: { effort: 'low', format },
  });
  assert.deepEqual(head({ model: 'claude-haiku-4-5', output }), {
    max_tokens: 1000,
    output_config: { format },
  });
  assert.deepEqual(head({ model: 'claude-opus-4-1', output }), { max_tokens: 1000 });
  for (const [model, structured] of [
    ['claude-opus-4-1', undefined],
    ['claude-sonnet-4-20250514', undefined],
    ['claude-sonnet-4-5-20250929', true],
    ['claude-fable-5-1', true],
  ] as const)
    assert.equal(wireFor(model).structured, structured);
  assert.equal(wireFor('claude-opus-5', { quirks: { citations: true } }).structured, undefined);
});

test('speed is asked for where it is sold, with the beta that it needs', () => {
  const asked = (model: string) => {
    const request = modelRequest({ model, fast: true });
    const wire = wireFor(model);
    return [bodyOf(request, wire).speed, wire.headersFor?.(request)['anthropic-beta']];
  };
  assert.deepEqual(asked('claude-opus-5'), ['fast', 'fast-mode-2026-02-01']);
  assert.deepEqual(asked('claude-opus-4-8'), ['fast', 'fast-mode-2026-02-01']);
  assert.deepEqual(asked('claude-opus-5-5'), ['fast', 'thinking-binding-controls-2026-08-01']);
  assert.deepEqual(asked('claude-sonnet-5'), [undefined, undefined]);
});
