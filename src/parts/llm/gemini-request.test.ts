import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../core/message.ts';
import type { ModelRequest, ToolSchema } from '../../core/model.ts';
import { createGeminiWire } from './gemini.ts';
import { GOOGLE_PROVIDERS } from './google-providers.ts';
import { assistant, modelRequest, user } from './testing.ts';

const [GOOGLE] = GOOGLE_PROVIDERS;

function wireFor(model: string) {
  assert.ok(GOOGLE?.dialect.wire === 'google-generative-ai');
  const { dialect } = GOOGLE;
  return createGeminiWire({
    provider: 'google',
    model,
    facts: { maxOutput: 65_536 },
    dialect,
    random: () => 0.5,
  });
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of a request, looked into by its tests
function bodyOf(request: ModelRequest): any {
  return JSON.parse(Buffer.concat(wireFor(request.model).encode(request)).toString());
}

const NEW = 'gemini-4-argon';
const OLD = 'gemini-2.5-flash';
const TOOLS: readonly ToolSchema[] = [{ name: 'ls', description: 'Lists.', input: { type: 'object' } }];
const PNG = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;
const PNG_PART = { inlineData: { mimeType: 'image/png', data: 'aWNv' } };
const PDF = { type: 'document', data: 'cGRm', mimeType: 'application/pdf' } as const;
const PDF_PART = { inlineData: { mimeType: 'application/pdf', data: 'cGRm' } };
const OWN = { api: 'google-generative-ai', provider: 'google', model: NEW } as const;

function result(
  id: string,
  content: Extract<Message, { role: 'toolResult' }>['content'],
  isError = false,
): Message {
  return { role: 'toolResult', toolCallId: id, toolName: 'read', content, isError, timestamp: 0 };
}

const HISTORY: readonly Message[] = [
  {
    role: 'user',
    content: [{ type: 'text', text: 'Look' }, PNG, { type: 'text', text: '' }, PDF],
    timestamp: 0,
  },
  assistant(
    [
      { type: 'thinking', thinking: 'Hmm' },
      { type: 'text', text: 'Well', textSignature: 'dGV4dA==' },
      { type: 'toolCall', id: 'a', name: 'read', arguments: { path: 'ü' }, thoughtSignature: 'Y2FsbA==' },
      { type: 'toolCall', id: 'b', name: 'read', arguments: {} },
    ],
    OWN,
  ),
  result('a', [PNG, { type: 'text', text: 'one' }]),
  result('b', [{ type: 'text', text: 'gone' }], true),
  user('Go on'),
  user('Now'),
];

test('a request with everything in it', () => {
  const request = modelRequest({
    model: NEW,
    system: 'Be good.',
    messages: HISTORY,
    tools: TOOLS,
    effort: 'high',
    toolChoice: 'ls',
    output: { name: 'x', schema: { type: 'object', properties: { not: { const: 1 } }, not: {} } },
    fast: true,
  });
  assert.deepEqual(bodyOf(request), {
    generationConfig: {
      maxOutputTokens: 1000,
      thinkingConfig: { includeThoughts: true, thinkingLevel: 'HIGH' },
      responseMimeType: 'application/json',
      responseJsonSchema: { type: 'object', properties: { not: { enum: [1] } } },
    },
    toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['ls'] } },
    serviceTier: 'priority',
    systemInstruction: { parts: [{ text: 'Be good.' }] },
    tools: [
      {
        functionDeclarations: [
          { name: 'ls', description: 'Lists.', parametersJsonSchema: { type: 'object' } },
        ],
      },
    ],
    contents: [
      { role: 'user', parts: [{ text: 'Look' }, PNG_PART, PDF_PART] },
      {
        role: 'model',
        parts: [
          { text: 'Well', thoughtSignature: 'dGV4dA==' },
          {
            functionCall: { id: 'a', name: 'read', args: { path: 'ü' } },
            thoughtSignature: 'Y2FsbA==',
          },
          { functionCall: { id: 'b', name: 'read', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'read', response: { output: 'one' }, parts: [PNG_PART] } },
          { functionResponse: { id: 'b', name: 'read', response: { error: 'gone' } } },
        ],
      },
      { role: 'user', parts: [{ text: 'Go on' }, { text: 'Now' }] },
    ],
  });
});

test('where a response cannot hold images they follow all of the responses', () => {
  const messages = [
    assistant([{ type: 'toolCall', id: 'a', name: 'read', arguments: {} }]),
    result('a', [PNG]),
    result('b', [{ type: 'text', text: 'one' }, PDF]),
  ];
  assert.deepEqual(bodyOf(modelRequest({ model: OLD, messages })).contents.slice(1), [
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'a', name: 'read', response: { output: 'What it returned follows.' } } },
        { functionResponse: { id: 'b', name: 'read', response: { output: 'one' } } },
      ],
    },
    { role: 'user', parts: [{ text: 'What the tools returned beside text:' }, PNG_PART, PDF_PART] },
  ]);
});

test('a plain request has nothing that was not asked for', () => {
  assert.deepEqual(bodyOf(modelRequest({ model: 'gemini-2.0-flash' })), {
    generationConfig: { maxOutputTokens: 1000 },
    contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
  });
});

test('signatures go back to the model that gave them, and a call without one says so', () => {
  const content = [
    { type: 'thinking', thinking: 'Hmm', thinkingSignature: 'dGhpbms=' },
    { type: 'thinking', thinking: '', thinkingSignature: 'bm9uZQ==' },
    { type: 'text', text: 'Well', textSignature: 'dGV4dA==' },
    { type: 'toolCall', id: 'a', name: 'read', arguments: {}, thoughtSignature: 'Y2FsbA==' },
    { type: 'toolCall', id: 'b', name: 'read', arguments: {} },
  ] as const;
  const parts = (fields: object, model = NEW) =>
    bodyOf(modelRequest({ model, messages: [assistant(content, fields)] })).contents[0].parts;
  const call = (id: string) => ({ functionCall: { id, name: 'read', args: {} } });
  assert.deepEqual(parts(OWN), [
    { text: 'Hmm', thought: true, thoughtSignature: 'dGhpbms=' },
    { text: '', thoughtSignature: 'bm9uZQ==' },
    { text: 'Well', thoughtSignature: 'dGV4dA==' },
    { ...call('a'), thoughtSignature: 'Y2FsbA==' },
    call('b'),
  ]);
  const foreign = [
    { text: 'Well' },
    { ...call('a'), thoughtSignature: 'skip_thought_signature_validator' },
    call('b'),
  ];
  assert.deepEqual(parts({ ...OWN, model: 'gemini-3.8-flash' }), foreign);
  assert.deepEqual(parts({ ...OWN, provider: 'other' }), foreign);
  assert.deepEqual(parts({ ...OWN, model: NEW }, OLD), [{ text: 'Well' }, call('a'), call('b')]);
});

test('answers in a row are one content, and what comes to nothing is left out', () => {
  const messages = [
    user('a'),
    assistant([{ type: 'text', text: 'b' }]),
    user(''),
    assistant([{ type: 'text', text: 'c' }]),
    assistant([{ type: 'thinking', thinking: 'd' }]),
  ];
  assert.deepEqual(bodyOf(modelRequest({ model: NEW, messages })).contents, [
    { role: 'user', parts: [{ text: 'a' }] },
    { role: 'model', parts: [{ text: 'b' }, { text: 'c' }] },
  ]);
});

for (const [model, effort, maxTokens, expected] of [
  ['gemini-4-argon', undefined, 1000, { includeThoughts: true }],
  ['gemini-4-argon', 'off', 1000, { includeThoughts: true, thinkingLevel: 'LOW' }],
  ['gemini-3.8-flash', 'max', 1000, { includeThoughts: true, thinkingLevel: 'HIGH' }],
  ['gemini-3.5-flash', 'off', 1000, { includeThoughts: true, thinkingLevel: 'MINIMAL' }],
  ['gemini-3.1-pro-preview', 'medium', 1000, { includeThoughts: true, thinkingLevel: 'MEDIUM' }],
  ['gemini-3-pro-preview', 'medium', 1000, { includeThoughts: true, thinkingLevel: 'HIGH' }],
  ['gemini-flash-latest', 'off', 1000, { includeThoughts: true, thinkingLevel: 'LOW' }],
  ['gemini-2.5-pro', 'off', 50_000, { includeThoughts: true, thinkingBudget: 128 }],
  ['gemini-2.5-pro', 'max', 50_000, { includeThoughts: true, thinkingBudget: 32_768 }],
  ['gemini-2.5-flash', 'off', 50_000, { thinkingBudget: 0 }],
  ['gemini-2.5-flash', 'max', 50_000, { includeThoughts: true, thinkingBudget: 24_576 }],
  ['gemini-2.5-flash', 'high', 5000, { includeThoughts: true, thinkingBudget: 3976 }],
  ['gemini-2.5-flash-lite', 'low', 1000, { includeThoughts: true, thinkingBudget: 512 }],
  ['gemini-2.0-flash', 'high', 1000, undefined],
] as const) {
  test(`${model} asked for effort ${effort} within ${maxTokens} tokens gets ${JSON.stringify(expected)}`, () => {
    const { generationConfig } = bodyOf(modelRequest({ model, maxTokens, ...(effort && { effort }) }));
    assert.deepEqual(generationConfig.thinkingConfig, expected);
  });
}

test('models that cannot have both tools and a shape for the answer do not offer the shape', () => {
  assert.deepEqual([wireFor(NEW).structured, wireFor(OLD).structured], [true, false]);
});
