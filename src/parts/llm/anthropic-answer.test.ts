import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelChunk } from '../../core/model.ts';
import { AnthropicDecoder } from './anthropic-answer.ts';
import { createCallIds } from './call-ids.ts';
import { SseParser } from './sse.ts';
import { assistant, outcome, sse } from './testing.ts';
import { ComplaintError } from './wire.ts';

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'claude-x',
    usage: {
      input_tokens: 7,
      cache_creation_input_tokens: 2,
      cache_read_input_tokens: 100,
      output_tokens: 1,
    },
  },
};
const STOP = { type: 'message_stop' };

function start(index: number, content_block: object): object {
  return { type: 'content_block_start', index, content_block };
}

function delta(index: number, body: object): object {
  return { type: 'content_block_delta', index, delta: body };
}

function stop(index: number): object {
  return { type: 'content_block_stop', index };
}

function ending(stop_reason: string | null): object {
  return { type: 'message_delta', delta: { stop_reason }, usage: { output_tokens: 42 } };
}

const RECORDED = sse(
  START,
  { type: 'ping' },
  start(0, { type: 'thinking', thinking: '', signature: '' }),
  delta(0, { type: 'thinking_delta', thinking: 'Hmm, ü' }),
  delta(0, { type: 'signature_delta', signature: 'sig' }),
  stop(0),
  start(1, { type: 'redacted_thinking', data: 'opaque' }),
  stop(1),
  start(2, { type: 'text', text: '' }),
  delta(2, { type: 'text_delta', text: 'Look 🦀' }),
  stop(2),
  start(3, { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} }),
  delta(3, { type: 'input_json_delta', partial_json: '' }),
  delta(3, { type: 'input_json_delta', partial_json: '{"path":' }),
  delta(3, { type: 'input_json_delta', partial_json: '"a"}' }),
  stop(3),
  start(4, { type: 'tool_use', id: 'toolu_2', name: 'ls', input: {} }),
  stop(4),
  ending('tool_use'),
  STOP,
);

const RECORDED_CHUNKS: ModelChunk[] = [
  { type: 'messageStart', id: 'msg_1', model: 'claude-x' },
  { type: 'thinkingDelta', index: 0, delta: 'Hmm, ü' },
  { type: 'thinkingSignature', index: 0, signature: 'sig' },
  { type: 'contentBlockStop', index: 0 },
  { type: 'thinkingSignature', index: 1, signature: 'opaque', redacted: true },
  { type: 'contentBlockStop', index: 1 },
  { type: 'contentDelta', index: 2, delta: 'Look 🦀' },
  { type: 'contentBlockStop', index: 2 },
  { type: 'toolUseStart', index: 3, id: 'toolu_1', name: 'read' },
  { type: 'toolUseDelta', id: 'toolu_1', delta: '{"path":' },
  { type: 'toolUseDelta', id: 'toolu_1', delta: '"a"}' },
  { type: 'contentBlockStop', index: 3 },
  { type: 'toolUseStart', index: 4, id: 'toolu_2', name: 'ls' },
  { type: 'contentBlockStop', index: 4 },
  { type: 'end', stopReason: 'toolUse', tokens: { input: 7, output: 42, cacheRead: 100, cacheWrite: 2 } },
];

/** What the bytes mean; an answer that is not done does not end. */
function decode(reads: readonly (Buffer | string)[], taken: readonly string[] = []): ModelChunk[] {
  const earlier = taken.map((id) => ({ type: 'toolCall', id, name: 'x', arguments: {} }) as const);
  const decoder = new AnthropicDecoder(createCallIds(() => 0.5)([assistant(earlier)]));
  const parser = new SseParser();
  const out: ModelChunk[] = [];
  for (const read of reads) {
    for (const event of parser.push([Buffer.from(read)])) {
      if (decoder.progress === 'done') break;
      decoder.decode(event, out);
    }
  }
  if (decoder.progress === 'done') decoder.finish(out);
  return out;
}

function body(...events: readonly object[]): ModelChunk[] {
  return decode([sse(START, ...events, ending('end_turn'), STOP)]).slice(1, -1);
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

/** Cuts the recording after every byte: there is no end, and a call is stopped only once its stop was read. */
function neverEndsEarly(decodeReads: typeof decode): void {
  const bytes = Buffer.from(RECORDED);
  const wholeCalls = [stop(3), stop(4)].map((event) => {
    const text = sse(event);
    return Buffer.byteLength(RECORDED.slice(0, RECORDED.indexOf(text) + text.length));
  });
  for (let length = 0; length < bytes.length; length++) {
    const got = decodeReads([bytes.subarray(0, length)]);
    assert.deepEqual(got, RECORDED_CHUNKS.slice(0, got.length), `first ${length} bytes`);
    assert.notEqual(got.at(-1)?.type, 'end');
    for (const [call, whole] of wholeCalls.entries()) {
      const stopped = got.some((chunk) => chunk.type === 'contentBlockStop' && chunk.index === call + 3);
      assert.equal(stopped, length >= whole, `call ${call} after ${length} bytes`);
    }
  }
}

test('an answer that breaks off has no end, and no call that was not whole', () => {
  neverEndsEarly(decode);
});

test('the campaign catches a decoder that ends calls or answers by itself', () => {
  const last = RECORDED_CHUNKS.slice(-1);
  assert.throws(() => neverEndsEarly((reads) => [...decode(reads), ...last]));
  const eager: typeof decode = (reads) => {
    const got = decode(reads);
    const next = RECORDED_CHUNKS[got.length];
    return got.at(-1)?.type === 'toolUseDelta' && next ? [...got, next] : got;
  };
  assert.throws(() => neverEndsEarly(eager));
});

for (const [reason, calls, expected] of [
  ['end_turn', false, 'stop'],
  ['stop_sequence', false, 'stop'],
  ['pause_turn', false, 'stop'],
  ['max_tokens', false, 'length'],
  ['max_tokens', true, 'length'],
  ['model_context_window_exceeded', false, 'length'],
  ['tool_use', true, 'toolUse'],
  ['tool_use', false, 'stop'],
  ['brand_new', false, 'stop'],
  ['brand_new', true, 'toolUse'],
  [null, false, 'stop'],
] as const) {
  test(`stop reason ${reason} ${calls ? 'with' : 'without'} calls means ${expected}`, () => {
    const call = calls ? [start(0, { type: 'tool_use', id: 'a', name: 'b', input: {} }), stop(0)] : [];
    const last = decode([sse(START, ...call, ending(reason), STOP)]).at(-1);
    assert.equal(last?.type === 'end' && last.stopReason, expected);
  });
}

test('a refusal is a failure that still counts its tokens', () => {
  const last = decode([sse(START, ending('refusal'), STOP)]).at(-1);
  assert.deepEqual(outcome(last), {
    code: 'content-refused',
    message: 'The model refused to answer.',
    retryable: false,
  });
  assert.deepEqual(last?.type === 'failure' && last.tokens, {
    input: 7,
    output: 42,
    cacheRead: 100,
    cacheWrite: 2,
  });
});

test('blocks of unknown kinds leave no gap in the numbering', () => {
  const got = body(
    start(0, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
    delta(0, { type: 'input_json_delta', partial_json: '{}' }),
    stop(0),
    start(1, { type: 'text', text: 'from the start' }),
    stop(1),
  );
  assert.deepEqual(got, [
    { type: 'contentDelta', index: 0, delta: 'from the start' },
    { type: 'contentBlockStop', index: 0 },
  ]);
});

test('a repeated index begins a new block, and a delta without a block opens one', () => {
  const got = body(
    delta(5, { type: 'text_delta', text: 'a' }),
    start(5, { type: 'text', text: '' }),
    delta(5, { type: 'text_delta', text: 'b' }),
    stop(9),
    delta(9, { type: 'input_json_delta', partial_json: '{}' }),
  );
  assert.deepEqual(got, [
    { type: 'contentDelta', index: 0, delta: 'a' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'contentDelta', index: 1, delta: 'b' },
    { type: 'contentBlockStop', index: 1 },
  ]);
});

test('input that came whole with the start of a call is passed on when the call ends', () => {
  const got = body(start(0, { type: 'tool_use', id: 'a', name: 'ls', input: { path: '.' } }), stop(0));
  assert.deepEqual(got, [
    { type: 'toolUseStart', index: 0, id: 'a', name: 'ls' },
    { type: 'toolUseDelta', id: 'a', delta: '{"path":"."}' },
    { type: 'contentBlockStop', index: 0 },
  ]);
});

test('ids that are missing, repeated or taken in the conversation are made unique', () => {
  const calls = ['a', 'a', null, 'old'].flatMap((id, at) => [
    start(at, { type: 'tool_use', id, name: 'ls', input: {} }),
    stop(at),
  ]);
  const got = decode([sse(START, ...calls, ending('tool_use'), STOP)], ['old']);
  assert.deepEqual(
    got.flatMap((chunk) => (chunk.type === 'toolUseStart' ? [chunk.id] : [])),
    ['a', 'a-2', 'call_iiiiiiiiiiiiiiii', 'old-2'],
  );
});

test('null fields and unknown events are tolerated', () => {
  const nulls = [
    { type: 'message_start', message: null },
    { type: 'message_start', message: { id: null, model: null, usage: null } },
    { type: 'content_block_start', index: null, content_block: null },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: null } },
    { type: 'content_block_delta', index: 0, delta: null },
    delta(0, { type: 'thinking_delta', thinking: null }),
    delta(0, { type: 'signature_delta', signature: null }),
    { type: 'content_block_stop' },
    { type: 'message_delta', delta: null, usage: null },
    { type: 'something_new' },
    { type: null },
  ];
  assert.deepEqual(decode([sse(...nulls, 'null', '3', STOP)]), [
    { type: 'messageStart', id: '', model: '' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'end', stopReason: 'stop', tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } },
  ]);
});

test('an error event is thrown with what its type means', () => {
  const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  assert.throws(
    () => decode([sse(START, error)]),
    (thrown) => {
      assert.ok(thrown instanceof ComplaintError);
      assert.deepEqual(thrown.complaint, {
        type: 'overloaded_error',
        message: 'Overloaded',
        code: 'provider-overloaded',
        status: 529,
      });
      return true;
    },
  );
});

test('nothing is passed on before the first content, so that the request can be sent again', () => {
  assert.deepEqual(decode([sse(START, { type: 'ping' })]), []);
});

test('the sources of a text are passed on with its block', () => {
  const page = { type: 'page_location', cited_text: 'x', document_index: 0, start_page_number: 1 };
  const got = body(
    start(0, { type: 'text', text: '', citations: [page] }),
    delta(0, { type: 'text_delta', text: 'As is said.' }),
    delta(0, { type: 'citations_delta', citation: page }),
    delta(0, { type: 'citations_delta', citation: null }),
    stop(0),
    start(1, { type: 'tool_use', id: 'a', name: 'ls', input: {} }),
    delta(1, { type: 'citations_delta', citation: page }),
    stop(1),
  );
  assert.deepEqual(got, [
    { type: 'citation', index: 0, citation: page },
    { type: 'contentDelta', index: 0, delta: 'As is said.' },
    { type: 'citation', index: 0, citation: page },
    { type: 'contentBlockStop', index: 0 },
    { type: 'toolUseStart', index: 1, id: 'a', name: 'ls' },
    { type: 'contentBlockStop', index: 1 },
  ]);
});

test('a reason to stop that is not known, or that a server tool gave, is told', () => {
  for (const reason of ['pause_turn', 'something_new'])
    assert.deepEqual(decode([sse(START, ending(reason), STOP)]).slice(-2), [
      { type: 'notice', text: `The provider ended its answer early (${reason}).` },
      {
        type: 'end',
        stopReason: 'stop',
        tokens: { input: 7, output: 42, cacheRead: 100, cacheWrite: 2 },
      },
    ]);
});

test('a refusal says why where the provider does', () => {
  const delta = { stop_reason: 'refusal', stop_details: { type: 'refusal', explanation: 'It could harm.' } };
  assert.deepEqual(outcome(decode([sse(START, { type: 'message_delta', delta }, STOP)]).at(-1)), {
    code: 'content-refused',
    message: 'The model refused to answer: It could harm.',
    retryable: false,
  });
});

test('what was written to the cache is counted also where only its split is told', () => {
  const usage = {
    input_tokens: 10,
    cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: null },
  };
  const last = decode([sse({ type: 'message_start', message: { usage } }, STOP)]).at(-1);
  assert.deepEqual(last?.type === 'end' && last.tokens, {
    input: 10,
    output: 0,
    cacheRead: 0,
    cacheWrite: 3,
  });
});

test('an answer that was faster or is cached for longer says what it cost', () => {
  const price = { input: 10, output: 100, cacheRead: 1, cacheWrite: 12.5 };
  const cost = (usage: object, known = true) => {
    const decoder = new AnthropicDecoder(() => 'a', known ? { rates: { price, fastFactor: 2 } } : {});
    const out: ModelChunk[] = [];
    decoder.decode({ data: JSON.stringify({ type: 'message_start', message: { usage } }) }, out);
    decoder.finish(out);
    const last = out.at(-1);
    return last?.type === 'end' ? last.costUsd : undefined;
  };
  const tokens = { input_tokens: 1e6, output_tokens: 1e6 };
  const hour = { cache_creation_input_tokens: 1e6, cache_creation: { ephemeral_1h_input_tokens: 1e6 } };
  assert.equal(cost(tokens), undefined);
  assert.equal(cost({ ...tokens, speed: 'standard' }), undefined);
  assert.equal(cost({ ...tokens, speed: 'fast' }), 220);
  assert.equal(cost({ ...tokens, ...hour }), 130);
  assert.equal(cost({ ...tokens, ...hour, speed: 'fast' }), 260);
  assert.equal(cost({ ...tokens, speed: 'fast' }, false), undefined);
});
