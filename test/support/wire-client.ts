// A client of each wire, as small as it can be: keeps a conversation the way the provider's documentation
// says, so that tests of the fake provider need nothing of Crab's own.

import assert from 'node:assert/strict';
import type { WireName } from '../../src/dev/wire.ts';
import { type Heard, readAnthropic, readOpenai } from './strict-sse.ts';

type Json = Record<string, unknown>;

interface Dialect {
  readonly path: string;
  readonly request: Json;
  read(stream: string): Heard;
  answered(heard: Heard): Json;
  results(heard: Heard, run: (name: string, input: Json) => string): readonly Json[];
}

const DIALECTS: Record<WireName, Dialect> = {
  anthropic: {
    path: '/v1/messages',
    request: { model: 'some-model', max_tokens: 1000, stream: true },
    read: readAnthropic,
    answered: ({ thinking, signature, text, calls }) => ({
      role: 'assistant',
      content: [
        ...(thinking ? [{ type: 'thinking', thinking, signature }] : []),
        ...(text ? [{ type: 'text', text }] : []),
        ...calls.map(({ id, name, json }) => ({ type: 'tool_use', id, name, input: JSON.parse(json) })),
      ],
    }),
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
  },
  openai: {
    path: '/v1/chat/completions',
    request: { model: 'some-model', stream: true, stream_options: { include_usage: true } },
    read: readOpenai,
    answered: ({ text, calls }) => ({
      role: 'assistant',
      content: text || null,
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, json }) => ({
          id,
          type: 'function',
          function: { name, arguments: json },
        })),
      }),
    }),
    results: ({ calls }, run) =>
      calls.map(({ id, name, json }) => ({
        role: 'tool',
        tool_call_id: id,
        content: run(name, JSON.parse(json)),
      })),
  },
};

export const WIRE_NAMES = Object.keys(DIALECTS) as readonly WireName[];

/** Sends one request with these messages; `fields` are added to the body. */
export function post(
  url: string,
  wire: WireName,
  messages: readonly Json[],
  fields: Json = {},
): Promise<Response> {
  const { path, request } = DIALECTS[wire];
  const body = JSON.stringify({ ...request, ...fields, messages });
  return fetch(url + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
}

/** Sends one request and reads the answer, which must be a whole stream. */
export async function ask(
  url: string,
  wire: WireName,
  messages: readonly Json[],
  fields: Json = {},
): Promise<Heard> {
  const response = await post(url, wire, messages, fields);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  return DIALECTS[wire].read(text);
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
    messages.push(answered(heard), ...results(heard, run));
  }
}
