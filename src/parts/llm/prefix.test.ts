import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Message } from '../../core/message.ts';
import { createAnthropicWire } from './anthropic.ts';
import { createGeminiWire } from './gemini.ts';
import { createOpenAiWire } from './openai-chat.ts';
import { createResponsesWire } from './openai-responses.ts';
import { createPrefix } from './prefix.ts';
import { PROVIDERS } from './providers.ts';
import { assistant, modelRequest, user } from './testing.ts';
import type { Wire } from './wire.ts';

test('only what is new is encoded, and everything again for another history', () => {
  const prefix = createPrefix();
  const messages = ['a', 'b', 'c', 'd'].map(user);
  const asked: string[] = [];
  const encode = (from: number, to: number) => {
    asked.push(`${from}-${to}`);
    return messages.slice(from, to).map((message) => Buffer.from(String(message.content)));
  };
  const upTo = (of: readonly Message[], count: number) =>
    Buffer.concat(prefix.upTo(of, count, encode)).toString();
  assert.deepEqual([upTo(messages, 2), upTo(messages, 2), upTo(messages, 4)], ['ab', 'ab', 'abcd']);
  assert.deepEqual([upTo([...messages], 3), upTo(messages, 1)], ['abc', 'a']);
  assert.deepEqual(asked, ['0-2', '2-4', '0-3', '0-1']);
});

test('a long history is sent from the same pieces, turn after turn', () => {
  const prefix = createPrefix();
  const messages = Array.from({ length: 500 }, () => user('x'.repeat(1000)));
  const encode = (from: number, to: number) =>
    messages.slice(from, to).map((message) => Buffer.from(String(message.content)));
  const before = prefix.upTo(messages, 499, encode);
  const after = prefix.upTo(messages, 500, encode);
  assert.deepEqual(after.filter((piece) => !before.includes(piece)).length, 1);
});

const row = (name: string) => {
  const found = PROVIDERS.find((each) => each.name === name);
  assert.ok(found);
  return found;
};

const WIRES: Readonly<Record<string, () => Wire>> = {
  anthropic: () => {
    const { dialect } = row('anthropic');
    assert.ok(dialect.wire === 'anthropic-messages');
    return createAnthropicWire({
      provider: 'anthropic',
      model: 'm',
      facts: {},
      dialect,
      random: Math.random,
    });
  },
  openai: () => {
    const dialect = row('openai').moved;
    assert.ok(dialect?.wire === 'openai-completions');
    const baseUrl = new URL('http://localhost/v1');
    return createOpenAiWire({
      provider: 'openai',
      model: 'm',
      baseUrl,
      facts: {},
      dialect,
      random: Math.random,
    });
  },
  responses: () => {
    const { dialect } = row('openai');
    assert.ok(dialect.wire === 'openai-responses');
    return createResponsesWire({
      provider: 'openai',
      model: 'm',
      facts: {},
      dialect,
      random: Math.random,
    });
  },
  gemini: () => geminiWire('gemini-3.5-flash'),
  'older gemini': () => geminiWire('gemini-2.5-flash'),
};

function geminiWire(model: string): Wire {
  const { dialect } = row('google');
  assert.ok(dialect.wire === 'google-generative-ai');
  return createGeminiWire({ provider: 'google', model, facts: {}, dialect, random: Math.random });
}

const PNG = { type: 'image', data: 'aWNv', mimeType: 'image/png' } as const;

/** What a conversation may add at once: prompts, answers that say nothing, calls with their results and images. */
function growth(step: number): readonly Message[] {
  const id = `call_${step}`;
  const call = { type: 'toolCall', id, name: 'read', arguments: { step } } as const;
  const result = (content: Extract<Message, { role: 'toolResult' }>['content']): Message => ({
    ...{ role: 'toolResult', toolCallId: id, toolName: 'read', content, isError: false, timestamp: 0 },
  });
  const text = { type: 'text', text: `text ${step}` } as const;
  const kinds: readonly (readonly Message[])[] = [
    [user(`prompt ${step}`)],
    [assistant([text])],
    [assistant([{ type: 'thinking', thinking: 'hm' }])],
    [assistant([text, call]), result([text])],
    [assistant([call]), result([PNG, text])],
    [assistant([call]), result([])],
  ];
  return kinds[(step * 7 + (step >> 2)) % kinds.length] ?? [];
}

for (const [name, create] of Object.entries(WIRES))
  test(`${name}: a wire that has seen a conversation grow says the same as one that sees it for the first time`, () => {
    const knowing = create();
    const messages: Message[] = [user('begin')];
    for (let step = 0; step < 120; step++) {
      messages.push(...growth(step));
      // As a view does it: the newest prompt may still become another.
      if (step % 11 === 0 && messages.at(-1)?.role === 'user')
        messages[messages.length - 1] = user(`joined ${step}`);
      const system = step % 2 === 0 ? 'S' : '';
      const request = modelRequest({ messages, system });
      const fresh = Buffer.concat(create().encode(request)).toString();
      assert.equal(Buffer.concat(knowing.encode(request)).toString(), fresh);
      JSON.parse(fresh);
    }
  });
