import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { factsOf } from './facts.ts';
import { createResponsesWire } from './openai-responses.ts';
import { RESPONSES, RESPONSES_PROVIDERS } from './openai-responses-providers.ts';
import type { ResponsesDialect } from './provider-row.ts';
import { assistant, modelRequest, user } from './testing.ts';

function wireFor(model: string, dialect: ResponsesDialect = RESPONSES) {
  return createResponsesWire({
    provider: 'openai',
    model,
    facts: factsOf(model),
    dialect,
    random: () => 0.5,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, looked into by its tests
function bodyOf(request: ModelRequest, dialect?: ResponsesDialect): any {
  return JSON.parse(Buffer.concat(wireFor(request.model, dialect).encode(request)).toString());
}

const TOOLS: readonly ToolSchema[] = [{ name: 'ls', description: 'Lists.', input: { type: 'object' } }];
const PNG = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;
const PNG_PART = {
  type: 'input_image',
  detail: 'auto',
  image_url: 'data:image/png;base64,aWNv',
} as const;
const PDF = { type: 'document', data: 'cGRm', mimeType: 'application/pdf', name: 'a.pdf' } as const;
const PDF_PART = {
  type: 'input_file',
  filename: 'a.pdf',
  file_data: 'data:application/pdf;base64,cGRm',
} as const;

const REASONING = { id: 'rs_1', type: 'reasoning', summary: [], encrypted_content: 'opaque' } as const;
const OWN = { api: 'openai-responses', provider: 'openai', model: 'gpt-6.2-sol' } as const;

function result(id: string, content: Extract<Message, { role: 'toolResult' }>['content']): Message {
  return { role: 'toolResult', toolCallId: id, toolName: 'read', content, isError: false, timestamp: 0 };
}

/** What a turn of the model becomes when it is sent to `model`. */
function sentBack(content: Parameters<typeof assistant>[0], fields: object = OWN, model = 'gpt-6.2-sol') {
  return bodyOf(modelRequest({ model, messages: [assistant(content, fields)] })).input;
}

test('a request with everything in it', () => {
  const messages: Message[] = [
    {
      role: 'user',
      content: [{ type: 'text', text: 'Look' }, PNG, { type: 'text', text: '' }, PDF],
      timestamp: 0,
    },
    assistant(
      [
        { type: 'thinking', thinking: 'Hmm', thinkingSignature: JSON.stringify(REASONING) },
        { type: 'text', text: 'Well', textSignature: '{"v":1,"id":"msg_1","phase":"commentary"}' },
        { type: 'toolCall', id: 'a', name: 'ls', arguments: { path: 'ü' }, thoughtSignature: 'fc_1' },
        { type: 'toolCall', id: 'b', name: 'ls', arguments: {} },
      ],
      OWN,
    ),
    result('a', [PNG, { type: 'text', text: 'one' }, PDF]),
    result('b', [
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]),
    assistant([{ type: 'thinking', thinking: 'nothing came of it' }], OWN),
    user('Go on'),
  ];
  const expected: ResponseCreateParamsStreaming = {
    model: 'gpt-6.2-sol',
    stream: true,
    store: false,
    max_output_tokens: 1000,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'max', summary: 'auto' },
    tool_choice: { type: 'function', name: 'ls' },
    text: {
      format: {
        type: 'json_schema',
        name: 'the_answer',
        schema: { type: 'object', properties: { a: { type: 'string' } } },
        strict: false,
      },
    },
    service_tier: 'priority',
    prompt_cache_key: 'c-1',
    instructions: 'Be good.',
    tools: [
      {
        type: 'function',
        name: 'ls',
        description: 'Lists.',
        parameters: { type: 'object' },
        strict: false,
      },
    ],
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Look' }, PNG_PART, PDF_PART] },
      { ...REASONING, summary: [] },
      {
        type: 'message',
        role: 'assistant',
        id: 'msg_1',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Well', annotations: [] }],
        phase: 'commentary',
      },
      { type: 'function_call', id: 'fc_1', call_id: 'a', name: 'ls', arguments: '{"path":"ü"}' },
      { type: 'function_call', call_id: 'b', name: 'ls', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [PNG_PART, { type: 'input_text', text: 'one' }, PDF_PART],
      },
      { type: 'function_call_output', call_id: 'b', output: 'one\ntwo' },
      { role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
    ],
  };
  const request = modelRequest({
    model: 'gpt-6.2-sol',
    system: 'Be good.',
    messages,
    tools: TOOLS,
    effort: 'max',
    toolChoice: 'ls',
    output: {
      name: 'the answer',
      schema: { type: 'object', properties: { a: { type: 'string' } } },
    },
    fast: true,
    conversation: 'c-1',
  });
  assert.deepEqual(bodyOf(request), expected);
});

test('a model that does not reason is asked for nothing of the kind', () => {
  assert.deepEqual(bodyOf(modelRequest({ model: 'gpt-4.1', effort: 'high' })), {
    model: 'gpt-4.1',
    stream: true,
    store: false,
    max_output_tokens: 1000,
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
  });
});

test('reasoning goes back to its own family at its own provider only, and ids with it', () => {
  const content = [
    { type: 'thinking', thinking: 'Hmm', thinkingSignature: JSON.stringify(REASONING) },
    { type: 'text', text: 'Well', textSignature: '{"v":1,"id":"msg_1"}' },
    { type: 'toolCall', id: 'a', name: 'ls', arguments: {}, thoughtSignature: 'fc_1' },
  ] as const;
  const kinds = (fields: object, model?: string) =>
    sentBack(content, fields, model).map(
      ({ type, id = '' }: { type: string; id?: string }) => `${type} ${id}`,
    );
  const whole = ['reasoning rs_1', 'message msg_1', 'function_call fc_1'];
  const bare = ['message ', 'function_call '];
  assert.deepEqual(kinds(OWN), whole);
  assert.deepEqual(kinds({ ...OWN, model: 'gpt-6.1-sol' }), whole);
  assert.deepEqual(kinds({ ...OWN, model: 'gpt-5.5' }), bare);
  assert.deepEqual(kinds({ ...OWN, provider: 'azure' }), bare);
  assert.deepEqual(kinds({ ...OWN, api: 'openai-completions' }), bare);
  assert.deepEqual(kinds({ ...OWN, model: 'mine' }, 'mine'), whole);
  assert.deepEqual(kinds({ ...OWN, model: 'mine' }, 'yours'), bare);
});

test('reasoning that nothing came of, that the server did not keep, or that is none, is left out', () => {
  const text = { type: 'text', text: 'Well' } as const;
  const thinking = (signature: string) =>
    ({ type: 'thinking', thinking: 'Hmm', thinkingSignature: signature }) as const;
  const count = (...content: Parameters<typeof assistant>[0]) => sentBack(content).length;
  const good = thinking(JSON.stringify(REASONING));
  assert.equal(count(good, text), 2);
  assert.equal(count(text, good), 1);
  assert.equal(count(good), 0);
  assert.equal(count(thinking(JSON.stringify({ ...REASONING, encrypted_content: null })), text), 1);
  assert.equal(count(thinking('sig'), text), 1);
  assert.equal(count(thinking('null'), text), 1);
  assert.equal(count(thinking('{"type":"message","encrypted_content":"x"}'), text), 1);
});

test('a signature that another program wrote does no harm', () => {
  assert.deepEqual(sentBack([{ type: 'text', text: 'Well', textSignature: 'msg_1' }]), [
    {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'output_text', text: 'Well', annotations: [] }],
    },
  ]);
});

test('ids of other providers are made fit, and results find their calls', () => {
  const id = `${'x'.repeat(70)}|fc:1`;
  const messages = [assistant([{ type: 'toolCall', id, name: 'ls', arguments: {} }]), result(id, [])];
  const [call, output] = bodyOf(modelRequest({ messages })).input;
  assert.equal(call.call_id, `${'x'.repeat(59)}_fc_1`);
  assert.deepEqual(output, { type: 'function_call_output', call_id: call.call_id, output: '' });
});

for (const [name, schema, strict] of [
  ['closed', { type: 'object', properties: { a: {} }, required: ['a'], additionalProperties: false }, true],
  ['open', { type: 'object', properties: { a: {} }, required: ['a'] }, false],
  ['with a field that may be left out', { properties: { a: {} }, additionalProperties: false }, false],
  [
    'closed, with an open one inside',
    {
      type: 'object',
      properties: { a: { type: 'array', items: { type: ['object', 'null'] } } },
      required: ['a'],
      additionalProperties: false,
    },
    false,
  ],
  ['with a keyword that is not known', { anyOf: [{ type: 'string' }, { not: { type: 'null' } }] }, false],
] as const) {
  test(`a schema that is ${name} is ${strict ? '' : 'not '}strict`, () => {
    const { text } = bodyOf(modelRequest({ output: { name: 'x', schema } }));
    assert.deepEqual(text.format, { type: 'json_schema', name: 'x', schema, strict });
  });
}

for (const [model, effort, expected] of [
  ['gpt-6.2-sol', undefined, { summary: 'auto' }],
  ['gpt-6.2-sol', 'off', { effort: 'low', summary: 'auto' }],
  ['gpt-6.2-astra', 'max', { effort: 'max', summary: 'auto' }],
  ['gpt-6-luna', 'off', { effort: 'none' }],
  ['gpt-5.6-sol', 'max', { effort: 'max', summary: 'auto' }],
  ['gpt-5.5', 'off', { effort: 'none' }],
  ['gpt-5.4', 'max', { effort: 'xhigh', summary: 'auto' }],
  ['gpt-5.4-pro', 'low', { effort: 'medium', summary: 'auto' }],
  ['gpt-5.3-codex', 'off', { effort: 'low', summary: 'auto' }],
  ['gpt-5.1-codex-max', 'max', { effort: 'xhigh', summary: 'auto' }],
  ['gpt-5.1-codex', 'max', { effort: 'high', summary: 'auto' }],
  ['gpt-5.1', 'off', { effort: 'none' }],
  ['gpt-5.1-chat-latest', 'high', undefined],
  ['gpt-5-pro', 'low', { effort: 'high', summary: 'auto' }],
  ['gpt-5-mini', 'off', { effort: 'minimal', summary: 'auto' }],
  ['gpt-5-chat-latest', 'high', undefined],
  ['o4-mini', 'off', { effort: 'low', summary: 'auto' }],
  ['gpt-35-turbo', 'high', undefined],
] as const) {
  test(`${model} asked for effort ${effort} gets ${JSON.stringify(expected)}`, () => {
    const { reasoning, include } = bodyOf(modelRequest({ model, ...(effort && { effort }) }));
    assert.deepEqual(reasoning, expected);
    assert.deepEqual(include, expected && ['reasoning.encrypted_content']);
  });
}

test('a row may ask for no summary', () => {
  const { reasoning } = bodyOf(modelRequest({ model: 'gpt-6.2-sol' }), { ...RESPONSES, summary: 'none' });
  assert.equal(reasoning, undefined);
});

test('an answer is neither longer than the model can write nor shorter than the API allows', () => {
  const asked = (model: string, maxTokens: number) => bodyOf(modelRequest({ model, maxTokens }));
  assert.equal(asked('gpt-4o', 50_000).max_output_tokens, 16_384);
  assert.equal(asked('gpt-4o', 1).max_output_tokens, 16);
});

test('the server of ChatGPT’s subscriptions is told what it demands, and not what it refuses', () => {
  const dialect = RESPONSES_PROVIDERS.find(({ name }) => name === 'chatgpt')?.dialect;
  assert.ok(dialect?.wire === 'openai-responses');
  const request = modelRequest({ model: 'gpt-6.1-sol', conversation: 'c-1' });
  const { instructions, store, max_output_tokens: limit } = bodyOf(request, dialect);
  assert.deepEqual([instructions, store, limit], ['You are a helpful assistant.', false, undefined]);
  assert.deepEqual(wireFor('gpt-6.1-sol', dialect).headersFor?.(request), { session_id: 'c-1' });
  assert.deepEqual(wireFor('gpt-6.1-sol', dialect).headersFor?.(modelRequest()), {});
});
