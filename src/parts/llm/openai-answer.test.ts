import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelChunk, ToolSchema } from '../../core/model.ts';
import { createCallIds } from './call-ids.ts';
import { OpenAiDecoder } from './openai-answer.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';
import { SseParser } from './sse.ts';
import { outcome, sse } from './testing.ts';
import { ComplaintError } from './wire.ts';

function piece(delta: unknown, finish_reason: string | null = null): object {
  return { id: 'c1', model: 'm1', choices: [{ index: 0, delta, finish_reason }] };
}

function call(
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: unknown,
): object {
  return piece({ tool_calls: [{ index, id, function: { name, arguments: args } }] });
}

const USAGE = {
  id: 'c1',
  choices: [],
  usage: { prompt_tokens: 50, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 40 } },
};
const TOKENS = { input: 10, output: 9, cacheRead: 40, cacheWrite: 0 };

const RECORDED = sse(
  piece({ role: 'assistant', content: '' }),
  piece({ reasoning_content: 'Hmm' }),
  piece({ content: 'Look 🦀' }),
  call(0, 'call_a', 'read', ''),
  call(0, undefined, undefined, '{"path":'),
  call(0, undefined, undefined, '"ü"}'),
  call(1, 'call_b', 'ls', ''),
  call(1, undefined, undefined, '{}'),
  piece({}, 'tool_calls'),
  USAGE,
  '[DONE]',
);

const RECORDED_CHUNKS: ModelChunk[] = [
  { type: 'messageStart', id: 'c1', model: 'm1' },
  { type: 'thinkingDelta', index: 0, delta: 'Hmm' },
  { type: 'contentBlockStop', index: 0 },
  { type: 'contentDelta', index: 1, delta: 'Look 🦀' },
  { type: 'contentBlockStop', index: 1 },
  { type: 'toolUseStart', index: 2, id: 'call_a', name: 'read' },
  { type: 'toolUseDelta', id: 'call_a', delta: '{"path":' },
  { type: 'toolUseDelta', id: 'call_a', delta: '"ü"}' },
  { type: 'contentBlockStop', index: 2 },
  { type: 'toolUseStart', index: 3, id: 'call_b', name: 'ls' },
  { type: 'toolUseDelta', id: 'call_b', delta: '{}' },
  { type: 'contentBlockStop', index: 3 },
  { type: 'end', stopReason: 'toolUse', tokens: TOKENS },
];

/** What the bytes mean; the body ends after the last read. */
function decode(
  reads: readonly (Buffer | string)[],
  quirks: OpenAiQuirks = {},
  tools: readonly ToolSchema[] = [],
): ModelChunk[] {
  const decoder = new OpenAiDecoder({ callId: createCallIds(() => 0.5)([]), quirks, tools });
  const parser = new SseParser();
  const out: ModelChunk[] = [];
  for (const read of reads) {
    for (const event of parser.push([Buffer.from(read)])) {
      if (decoder.progress !== 'done') decoder.decode(event, out);
    }
  }
  if (decoder.progress !== 'open') decoder.finish(out);
  return out;
}

/** The chunks between the start and the end of an answer. */
function body(...events: readonly object[]): ModelChunk[] {
  return decode([sse(...events, '[DONE]')]).slice(1, -1);
}

test('a whole answer with thinking, text and calls', () => {
  assert.deepEqual(decode([RECORDED]), RECORDED_CHUNKS);
});

test('the same bytes cut anywhere give the same chunks', () => {
  const bytes = Buffer.from(RECORDED);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(decode([bytes.subarray(0, cut), bytes.subarray(cut)]), RECORDED_CHUNKS, `cut at ${cut}`);
  }
});

test('an answer that breaks off before its finish reason has no end, and no call that was not whole', () => {
  const bytes = Buffer.from(RECORDED);
  const finished = Buffer.byteLength(RECORDED.slice(0, RECORDED.indexOf('"finish_reason":"tool_calls"')));
  const secondCall = Buffer.byteLength(RECORDED.slice(0, RECORDED.indexOf('call_b')));
  for (let length = 0; length < finished; length++) {
    const got = decode([bytes.subarray(0, length)]);
    assert.deepEqual(got, RECORDED_CHUNKS.slice(0, got.length), `first ${length} bytes`);
    const stopped = got.flatMap((chunk) => (chunk.type === 'contentBlockStop' ? [chunk.index] : []));
    assert.ok(!stopped.includes(3) && (length > secondCall || !stopped.includes(2)), `after ${length} bytes`);
  }
});

test('an answer may end with its finish reason, without usage and without [DONE]', () => {
  assert.deepEqual(decode([sse(piece({ content: 'Hi' }, 'stop'))]), [
    { type: 'messageStart', id: 'c1', model: 'm1' },
    { type: 'contentDelta', index: 0, delta: 'Hi' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'end', stopReason: 'stop', tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
  ]);
});

test('calls whose pieces are interleaved end with the answer', () => {
  const got = body(
    call(0, 'a', 'read', ''),
    call(1, 'b', 'ls', '{"x'),
    call(0, undefined, undefined, '{"p":'),
    call(1, undefined, undefined, '":1}'),
    call(0, undefined, undefined, '2}'),
    piece({}, 'tool_calls'),
  );
  assert.deepEqual(got, [
    { type: 'toolUseStart', index: 0, id: 'a', name: 'read' },
    { type: 'toolUseStart', index: 1, id: 'b', name: 'ls' },
    { type: 'toolUseDelta', id: 'b', delta: '{"x' },
    { type: 'toolUseDelta', id: 'a', delta: '{"p":' },
    { type: 'toolUseDelta', id: 'b', delta: '":1}' },
    { type: 'toolUseDelta', id: 'a', delta: '2}' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'contentBlockStop', index: 1 },
  ]);
});

test('a call that ended takes no more input', () => {
  const got = body(
    call(0, 'a', 'x', '{}'),
    call(1, 'b', 'y', '{}'),
    call(0, undefined, undefined, '{"late":1}'),
  );
  assert.deepEqual(
    got.flatMap((chunk) => (chunk.type === 'toolUseDelta' ? [chunk] : [])),
    [
      { type: 'toolUseDelta', id: 'a', delta: '{}' },
      { type: 'toolUseDelta', id: 'b', delta: '{}' },
    ],
  );
});

for (const [name, events, expected] of [
  [
    'several whole calls in one piece',
    [
      piece({
        tool_calls: [
          { index: 0, id: 'a', function: { name: 'x', arguments: '{}' } },
          { index: 1, id: 'b', function: { name: 'y', arguments: '{"z":1}' } },
        ],
      }),
    ],
    [
      ['a', 'x', '{}'],
      ['b', 'y', '{"z":1}'],
    ],
  ],
  [
    'whole calls that all have index 0',
    [call(0, 'a', 'x', '{}'), call(0, 'b', 'y', '{}')],
    [
      ['a', 'x', '{}'],
      ['b', 'y', '{}'],
    ],
  ],
  [
    'calls without an index',
    [
      call(undefined, 'a', 'x', '{'),
      call(undefined, undefined, undefined, '}'),
      call(undefined, 'b', 'y', '{}'),
    ],
    [
      ['a', 'x', '{}'],
      ['b', 'y', '{}'],
    ],
  ],
  [
    'an id that is repeated with every piece',
    [call(0, 'a', 'x', '{'), call(0, 'a', 'x', '}')],
    [['a', 'x', '{}']],
  ],
  [
    'a missing id, and an id that another call has',
    [call(0, undefined, 'x', '{}'), call(1, 'a', 'y', '{}'), call(2, 'a', 'z', '{}')],
    [
      ['call_iiiiiiiiiiiiiiii', 'x', '{}'],
      ['a', 'y', '{}'],
      ['a-2', 'z', '{}'],
    ],
  ],
  ['arguments as an object', [call(0, 'a', 'x', { p: 1 })], [['a', 'x', '{"p":1}']]],
  ['no arguments at all', [call(0, 'a', 'x', null)], [['a', 'x', '']]],
] as const) {
  test(`calls: ${name}`, () => {
    const got = body(...events, piece({}, 'tool_calls'));
    const calls = got.flatMap((chunk) => (chunk.type === 'toolUseStart' ? [chunk] : []));
    const seen = calls.map(({ id, name: tool }) => [
      id,
      tool,
      got.map((chunk) => (chunk.type === 'toolUseDelta' && chunk.id === id ? chunk.delta : '')).join(''),
    ]);
    assert.deepEqual(seen, expected);
    const stops = got.flatMap((chunk) => (chunk.type === 'contentBlockStop' ? [chunk.index] : []));
    assert.deepEqual(
      stops,
      calls.map(({ index }) => index),
    );
  });
}

for (const [reason, calls, expected] of [
  ['stop', false, 'stop'],
  ['stop', true, 'toolUse'],
  ['length', true, 'length'],
  ['tool_calls', true, 'toolUse'],
  ['tool_calls', false, 'stop'],
  ['brand_new', false, 'stop'],
  ['brand_new', true, 'toolUse'],
] as const) {
  test(`finish reason ${reason} ${calls ? 'with' : 'without'} calls means ${expected}`, () => {
    const before = calls ? [call(0, 'a', 'x', '{}')] : [];
    const last = decode([sse(...before, piece({}, reason))]).at(-1);
    assert.equal(last?.type === 'end' && last.stopReason, expected);
  });
}

test('a content filter and a refusal in words are failures', () => {
  const filtered = decode([sse(piece({ content: 'I ' }), piece({}, 'content_filter'), USAGE, '[DONE]')]).at(
    -1,
  );
  assert.deepEqual(outcome(filtered), {
    code: 'content-refused',
    message: 'The model refused to answer.',
    retryable: false,
  });
  assert.deepEqual(filtered?.type === 'failure' && filtered.tokens, TOKENS);
  const refusal = decode([sse(piece({ refusal: 'I can' }), piece({ refusal: 'not.' }, 'stop'))]).at(-1);
  assert.deepEqual(outcome(refusal), {
    code: 'content-refused',
    message: 'The model refused to answer: I cannot.',
    retryable: false,
  });
});

test('text after a call is a block of its own', () => {
  assert.deepEqual(body(piece({ content: 'a' }), call(0, 'a', 'x', '{}'), piece({ content: 'b' }, 'stop')), [
    { type: 'contentDelta', index: 0, delta: 'a' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'toolUseStart', index: 1, id: 'a', name: 'x' },
    { type: 'toolUseDelta', id: 'a', delta: '{}' },
    { type: 'contentDelta', index: 2, delta: 'b' },
    { type: 'contentBlockStop', index: 2 },
    { type: 'contentBlockStop', index: 1 },
  ]);
});

test('null fields are tolerated', () => {
  const nulls = [
    { id: null, model: null, choices: null, usage: null },
    { choices: [null] },
    { choices: [{ delta: null, finish_reason: null }] },
    piece({ content: null, reasoning: null, tool_calls: null, refusal: null }),
    piece({ tool_calls: [null, { index: 0, id: null, function: null }] }),
    { usage: { prompt_tokens: null, prompt_tokens_details: null } },
  ];
  assert.deepEqual(decode([sse(...nulls, 'null', '3', '[DONE]')]), [
    { type: 'messageStart', id: '', model: '' },
    { type: 'toolUseStart', index: 0, id: 'call_iiiiiiiiiiiiiiii', name: '' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'end', stopReason: 'toolUse', tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
  ]);
});

test('an error inside the stream is thrown with what its code means', () => {
  const error = { error: { message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' } };
  assert.throws(
    () => decode([sse(piece({ content: 'a' }), error)]),
    (thrown) => {
      assert.ok(thrown instanceof ComplaintError);
      assert.deepEqual(thrown.complaint, {
        message: 'Slow down',
        type: 'rate_limit_exceeded',
        code: 'rate-limited',
      });
      return true;
    },
  );
});
