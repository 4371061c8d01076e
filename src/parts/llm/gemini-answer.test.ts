import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelChunk } from '../../core/model.ts';
import { createCallIds } from './call-ids.ts';
import { GeminiDecoder } from './gemini-answer.ts';
import { SseParser } from './sse.ts';
import { assistant, outcome, sse } from './testing.ts';
import { ComplaintError } from './wire.ts';

/** One event: parts of the answer, and why it stopped. */
function piece(parts: readonly object[], finishReason?: string, more: object = {}): object {
  const content = { role: 'model', parts };
  return { candidates: [{ content, index: 0, ...(finishReason && { finishReason }) }], ...NAMED, ...more };
}

const NAMED = { responseId: 'r1', modelVersion: 'gemini-x' };

const RECORDED = sse(
  piece([{ text: 'Hmm, ', thought: true }], undefined, { usageMetadata: { promptTokenCount: 110 } }),
  piece([{ text: 'ü', thought: true }]),
  piece([{ text: 'Look ' }]),
  piece([{ text: '🦀' }, { inlineData: { mimeType: 'image/png', data: 'x' } }]),
  piece([{ text: '', thoughtSignature: 'c2ln' }]),
  piece([
    { functionCall: { id: 'f1', name: 'read', args: { path: 'a' } }, thoughtSignature: 'Y2FsbA==' },
    { functionCall: { id: 'f2', name: 'ls' } },
  ]),
  piece([], 'STOP', {
    usageMetadata: {
      promptTokenCount: 110,
      cachedContentTokenCount: 100,
      toolUsePromptTokenCount: 1,
      candidatesTokenCount: 12,
      thoughtsTokenCount: 30,
      totalTokenCount: 153,
    },
  }),
);

const RECORDED_CHUNKS: readonly ModelChunk[] = [
  { type: 'messageStart', id: 'r1', model: 'gemini-x' },
  { type: 'thinkingDelta', index: 0, delta: 'Hmm, ' },
  { type: 'thinkingDelta', index: 0, delta: 'ü' },
  { type: 'contentBlockStop', index: 0 },
  { type: 'contentDelta', index: 1, delta: 'Look ' },
  { type: 'contentDelta', index: 1, delta: '🦀' },
  { type: 'textSignature', index: 1, signature: 'c2ln' },
  { type: 'contentBlockStop', index: 1 },
  { type: 'toolUseStart', index: 2, id: 'f1', name: 'read' },
  { type: 'toolUseDelta', id: 'f1', delta: '{"path":"a"}' },
  { type: 'thoughtSignature', index: 2, signature: 'Y2FsbA==' },
  { type: 'contentBlockStop', index: 2 },
  { type: 'toolUseStart', index: 3, id: 'f2', name: 'ls' },
  { type: 'contentBlockStop', index: 3 },
  {
    type: 'end',
    stopReason: 'toolUse',
    tokens: { input: 11, output: 42, cacheRead: 100, cacheWrite: 0, reasoning: 30 },
  },
];

const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

/** What the bytes mean when the body ends behind them; an answer that is not complete does not end. */
function decode(reads: readonly (Buffer | string)[], taken: readonly string[] = []): ModelChunk[] {
  const earlier = taken.map((id) => ({ type: 'toolCall', id, name: 'x', arguments: {} }) as const);
  const decoder = new GeminiDecoder(createCallIds(() => 0.5)([assistant(earlier)]));
  const parser = new SseParser();
  const out: ModelChunk[] = [];
  for (const read of reads) for (const event of parser.push([Buffer.from(read)])) decoder.decode(event, out);
  if (decoder.progress === 'complete') decoder.finish(out);
  return out;
}

/** What stands between the beginning and the end of an answer. */
function body(...parts: readonly object[]): ModelChunk[] {
  return decode([sse(...parts.map((part) => piece([part])), piece([], 'STOP'))]).slice(1, -1);
}

test('a whole answer with thinking, text, calls and what is not known', () => {
  assert.deepEqual(decode([RECORDED]), RECORDED_CHUNKS);
});

test('the same bytes cut anywhere give the same chunks', () => {
  const bytes = Buffer.from(RECORDED);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(decode([bytes.subarray(0, cut), bytes.subarray(cut)]), RECORDED_CHUNKS, `cut at ${cut}`);
  }
});

/** Cuts the recording after every byte: without the event that says why it stopped there is no end. */
function neverEndsEarly(decodeReads: typeof decode): void {
  const bytes = Buffer.from(RECORDED);
  for (let length = 0; length < bytes.length; length++) {
    const got = decodeReads([bytes.subarray(0, length)]);
    assert.deepEqual(got, RECORDED_CHUNKS.slice(0, got.length), `first ${length} bytes`);
    assert.notEqual(got.at(-1)?.type, 'end');
  }
}

test('an answer that breaks off has no end', () => {
  neverEndsEarly(decode);
});

test('the campaign catches a decoder that ends answers by itself', () => {
  assert.throws(() => neverEndsEarly((reads) => [...decode(reads), ...RECORDED_CHUNKS.slice(-1)]));
});

test('a call that comes twice, its id included, is one call', () => {
  const part = { functionCall: { id: 'f', name: 'ls', args: { path: 'a' } }, thoughtSignature: 'YQ==' };
  const once = body(part);
  assert.deepEqual(body(part, part), once);
  const other = body(part, { functionCall: { ...part.functionCall, args: {} } });
  assert.deepEqual(other.slice(once.length), [
    { type: 'toolUseStart', index: 1, id: 'f-2', name: 'ls' },
    { type: 'contentBlockStop', index: 1 },
  ]);
});

test('arguments that are nested too deep to be written are no JSON', () => {
  const json = JSON.stringify(piece([{ functionCall: { id: 'f', name: 'ls', args: { deep: 0 } } }]));
  const deep = json.replace('"deep":0', `"deep":${'['.repeat(10_000)}${']'.repeat(10_000)}`);
  const chunks = decode([Buffer.from(`data: ${deep}\n\n`)]);
  assert.deepEqual(chunks.slice(1), [
    { type: 'toolUseStart', index: 0, id: 'f', name: 'ls' },
    { type: 'toolUseDelta', id: 'f', delta: 'nested too deep' },
    { type: 'contentBlockStop', index: 0 },
  ]);
});

test('a signature belongs to what it came with or behind, and thinking has but one', () => {
  assert.deepEqual(
    body(
      { thoughtSignature: 'YQ==' },
      { text: 'Hmm', thought: true, thoughtSignature: 'Yg==' },
      { text: 'a', thoughtSignature: 'Yw==' },
      { text: 'b', thoughtSignature: 'ZA==' },
      { functionCall: { id: 'f', name: 'ls', args: {} } },
      { text: '', thoughtSignature: 'ZQ==' },
    ),
    [
      { type: 'thinkingSignature', index: 0, signature: 'YQ==' },
      { type: 'thinkingDelta', index: 0, delta: 'Hmm' },
      { type: 'contentBlockStop', index: 0 },
      { type: 'contentDelta', index: 1, delta: 'a' },
      { type: 'textSignature', index: 1, signature: 'Yw==' },
      { type: 'contentDelta', index: 1, delta: 'b' },
      { type: 'textSignature', index: 1, signature: 'ZA==' },
      { type: 'contentBlockStop', index: 1 },
      { type: 'toolUseStart', index: 2, id: 'f', name: 'ls' },
      { type: 'contentBlockStop', index: 2 },
      { type: 'thinkingSignature', index: 3, signature: 'ZQ==' },
      { type: 'contentBlockStop', index: 3 },
    ],
  );
});

test('ids that are missing, repeated or taken in the conversation are made unique', () => {
  const calls = ['a', 'a', null, 'old'].map((id, at) => ({ functionCall: { id, name: 'ls', args: { at } } }));
  const got = decode([sse(piece(calls, 'STOP'))], ['old']);
  assert.deepEqual(
    got.flatMap((chunk) => (chunk.type === 'toolUseStart' ? [chunk.id] : [])),
    ['a', 'a-2', 'call_iiiiiiiiiiiiiiii', 'old-2'],
  );
});

test('null fields and unknown events are tolerated', () => {
  const nulls = [
    { candidates: null, usageMetadata: null, promptFeedback: null, responseId: null },
    { candidates: [null] },
    { candidates: [{ content: null, finishReason: null }] },
    { candidates: [{ content: { parts: null } }], promptFeedback: { blockReason: null } },
    piece([{ text: null, thoughtSignature: null, functionCall: null }, { executableCode: { code: 'x' } }]),
    { candidates: [{ content: { parts: [null] }, finishReason: 'STOP' }], usageMetadata: {} },
  ];
  assert.deepEqual(decode([sse(...nulls, 'null', '3')]), [
    { type: 'messageStart', id: '', model: '' },
    { type: 'end', stopReason: 'stop', tokens: NO_TOKENS },
  ]);
});

for (const [reason, calls, expected] of [
  ['STOP', false, 'stop'],
  ['STOP', true, 'toolUse'],
  ['MAX_TOKENS', true, 'length'],
  ['BRAND_NEW', false, 'stop'],
  ['BRAND_NEW', true, 'toolUse'],
] as const) {
  test(`finish reason ${reason} ${calls ? 'with' : 'without'} calls means ${expected}`, () => {
    const parts = calls ? [{ functionCall: { name: 'ls' } }] : [];
    const last = decode([sse(piece(parts, reason))]).at(-1);
    assert.equal(last?.type === 'end' && last.stopReason, expected);
  });
}

for (const [name, event, why] of [
  ['an answer that is unsafe', piece([], 'SAFETY'), 'SAFETY'],
  ['an answer that recites', piece([{ text: 'To be' }], 'RECITATION'), 'RECITATION'],
  [
    'an answer that says why it is held back',
    { candidates: [{ finishReason: 'PROHIBITED_CONTENT', finishMessage: 'Not this' }] },
    'Not this (PROHIBITED_CONTENT)',
  ],
  [
    'a prompt that is blocked',
    { promptFeedback: { blockReason: 'SAFETY' }, ...NAMED },
    'the prompt was blocked (SAFETY)',
  ],
] as const) {
  test(`${name} is refused, and its tokens are counted`, () => {
    const last = decode([sse({ ...event, usageMetadata: { promptTokenCount: 4 } })]).at(-1);
    assert.deepEqual(outcome(last), {
      code: 'content-refused',
      message: `The model refused to answer: ${why}`,
      retryable: false,
    });
    assert.deepEqual(last?.type === 'failure' && last.tokens, { ...NO_TOKENS, input: 4 });
  });
}

function complaintIn(...events: readonly object[]): unknown {
  try {
    decode([sse(...events)]);
  } catch (thrown) {
    if (thrown instanceof ComplaintError) return thrown.complaint;
  }
  return undefined;
}

test('a call that the model got wrong is a fault that may not happen again', () => {
  const malformed = { candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'print(' }] };
  assert.deepEqual(complaintIn(malformed), {
    type: 'MALFORMED_FUNCTION_CALL',
    message: 'print(',
    code: 'provider-failed',
  });
  assert.deepEqual(complaintIn(piece([], 'OTHER')), {
    type: 'OTHER',
    message: 'The model broke off its answer.',
    code: 'provider-failed',
  });
});

test('an error inside the stream is thrown with what its status means', () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };
  assert.deepEqual(complaintIn(piece([{ text: 'a' }]), { error }), {
    type: 'UNAVAILABLE',
    message: 'The model is overloaded.',
    code: 'provider-overloaded',
    status: 503,
  });
  assert.deepEqual(complaintIn({ error: 'odd' }), { message: '{"error":"odd"}' });
});
