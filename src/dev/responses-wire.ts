// OpenAI Responses, streaming (platform.openai.com/docs/api-reference/responses-streaming). Every event has its number;
// the last one repeats the whole response.

import type { JsonObject } from '../core/schema.ts';
import type { Answer, AnswerCall } from './answer.ts';
import { serverSentEvent } from './bytes.ts';
import { asList, asText } from './json.ts';
import { openaiErrorBody } from './openai-wire.ts';
import { readResponsesHistory } from './responses-history.ts';
import { signatureOf } from './signature.ts';
import type { Asked, Wire } from './wire.ts';

/** Fixed, so that a scenario always yields the same bytes. */
const CREATED = 1_700_000_000;

const ENCRYPTED = 'reasoning.encrypted_content';

export const responsesWire: Wire = {
  name: 'responses',
  contentType: 'text/event-stream',
  countsCacheWrites: false,
  refusesToStream: ({ body }) => (body['stream'] === true ? undefined : 'send "stream": true'),
  history: ({ body }) => readResponsesHistory(body),
  variant: wantsEncrypted,

  render(answer, asked) {
    const numbered = numberer();
    const items = itemsOf(answer, asked);
    const before = items.filter(({ call }) => !call);
    const calls = items.filter(({ call }) => call);
    const eventsOf = ({ item, pieces }: Item) =>
      itemEvents(
        item,
        pieces,
        items.findIndex((other) => other.item === item),
      ).map(numbered);
    const first = response(answer, asked, { status: 'in_progress', output: [], usage: null });
    return {
      said: [
        numbered({ type: 'response.created', response: first }),
        numbered({ type: 'response.in_progress', response: first }),
        ...before.flatMap(eventsOf),
      ],
      calls: calls.flatMap(eventsOf),
      closing: [numbered(ending(answer, asked, items))],
    };
  },

  frame: (event) => serverSentEvent(event, typeof event === 'string' ? undefined : asText(event['type'])),
  ping: ': keep-alive\n\n',
  errorEvent: (code, message) =>
    serverSentEvent({ type: 'error', code, message, param: null, sequence_number: 99 }, 'error'),
  errorBody: openaiErrorBody,
  overflow: {
    status: 400,
    type: 'context_length_exceeded',
    message: 'Your input exceeds the context window of this model. Please adjust your input and try again.',
  },
};

interface Item {
  /** As it is when it is done. */
  readonly item: JsonObject;
  readonly pieces: readonly string[];
  readonly call: boolean;
}

function wantsEncrypted(body: JsonObject): boolean {
  return asList(body['include']).includes(ENCRYPTED);
}

function numberer(): (event: JsonObject) => JsonObject {
  let next = 0;
  return (event) => ({ ...event, sequence_number: next++ });
}

function itemsOf(answer: Answer, { body }: Asked): readonly Item[] {
  const items: Item[] = [];
  const { turn, thinking, text, stop } = answer;
  if (thinking.length > 0) {
    const whole = thinking.join('');
    const summary = [{ type: 'summary_text', text: whole }];
    const sealed = wantsEncrypted(body) ? { encrypted_content: signatureOf(whole) } : {};
    items.push({
      item: { id: `rs_fake_${turn}`, type: 'reasoning', summary, ...sealed },
      pieces: thinking,
      call: false,
    });
  }
  if (text.length > 0 || stop === 'refusal') {
    items.push({ item: messageItem(answer), pieces: text.length > 0 ? text : [REFUSAL], call: false });
  }
  return [...items, ...answer.calls.map((call, index) => callItem(call, `fc_fake_${turn}_${index + 1}`))];
}

const REFUSAL = 'I cannot help with that.';

function messageItem({ turn, text, stop }: Answer): JsonObject {
  const said = text.join('');
  const part =
    stop === 'refusal'
      ? { type: 'refusal', refusal: said || REFUSAL }
      : { type: 'output_text', text: said, annotations: [], logprobs: [] };
  return { id: `msg_fake_${turn}`, type: 'message', status: 'completed', role: 'assistant', content: [part] };
}

function callItem(call: AnswerCall, id: string): Item {
  const item = {
    id,
    type: 'function_call',
    status: 'completed',
    call_id: call.id,
    name: call.name,
    arguments: call.arguments.join(''),
  };
  return { item, pieces: call.arguments, call: true };
}

/** What announces an item, fills it and ends it. */
function itemEvents(item: JsonObject, pieces: readonly string[], index: number): readonly JsonObject[] {
  const at = { output_index: index };
  const place = { item_id: item['id'], ...at };
  const done = { type: 'response.output_item.done', ...at, item };
  const added = (fields: JsonObject) => ({
    type: 'response.output_item.added',
    ...at,
    item: { ...item, ...fields },
  });
  switch (item['type']) {
    case 'function_call': {
      const kind = 'response.function_call_arguments';
      return [
        added({ status: 'in_progress', arguments: '' }),
        ...pieces.map((delta) => ({ type: `${kind}.delta`, ...place, delta })),
        { type: `${kind}.done`, ...place, arguments: item['arguments'] },
        done,
      ];
    }
    case 'reasoning': {
      const part = { ...place, summary_index: 0 };
      const kind = 'response.reasoning_summary';
      const text = pieces.join('');
      return [
        added({ summary: [] }),
        { type: `${kind}_part.added`, ...part, part: { type: 'summary_text', text: '' } },
        ...pieces.map((delta) => ({ type: `${kind}_text.delta`, ...part, delta })),
        { type: `${kind}_text.done`, ...part, text },
        { type: `${kind}_part.done`, ...part, part: { type: 'summary_text', text } },
        done,
      ];
    }
    default:
      return [added({ status: 'in_progress', content: [] }), ...partEvents(item, pieces, place), done];
  }
}

function partEvents(item: JsonObject, pieces: readonly string[], place: JsonObject): readonly JsonObject[] {
  const [part] = item['content'] as readonly [JsonObject];
  const field = part['type'] === 'refusal' ? 'refusal' : 'text';
  const kind = field === 'refusal' ? 'response.refusal' : 'response.output_text';
  const at = { ...place, content_index: 0 };
  return [
    { type: 'response.content_part.added', ...at, part: { ...part, [field]: '' } },
    ...pieces.map((delta) => ({ type: `${kind}.delta`, ...at, delta })),
    { type: `${kind}.done`, ...at, [field]: part[field] },
    { type: 'response.content_part.done', ...at, part },
  ];
}

function ending(answer: Answer, asked: Asked, items: readonly Item[]): JsonObject {
  const short = answer.stop === 'length';
  const status = short ? 'incomplete' : 'completed';
  const output = items.map(({ item }) => item);
  const details = short ? { incomplete_details: { reason: 'max_output_tokens' } } : {};
  const whole = response(answer, asked, { status, output, usage: usageOf(answer), ...details });
  return { type: `response.${status}`, response: whole };
}

function response({ turn }: Answer, { model, body }: Asked, fields: JsonObject): JsonObject {
  return {
    id: `resp_fake_${turn}`,
    object: 'response',
    created_at: CREATED,
    model,
    error: null,
    incomplete_details: null,
    instructions: body['instructions'] ?? null,
    parallel_tool_calls: true,
    tools: [],
    ...fields,
  };
}

/** On this wire, input tokens include what came from the cache. */
function usageOf({ usage, thinking }: Answer): JsonObject {
  const input = usage.input + usage.cacheRead + usage.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: thinking.length > 0 ? Math.floor(usage.output / 2) : 0 },
    total_tokens: input + usage.output,
  };
}
