// OpenAI's own library is the judge here: its types hold the recorded answer to what the API sends, and what it reads
// from it must be what the decoder makes of it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import type { Response, ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { ModelChunk } from '../../core/model.ts';
import { createCallIds } from './call-ids.ts';
import { ResponsesDecoder } from './openai-responses-answer.ts';
import { SseParser } from './sse.ts';
import { assistant, outcome, sendStream, serve, sse } from './testing.ts';
import { ComplaintError } from './wire.ts';

const REASONING = {
  id: 'rs_1',
  type: 'reasoning',
  summary: [
    { type: 'summary_text', text: 'Hmm, ü' },
    { type: 'summary_text', text: 'so be it' },
  ],
  encrypted_content: 'opaque',
} as const;

const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'read',
  arguments: '{"path":"a"}',
  status: 'completed',
} as const;

const OTHER_CALL = { ...CALL, id: 'fc_2', call_id: 'call_2', name: 'ls', arguments: '{}' } as const;

const TEXT = { type: 'output_text', text: 'Look 🦀', annotations: [] } as const;

const MESSAGE = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  phase: 'commentary',
  content: [TEXT],
} as const;

const SEARCH = {
  id: 'ws_1',
  type: 'web_search_call',
  status: 'completed',
  action: { type: 'search', query: 'crab', queries: ['crab'] },
} as const;

const OPEN: Response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'gpt-6.2-sol',
  status: 'in_progress',
  output: [],
  output_text: '',
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: null,
  parallel_tool_calls: true,
  temperature: null,
  tool_choice: 'auto',
  tools: [],
  top_p: null,
  access_programs: null,
};

const WHOLE = {
  ...OPEN,
  status: 'completed',
  output: [REASONING, SEARCH, MESSAGE, CALL, OTHER_CALL],
  usage: {
    input_tokens: 109,
    input_tokens_details: { cached_tokens: 100, cache_write_tokens: 2 },
    output_tokens: 42,
    output_tokens_details: { reasoning_tokens: 30 },
    total_tokens: 151,
  },
};

/** An event without its number. */
type Unnumbered<Event> = Event extends unknown ? Omit<Event, 'sequence_number'> : never;

const EVENTS: readonly Unnumbered<ResponseStreamEvent>[] = [
  { type: 'response.created', response: OPEN },
  { type: 'response.in_progress', response: OPEN },
  {
    type: 'response.output_item.added',
    output_index: 0,
    item: { ...REASONING, summary: [], encrypted_content: 'opa' },
  },
  summaryPart('added', 0, ''),
  summaryDelta(0, 'Hmm, '),
  summaryDelta(0, 'ü'),
  summaryPart('done', 0, 'Hmm, ü'),
  summaryPart('added', 1, ''),
  summaryDelta(1, 'so be it'),
  summaryPart('done', 1, 'so be it'),
  {
    type: 'response.output_item.done',
    output_index: 0,
    item: { ...REASONING, summary: [...REASONING.summary] },
  },
  { type: 'response.output_item.added', output_index: 1, item: { ...SEARCH, action: searchAction() } },
  { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
  { type: 'response.output_item.done', output_index: 1, item: { ...SEARCH, action: searchAction() } },
  {
    type: 'response.output_item.added',
    output_index: 2,
    item: { ...MESSAGE, status: 'in_progress', content: [] },
  },
  { type: 'response.content_part.added', ...inMessage(), part: { ...TEXT, text: '', annotations: [] } },
  { type: 'response.output_text.delta', ...inMessage(), delta: 'Look ', logprobs: [] },
  { type: 'response.output_text.delta', ...inMessage(), delta: '🦀', logprobs: [] },
  { type: 'response.output_text.done', ...inMessage(), text: TEXT.text, logprobs: [] },
  { type: 'response.content_part.done', ...inMessage(), part: { ...TEXT, annotations: [] } },
  {
    type: 'response.output_item.done',
    output_index: 2,
    item: { ...MESSAGE, content: [{ ...TEXT, annotations: [] }] },
  },
  {
    type: 'response.output_item.added',
    output_index: 3,
    item: { ...CALL, status: 'in_progress', arguments: '' },
  },
  callDelta('{"path":'),
  callDelta('"a"}'),
  {
    type: 'response.function_call_arguments.done',
    item_id: 'fc_1',
    output_index: 3,
    arguments: CALL.arguments,
  },
  { type: 'response.output_item.done', output_index: 3, item: CALL },
  {
    type: 'response.output_item.added',
    output_index: 4,
    item: { ...OTHER_CALL, status: 'in_progress', arguments: '' },
  },
  {
    type: 'response.function_call_arguments.done',
    item_id: 'fc_2',
    output_index: 4,
    arguments: OTHER_CALL.arguments,
  },
  { type: 'response.output_item.done', output_index: 4, item: OTHER_CALL },
  { type: 'response.completed', response: WHOLE as unknown as Response },
];

const ANSWER: readonly object[] = EVENTS.map((event, at) => ({ ...event, sequence_number: at }));

const MESSAGE_SIGNATURE = '{"v":1,"id":"msg_1","phase":"commentary"}';

const CHUNKS: readonly ModelChunk[] = [
  { type: 'messageStart', id: 'resp_1', model: 'gpt-6.2-sol' },
  { type: 'thinkingDelta', index: 0, delta: 'Hmm, ' },
  { type: 'thinkingDelta', index: 0, delta: 'ü' },
  { type: 'thinkingDelta', index: 0, delta: '\n\nso be it' },
  { type: 'thinkingSignature', index: 0, signature: JSON.stringify(REASONING) },
  { type: 'contentBlockStop', index: 0 },
  { type: 'textSignature', index: 1, signature: MESSAGE_SIGNATURE },
  { type: 'contentDelta', index: 1, delta: 'Look ' },
  { type: 'contentDelta', index: 1, delta: '🦀' },
  { type: 'contentBlockStop', index: 1 },
  { type: 'toolUseStart', index: 2, id: 'call_1', name: 'read' },
  { type: 'thoughtSignature', index: 2, signature: 'fc_1' },
  { type: 'toolUseDelta', id: 'call_1', delta: '{"path":' },
  { type: 'toolUseDelta', id: 'call_1', delta: '"a"}' },
  { type: 'contentBlockStop', index: 2 },
  { type: 'toolUseStart', index: 3, id: 'call_2', name: 'ls' },
  { type: 'thoughtSignature', index: 3, signature: 'fc_2' },
  { type: 'toolUseDelta', id: 'call_2', delta: '{}' },
  { type: 'contentBlockStop', index: 3 },
  {
    type: 'end',
    stopReason: 'toolUse',
    tokens: { input: 7, output: 42, cacheRead: 100, cacheWrite: 2, reasoning: 30 },
  },
];

function summaryPart(
  what: 'added' | 'done',
  summary_index: number,
  text: string,
): Unnumbered<ResponseStreamEvent> {
  return {
    type: `response.reasoning_summary_part.${what}`,
    item_id: 'rs_1',
    output_index: 0,
    summary_index,
    part: { type: 'summary_text', text },
  } as Unnumbered<ResponseStreamEvent>;
}

function summaryDelta(summary_index: number, delta: string): Unnumbered<ResponseStreamEvent> {
  const type = 'response.reasoning_summary_text.delta';
  return { type, item_id: 'rs_1', output_index: 0, summary_index, delta };
}

function callDelta(delta: string): Unnumbered<ResponseStreamEvent> {
  return { type: 'response.function_call_arguments.delta', item_id: 'fc_1', output_index: 3, delta };
}

function inMessage() {
  return { item_id: 'msg_1', output_index: 2, content_index: 0 };
}

function searchAction() {
  return { type: 'search' as const, query: 'crab', queries: ['crab'] };
}

const RECORDED = sse(...ANSWER);

/** What the bytes mean; an answer that is not done does not end. */
function decode(reads: readonly (Buffer | string)[], taken: readonly string[] = []): ModelChunk[] {
  const earlier = taken.map((id) => ({ type: 'toolCall', id, name: 'x', arguments: {} }) as const);
  const decoder = new ResponsesDecoder(createCallIds(() => 0.5)([assistant(earlier)]));
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

const START = { type: 'response.created', response: { id: 'r', model: 'm' } };

/** What stands between the beginning and the end of an answer. */
function body(...events: readonly object[]): ModelChunk[] {
  return decode([sse(START, ...events, { type: 'response.completed', response: {} })]).slice(1, -1);
}

function ending(response: object): ModelChunk | undefined {
  return decode([sse(START, { type: 'response.incomplete', response })]).at(-1);
}

const NO_TOKENS = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

test('a whole answer with thinking, text, calls and what is not known', () => {
  assert.deepEqual(decode([RECORDED]), CHUNKS);
});

test('the same bytes cut anywhere give the same chunks', () => {
  const bytes = Buffer.from(RECORDED);
  for (let cut = 0; cut <= bytes.length; cut++) {
    assert.deepEqual(decode([bytes.subarray(0, cut), bytes.subarray(cut)]), CHUNKS, `cut at ${cut}`);
  }
});

/** Ends the recording after each event: there is no end, and a call is stopped only once it was said to be done. */
function neverEndsEarly(decodeReads: typeof decode): void {
  for (let count = 0; count < ANSWER.length; count++) {
    const got = decodeReads([sse(...ANSWER.slice(0, count))]);
    assert.deepEqual(got, CHUNKS.slice(0, got.length), `first ${count} events`);
    assert.notEqual(got.at(-1)?.type, 'end');
    for (const [index, place] of [2, 3].entries()) {
      const done = ANSWER.findIndex((event) => {
        const { type, output_index: at } = event as { type: string; output_index?: number };
        return type === 'response.output_item.done' && at === index + 3;
      });
      const stopped = got.some((chunk) => chunk.type === 'contentBlockStop' && chunk.index === place);
      assert.equal(stopped, count > done, `call ${index} after ${count} events`);
    }
  }
}

test('an answer that breaks off has no end, and no call that was not whole', () => {
  neverEndsEarly(decode);
});

test('the campaign catches a decoder that ends calls or answers by itself', () => {
  assert.throws(() => neverEndsEarly((reads) => [...decode(reads), ...CHUNKS.slice(-1)]));
  const eager: typeof decode = (reads) => {
    const got = decode(reads);
    const next = CHUNKS[got.length];
    return got.at(-1)?.type === 'toolUseDelta' && next ? [...got, next] : got;
  };
  assert.throws(() => neverEndsEarly(eager));
});

test('events that arrive twice count once', () => {
  assert.deepEqual(decode([sse(...ANSWER.flatMap((event) => [event, event]))]), CHUNKS);
});

test('OpenAI’s own library reads the same from the recorded answer', async () => {
  await using server = await serve((response) => sendStream(response, RECORDED));
  const client = new OpenAI({ apiKey: 'k', baseURL: server.url, maxRetries: 0 });
  const stream = client.responses.stream({ model: 'gpt-6.2-sol', input: 'Hi' });
  let told = '';
  stream.on('response.output_text.delta', ({ delta }) => {
    told += delta;
  });
  const { output, usage, status } = await stream.finalResponse();
  const ours = decode([RECORDED]);
  const joined = (type: 'contentDelta') =>
    ours.flatMap((chunk) => (chunk.type === type ? [chunk.delta] : [])).join('');
  assert.equal(joined('contentDelta'), told);
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
  assert.deepEqual(
    ours.flatMap((chunk) =>
      chunk.type === 'toolUseStart' ? [[chunk.id, chunk.name, inputOf(ours, chunk.id)]] : [],
    ),
    calls.map((call) => [call.call_id, call.name, call.arguments]),
  );
  const end = ours.at(-1);
  assert.ok(end?.type === 'end' && usage);
  const { input, output: written, cacheRead, cacheWrite } = end.tokens;
  assert.equal(input + cacheRead + cacheWrite, usage.input_tokens);
  assert.equal(written, usage.output_tokens);
  assert.equal(status, 'completed');
});

function inputOf(all: readonly ModelChunk[], id: string): string {
  return all
    .flatMap((chunk) => (chunk.type === 'toolUseDelta' && chunk.id === id ? [chunk.delta] : []))
    .join('');
}

test('an item that is announced only by its end says all that it holds', () => {
  const items = [
    { type: 'reasoning', id: 'rs', summary: [{ text: 'a' }, null, { text: 'b' }], encrypted_content: 'x' },
    { type: 'message', content: [{ type: 'output_text', text: 'c' }, null] },
    { type: 'function_call', call_id: 'd', name: 'ls', arguments: '{"e":1}' },
  ];
  const expected: ModelChunk[] = [
    { type: 'thinkingDelta', index: 0, delta: 'a\n\nb' },
    { type: 'thinkingSignature', index: 0, signature: JSON.stringify(items[0]) },
    { type: 'contentBlockStop', index: 0 },
    { type: 'contentDelta', index: 1, delta: 'c' },
    { type: 'contentBlockStop', index: 1 },
    { type: 'toolUseStart', index: 2, id: 'd', name: 'ls' },
    { type: 'toolUseDelta', id: 'd', delta: '{"e":1}' },
    { type: 'contentBlockStop', index: 2 },
  ];
  const done = items.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }));
  assert.deepEqual(body(...done), expected);
  const completed = { type: 'response.completed', response: { id: 'r', model: 'm', output: items } };
  assert.deepEqual(decode([sse(completed)]), [
    { type: 'messageStart', id: 'r', model: 'm' },
    ...expected,
    { type: 'end', stopReason: 'toolUse', tokens: NO_TOKENS },
  ]);
});

test('pieces without an announced item open one, and those of an item that is over are dropped', () => {
  const text = (delta: string) => ({ type: 'response.output_text.delta', output_index: 0, delta });
  const got = body(
    text('a'),
    { type: 'response.output_item.done', output_index: 0, item: { type: 'message' } },
    text('b'),
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: '{}' },
    { type: 'response.function_call_arguments.delta', output_index: 7, delta: '{}' },
    { type: 'response.reasoning_text.delta', output_index: 1, content_index: 0, delta: 'c' },
  );
  assert.deepEqual(got, [
    { type: 'contentDelta', index: 0, delta: 'a' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'thinkingDelta', index: 1, delta: 'c' },
    { type: 'contentBlockStop', index: 1 },
  ]);
});

test('a text that is called otherwise at its end is known by that', () => {
  const got = body(
    { type: 'response.output_item.added', output_index: 0, item: { type: 'message', id: 'msg' } },
    { type: 'response.output_text.delta', output_index: 0, delta: 'a' },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { type: 'message', id: 'msg', phase: 'final_answer' },
    },
  );
  assert.deepEqual(got, [
    { type: 'textSignature', index: 0, signature: '{"v":1,"id":"msg"}' },
    { type: 'contentDelta', index: 0, delta: 'a' },
    { type: 'textSignature', index: 0, signature: '{"v":1,"id":"msg","phase":"final_answer"}' },
    { type: 'contentBlockStop', index: 0 },
  ]);
});

test('ids that are missing, repeated or taken in the conversation are made unique', () => {
  const calls = ['a', 'a', null, 'old'].map((call_id, output_index) => ({
    type: 'response.output_item.done',
    output_index,
    item: { type: 'function_call', call_id, name: 'ls' },
  }));
  const got = decode([sse(START, ...calls, { type: 'response.completed', response: null })], ['old']);
  assert.deepEqual(
    got.flatMap((chunk) => (chunk.type === 'toolUseStart' ? [chunk.id] : [])),
    ['a', 'a-2', 'call_iiiiiiiiiiiiiiii', 'old-2'],
  );
});

test('null fields and unknown events are tolerated', () => {
  const types = [
    ...['created', 'in_progress', 'output_item.added', 'output_item.done', 'output_text.delta'],
    ...['function_call_arguments.delta', 'function_call_arguments.done', 'reasoning_summary_text.delta'],
    ...['refusal.delta', 'something_new'],
  ];
  const nulls = types.map((type) => ({
    ...{ type: `response.${type}`, item: null, delta: null, arguments: null, response: null },
    ...{ output_index: null, summary_index: null, sequence_number: null },
  }));
  const empty = { type: 'response.output_item.done', output_index: 9, item: { type: null, content: null } };
  const completed = { type: 'response.completed', response: { id: null, usage: null, output: null } };
  assert.deepEqual(decode([sse(...nulls, empty, { type: null }, 'null', '3', '[DONE]', completed)]), [
    { type: 'messageStart', id: '', model: '' },
    { type: 'end', stopReason: 'stop', tokens: NO_TOKENS },
  ]);
});

test('nothing is passed on before the first content, so that the request can be sent again', () => {
  const announced = ANSWER.slice(0, 4);
  assert.deepEqual(decode([sse(...announced)]), []);
});

test('an answer that is cut by its limit, or held back, says so', () => {
  const usage = { input_tokens: 5, output_tokens: 3 };
  const tokens = { ...NO_TOKENS, input: 5, output: 3 };
  assert.deepEqual(ending({ usage, incomplete_details: { reason: 'max_output_tokens' } }), {
    ...{ type: 'end', stopReason: 'length', tokens },
  });
  const held = ending({ usage, incomplete_details: { reason: 'content_filter' } });
  assert.deepEqual(outcome(held), {
    code: 'content-refused',
    message: 'The model refused to answer: its answer was held back by a content filter',
    retryable: false,
  });
  assert.deepEqual(held?.type === 'failure' && held.tokens, tokens);
});

for (const [how, events] of [
  [
    'in pieces',
    [
      { type: 'response.refusal.delta', output_index: 0, delta: 'I will ' },
      { type: 'response.refusal.delta', output_index: 0, delta: 'not.' },
    ],
  ],
  [
    'at the end of its item',
    [
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { type: 'message', content: [{ type: 'refusal', refusal: 'I will not.' }] },
      },
    ],
  ],
] as const) {
  test(`a refusal that comes ${how} is a failure in the model’s words`, () => {
    const last = decode([sse(START, ...events, { type: 'response.completed', response: {} })]).at(-1);
    assert.deepEqual(outcome(last), {
      code: 'content-refused',
      message: 'The model refused to answer: I will not.',
      retryable: false,
    });
  });
}

for (const [name, event, complaint] of [
  [
    'a response that failed',
    {
      type: 'response.failed',
      response: { error: { code: 'rate_limit_exceeded', message: 'Please try again in 1.5s.' } },
    },
    {
      type: 'rate_limit_exceeded',
      message: 'Please try again in 1.5s.',
      code: 'rate-limited',
      status: 429,
      retryAfterMs: 1500,
    },
  ],
  [
    'an error event',
    { type: 'error', code: 'server_error', message: 'Oops', param: null },
    { type: 'server_error', message: 'Oops', code: 'provider-failed' },
  ],
  [
    'an error within an error event',
    { type: 'error', error: { type: 'invalid_request_error', code: 'cyber_policy', message: 'No' } },
    { type: 'cyber_policy', message: 'No', code: 'content-refused', status: 400 },
  ],
  [
    'an overloaded server',
    { type: 'response.failed', response: { error: { code: 'server_is_overloaded', message: 'Later' } } },
    { type: 'server_is_overloaded', message: 'Later', code: 'provider-overloaded', status: 503 },
  ],
  ['an error without a type', { error: { message: 'Odd' } }, { message: 'Odd' }],
] as const) {
  test(`${name} is thrown with what it means`, () => {
    assert.throws(
      () => decode([sse(START, event)]),
      (thrown) => {
        assert.ok(thrown instanceof ComplaintError);
        assert.deepEqual(thrown.complaint, complaint);
        return true;
      },
    );
  });
}
