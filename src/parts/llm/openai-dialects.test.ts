// The ways in which compatible servers answer, each decoded as the row of a provider that answers so.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelChunk, ToolSchema } from '../../core/model.ts';
import type { TokenCounts } from '../../core/usage.ts';
import { createOpenAiWire } from './openai-chat.ts';
import type { OpenAiDialect } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';
import { SseParser } from './sse.ts';
import { modelRequest, outcome, sse } from './testing.ts';
import { ComplaintError } from './wire.ts';

const LS: ToolSchema = { name: 'ls', description: 'Lists.', input: { type: 'object' } };

function decode(provider: string, model: string, ...events: readonly unknown[]): ModelChunk[] {
  const row = PROVIDERS.find(({ name }) => name === provider);
  assert.ok(row, provider);
  const wire = createOpenAiWire({
    provider,
    model,
    baseUrl: new URL(row.baseUrl),
    facts: {},
    dialect: row.dialect as OpenAiDialect,
    random: () => 0.5,
  });
  const decoder = wire.decoder(modelRequest({ model, tools: [LS] }));
  const out: ModelChunk[] = [];
  for (const event of new SseParser().push([Buffer.from(sse(...(events as object[]), '[DONE]'))]))
    if (decoder.progress !== 'done') decoder.decode(event, out);
  decoder.finish(out);
  return out;
}

function piece(delta: unknown, finish_reason: string | null = null, more: object = {}): object {
  return { id: 'c1', model: 'm1', choices: [{ index: 0, delta, finish_reason }], ...more };
}

const START: ModelChunk = { type: 'messageStart', id: 'c1', model: 'm1' };

function thought(index: number, delta: string): ModelChunk {
  return { type: 'thinkingDelta', index, delta };
}
function said(index: number, delta: string): ModelChunk {
  return { type: 'contentDelta', index, delta };
}
function stop(index: number): ModelChunk {
  return { type: 'contentBlockStop', index };
}
function end(tokens: Partial<TokenCounts> = {}, more: object = {}): ModelChunk {
  const all = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...tokens };
  return { type: 'end', stopReason: 'stop', tokens: all, ...more };
}

test('thinking in `reasoning_content`, and hits of a cache in DeepSeek’s words', () => {
  const usage = {
    prompt_tokens: 50,
    completion_tokens: 9,
    prompt_cache_hit_tokens: 40,
    prompt_cache_miss_tokens: 10,
  };
  assert.deepEqual(
    decode(
      'deepseek',
      'deepseek-v4-pro',
      piece({ reasoning_content: 'Hm.' }),
      piece({ content: 'Yes.' }, 'stop', { usage }),
    ),
    [
      START,
      thought(0, 'Hm.'),
      stop(0),
      said(1, 'Yes.'),
      stop(1),
      end({ input: 10, output: 9, cacheRead: 40 }),
    ],
  );
});

test('thinking in `reasoning`, and usage that Groq puts elsewhere', () => {
  const x_groq = { id: 'r', usage: { prompt_tokens: 7, completion_tokens: 3 } };
  assert.deepEqual(
    decode(
      'groq',
      'openai/gpt-oss-120b',
      piece({ reasoning: 'Hm.' }),
      piece({ content: 'Yes.' }),
      piece({}, 'stop', { x_groq }),
    ),
    [START, thought(0, 'Hm.'), stop(0), said(1, 'Yes.'), stop(1), end({ input: 7, output: 3 })],
  );
});

test('usage within the last choice, and a cache in Moonshot’s words', () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3, cached_tokens: 5 };
  const last = { id: 'c1', choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage }] };
  assert.deepEqual(decode('moonshot', 'kimi-k2.7-code', piece({ content: 'Yes.' }), last), [
    START,
    said(0, 'Yes.'),
    stop(0),
    end({ input: 2, output: 3, cacheRead: 5 }),
  ]);
});

test('usage of LiteLLM, with what was written to a cache, and its price', () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: 60, cache_creation_tokens: 30 },
    cache_creation_input_tokens: 30,
    cost: 0.01,
  };
  assert.deepEqual(
    decode('litellm', 'claude', piece({ content: 'Yes.' }, 'stop'), { id: 'c1', choices: [], usage }),
    [
      START,
      said(0, 'Yes.'),
      stop(0),
      end({ input: 10, output: 3, cacheRead: 60, cacheWrite: 30 }, { costUsd: 0.01 }),
    ],
  );
});

test('reasoning that is counted beside the answer, and ticks of a dollar', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 22,
    completion_tokens_details: { reasoning_tokens: 7 },
    cost_in_usd_ticks: 37_756_000,
  };
  assert.deepEqual(decode('xai', 'grok-4.7', piece({ content: 'Yes.' }, 'stop', { usage })), [
    START,
    said(0, 'Yes.'),
    stop(0),
    end({ input: 10, output: 12, reasoning: 7 }, { costUsd: 0.0037756 }),
  ]);
});

test('reasoning that is part of the answer is not counted twice', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 12,
    total_tokens: 22,
    completion_tokens_details: { reasoning_tokens: 7 },
  };
  assert.deepEqual(
    decode('fireworks', 'm', piece({ content: 'Yes.' }, 'stop', { usage })).at(-1),
    end({ input: 10, output: 12, reasoning: 7 }),
  );
});

test('usage with every piece, of which the last counts, and a price among several', () => {
  const usage = {
    prompt_tokens: 7,
    completion_tokens: 3,
    cost: { input_tokens_cost: 0.001, total_cost: 0.006 },
  };
  assert.deepEqual(
    decode(
      'perplexity',
      'sonar-pro',
      piece({ content: 'Y' }, null, { usage: { prompt_tokens: 7, completion_tokens: 1 } }),
      piece({ content: 'es.' }, 'stop', { usage }),
    ),
    [START, said(0, 'Y'), said(0, 'es.'), stop(0), end({ input: 7, output: 3 }, { costUsd: 0.006 })],
  );
});

test('details of reasoning come together as the signature of the thinking', () => {
  const text = (reasoning: string, more: object = {}) =>
    piece({
      reasoning,
      reasoning_details: [
        { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: reasoning, ...more },
      ],
    });
  const usage = {
    prompt_tokens: 7,
    completion_tokens: 3,
    prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 4 },
    cost: 0.25,
  };
  assert.deepEqual(
    decode(
      'openrouter',
      'anthropic/claude-sonnet-5',
      text('Hm'),
      text('.'),
      piece({ reasoning_details: [{ type: 'reasoning.text', index: 0, signature: 'sig' }] }),
      piece({ reasoning_details: [{ type: 'reasoning.encrypted', index: 1, data: 'x' }, null, 3] }),
      piece({ content: 'Yes.' }),
      piece({}, 'stop'),
      { id: 'c1', choices: [], usage },
    ),
    [
      START,
      thought(0, 'Hm'),
      thought(0, '.'),
      stop(0),
      said(1, 'Yes.'),
      stop(1),
      {
        type: 'thinkingSignature',
        index: 0,
        signature: JSON.stringify([
          { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1', text: 'Hm.', signature: 'sig' },
          { type: 'reasoning.encrypted', index: 1, data: 'x' },
        ]),
      },
      end({ input: 1, output: 3, cacheRead: 2, cacheWrite: 4 }, { costUsd: 0.25 }),
    ],
  );
});

test('details that nobody can read are a block of their own', () => {
  const detail = { type: 'reasoning.encrypted', index: 0, data: 'x' };
  assert.deepEqual(
    decode(
      'openrouter',
      'openai/gpt-5.5',
      piece({ content: 'Yes.' }),
      piece({ reasoning_details: [detail] }, 'stop'),
    ),
    [
      START,
      said(0, 'Yes.'),
      stop(0),
      { type: 'thinkingSignature', index: 1, signature: JSON.stringify([detail]), redacted: true },
      stop(1),
      end(),
    ],
  );
});

test('an account that pays the provider behind the gateway pays that, too', () => {
  const usage = {
    prompt_tokens: 1,
    completion_tokens: 1,
    cost: 0.25,
    is_byok: true,
    cost_details: { upstream_inference_cost: 5 },
  };
  assert.deepEqual(
    decode('openrouter', 'm', piece({ content: 'Yes.' }, 'stop', { usage })).at(-1),
    end({ input: 1, output: 1 }, { costUsd: 5.25 }),
  );
});

test('thinking and text as parts of the content', () => {
  assert.deepEqual(
    decode(
      'mistral',
      'magistral-medium-latest',
      piece({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }, null] }] }),
      piece({ content: [{ type: 'text', text: 'Y' }, null] }),
      piece({ content: 'es.' }, 'stop'),
    ),
    [START, thought(0, 'Hm.'), stop(0), said(1, 'Y'), said(1, 'es.'), stop(1), end()],
  );
});

test('thinking in tags', () => {
  assert.deepEqual(
    decode(
      'minimax',
      'MiniMax-M3',
      piece({ content: '<thi' }),
      piece({ content: 'nk>Hm.</think>' }),
      piece({ content: '\n\nYes.' }, 'stop'),
    ),
    [START, thought(0, 'Hm.'), stop(0), said(1, 'Yes.'), stop(1), end()],
  );
});

test('a call that a local model prints is a call', () => {
  assert.deepEqual(
    decode(
      'ollama',
      'qwen3',
      piece({ content: '<think>Hm.</think>I look. <tool_' }),
      piece({ content: 'call>{"name":"ls","arguments":{"path":"a"}}' }),
      piece({ content: '</tool_call>' }, 'stop'),
    ),
    [
      START,
      thought(0, 'Hm.'),
      stop(0),
      said(1, 'I look. '),
      stop(1),
      { type: 'toolUseStart', index: 2, id: 'call_iiiiiiiiiiiiiiii', name: 'ls' },
      { type: 'toolUseDelta', id: 'call_iiiiiiiiiiiiiiii', delta: '{"path":"a"}' },
      stop(2),
      { type: 'end', stopReason: 'toolUse', tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
    ],
  );
});

test('a call that is both printed and sent runs once', () => {
  const printed = '<tool_call>{"name":"ls","arguments":{}}</tool_call>';
  const sent = { tool_calls: [{ index: 0, id: 'a', function: { name: 'ls', arguments: '{}' } }] };
  const calls = decode(
    'llamacpp',
    'm',
    piece({ content: printed }),
    piece(sent),
    piece({}, 'tool_calls'),
  ).filter(({ type }) => type === 'toolUseStart');
  assert.deepEqual(calls, [{ type: 'toolUseStart', index: 0, id: 'a', name: 'ls' }]);
});

test('what a hosted model prints is text', () => {
  const printed = '<tool_call>{"name":"ls","arguments":{}}</tool_call>';
  assert.deepEqual(decode('openrouter', 'm', piece({ content: printed }, 'stop')), [
    START,
    said(0, printed),
    stop(0),
    end(),
  ]);
});

for (const [provider, reason, expected] of [
  ['mistral', 'model_length', 'length'],
  ['litellm', 'max_tokens', 'length'],
  ['zai', 'something_new', 'stop'],
] as const) {
  test(`${provider}: finish reason ${reason} means ${expected}`, () => {
    const last = decode(provider, 'm', piece({ content: 'x' }), piece({}, reason)).at(-1);
    assert.equal(last?.type === 'end' && last.stopReason, expected);
  });
}

test('what an answer was refused for in Z.ai’s words', () => {
  assert.deepEqual(outcome(decode('zai', 'glm-5.2', piece({}, 'sensitive')).at(-1)), {
    code: 'content-refused',
    message: 'The model refused to answer.',
    retryable: false,
  });
});

for (const [provider, reason, code] of [
  ['openrouter', 'error', 'provider-failed'],
  ['deepseek', 'insufficient_system_resource', 'provider-overloaded'],
  ['zai', 'network_error', 'provider-failed'],
  ['zai', 'model_context_window_exceeded', 'context-overflow'],
] as const) {
  test(`${provider}: finish reason ${reason} is a complaint: ${code}`, () => {
    assert.throws(
      () => decode(provider, 'm', piece({ content: 'x' }), piece({}, reason)),
      (thrown) => thrown instanceof ComplaintError && thrown.complaint.code === code,
    );
  });
}
