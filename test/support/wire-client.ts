// A client of each wire, as small as it can be: keeps a conversation the way the provider's documentation
// says, so that tests of the fake provider need nothing of Crab's own.

import assert from 'node:assert/strict';
import type { WireName } from '../../src/dev/wire.ts';
import { type Heard, readAnthropic, readAnthropicUnpinged, readOpenai } from './strict-sse.ts';
import { readBedrock, readGemini, readResponses } from './strict-streams.ts';

type Json = Record<string, unknown>;

interface Dialect {
  path(model: string): string;
  body(messages: readonly Json[], model: string): Json;
  read(stream: Uint8Array): Heard;
  answered(heard: Heard): readonly Json[];
  results(heard: Heard, run: (name: string, input: Json) => string): readonly Json[];
}

const text = (stream: Uint8Array) => new TextDecoder().decode(stream);

const ANTHROPIC: Dialect = {
  path: () => '/v1/messages',
  body: (messages, model) => ({ model, max_tokens: 1000, stream: true, messages }),
  read: (stream) => readAnthropic(text(stream)),
  answered: ({ thinking, signature, text, calls }) => [
    {
      role: 'assistant',
      content: [
        ...(thinking ? [{ type: 'thinking', thinking, signature }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map(({ id, name, json }) => ({ type: 'tool_use', id, name, input: JSON.parse(json) })),
      ],
    },
  ],
  results: ({ calls }, run) => [
    {
      role: 'user',
      content: calls.map(({ id, name, json }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: run(name, JSON.parse(json)),
      })),
    },
  ],
};

const DIALECTS: Record<WireName, Dialect> = {
  anthropic: ANTHROPIC,
  openai: {
    path: () => '/v1/chat/completions',
    body: (messages, model) => ({ model, stream: true, stream_options: { include_usage: true }, messages }),
    read: (stream) => readOpenai(text(stream)),
    answered: ({ text, calls }) => [
      {
        role: 'assistant',
        content: text || null,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, name, json }) => ({
            id,
            type: 'function',
            function: { name, arguments: json },
          })),
        }),
      },
    ],
    results: ({ calls }, run) =>
      calls.map(({ id, name, json }) => ({
        role: 'tool',
        tool_call_id: id,
        content: run(name, JSON.parse(json)),
      })),
  },
  responses: {
    path: () => '/v1/responses',
    body: (input, model) => ({
      model,
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      input,
    }),
    read: (stream) => readResponses(text(stream)),
    answered: ({ thinking, signature, text, calls }) => [
      ...(thinking
        ? [
            {
              type: 'reasoning',
              id: 'rs_1',
              summary: [{ type: 'summary_text', text: thinking }],
              encrypted_content: signature,
            },
          ]
        : []),
      ...(text ? [{ role: 'assistant', content: [{ type: 'output_text', text }] }] : []),
      ...calls.map(({ id, name, json }) => ({ type: 'function_call', call_id: id, name, arguments: json })),
    ],
    results: ({ calls }, run) =>
      calls.map(({ id, name, json }) => ({
        type: 'function_call_output',
        call_id: id,
        output: run(name, JSON.parse(json)),
      })),
  },
  gemini: {
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: (messages) => ({ contents: messages.map(asContent) }),
    read: (stream) => readGemini(text(stream)),
    answered: ({ text, calls, signature }) => [
      {
        role: 'model',
        parts: [
          ...(text ? [{ text }] : []),
          ...calls.map(({ id, name, json }, index) => ({
            functionCall: { id, name, args: JSON.parse(json) },
            ...(index === 0 && signature && { thoughtSignature: signature }),
          })),
        ],
      },
    ],
    results: ({ calls }, run) => [
      {
        role: 'user',
        parts: calls.map(({ id, name, json }) => ({
          functionResponse: { id, name, response: { output: run(name, JSON.parse(json)) } },
        })),
      },
    ],
  },
  bedrock: {
    ...ANTHROPIC,
    path: (model) => `/model/${model}/invoke-with-response-stream`,
    body: (messages) => ({ anthropic_version: 'bedrock-2023-05-31', max_tokens: 1000, messages }),
    read: readBedrock,
  },
  vertex: {
    ...ANTHROPIC,
    path: (model) => `/v1/projects/p/locations/global/publishers/anthropic/models/${model}:streamRawPredict`,
    body: (messages) => ({
      anthropic_version: 'vertex-2023-10-16',
      max_tokens: 1000,
      stream: true,
      messages,
    }),
    read: (stream) => readAnthropicUnpinged(text(stream)),
  },
};

/** What tests write for every wire, `{ role, content }`, as Gemini wants it. */
function asContent(message: Json): Json {
  const { role, content } = message;
  if (content === undefined) return message;
  return { role: role === 'assistant' ? 'model' : role, parts: [{ text: content }] };
}

/** With a history that Gemini demands signatures in. */
const MODELS: Partial<Record<WireName, string>> = { gemini: 'gemini-3-pro' };

export function modelOf(wire: WireName): string {
  return MODELS[wire] ?? 'some-model';
}

const CONTENT_TYPES: Partial<Record<WireName, string>> = { bedrock: 'application/vnd.amazon.eventstream' };

export const WIRE_NAMES = Object.keys(DIALECTS) as readonly WireName[];

/** Sends one request with these messages; `fields` are added to the body. */
export function post(
  url: string,
  wire: WireName,
  messages: readonly Json[],
  fields: Json = {},
): Promise<Response> {
  const dialect = DIALECTS[wire];
  const model = modelOf(wire);
  const body = JSON.stringify({ ...dialect.body(messages, model), ...fields });
  return fetch(url + dialect.path(model), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
}

/** Sends one request and reads the answer, which must be a whole stream. */
export async function ask(
  url: string,
  wire: WireName,
  messages: readonly Json[],
  fields: Json = {},
): Promise<Heard> {
  const response = await post(url, wire, messages, fields);
  const bytes = new Uint8Array(await response.arrayBuffer());
  assert.equal(response.status, 200, text(bytes));
  assert.equal(response.headers.get('content-type'), CONTENT_TYPES[wire] ?? 'text/event-stream');
  return DIALECTS[wire].read(bytes);
}

/** Talks until the model calls no more tools. Returns every answer. */
export async function converse(
  url: string,
  wire: WireName,
  prompt: string,
  run: (name: string, input: Json) => string = () => 'ok',
): Promise<readonly Heard[]> {
  const { answered, results } = DIALECTS[wire];
  const messages: Json[] = [{ role: 'user', content: prompt }];
  const answers: Heard[] = [];
  for (;;) {
    const heard = await ask(url, wire, messages);
    answers.push(heard);
    if (heard.calls.length === 0) return answers;
    messages.push(...answered(heard), ...results(heard, run));
  }
}
