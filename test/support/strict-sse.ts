// Reads the streams of the first two wires back, and throws at whatever the real providers would never send. Written
// from their documentation and not from our own reader or writer, so that it can judge both.

import assert from 'node:assert/strict';

type Json = Record<string, unknown>;

export interface Heard {
  readonly model: unknown;
  readonly thinking: string;
  readonly signature: string;
  readonly text: string;
  /** How many deltas the text came in. */
  readonly deltas: number;
  readonly calls: readonly { readonly id: string; readonly name: string; readonly json: string }[];
  readonly stop: unknown;
  readonly usage: unknown;
}

export function readAnthropic(stream: string): Heard {
  const [start = {}, ping, ...rest] = namedEvents(stream);
  assert.deepEqual(ping, { type: 'ping' });
  return readAnthropicEvents([start, ...rest]);
}

/** As Vertex sends them. */
export function readAnthropicUnpinged(stream: string): Heard {
  return readAnthropicEvents(namedEvents(stream));
}

/** Events that are named after their type. */
export function namedEvents(stream: string): readonly Json[] {
  return blocks(stream).map(({ event, data }) => {
    const json = JSON.parse(data) as Json;
    assert.equal(event, json['type']);
    return json;
  });
}

export function readAnthropicEvents(events: readonly Json[]): Heard {
  const [start = {}] = events;
  assert.equal(start['type'], 'message_start');
  assert.equal(events.at(-1)?.['type'], 'message_stop');
  const closing = events.at(-2) as { type: string; delta: Json; usage: Json };
  assert.equal(closing.type, 'message_delta');
  const message = start['message'] as Json;
  const contents = readBlocks(events.slice(1, -2));
  const of = (type: string) => contents.filter((block) => block.type === type);
  return {
    model: message['model'],
    thinking: of('thinking')
      .map((block) => block.said)
      .join(''),
    signature: of('thinking')
      .map((block) => block.signature)
      .join(''),
    text: of('text')
      .map((block) => block.said)
      .join(''),
    deltas: of('text').reduce((sum, block) => sum + block.deltas, 0),
    calls: of('tool_use').map((block) => ({ id: block.id, name: block.name, json: block.said })),
    stop: closing.delta['stop_reason'],
    usage: { ...(message['usage'] as Json), ...closing.usage },
  };
}

interface Block {
  readonly type: string;
  readonly id: string;
  readonly name: string;
  said: string;
  signature: string;
  deltas: number;
}

const DELTA_FIELDS: Record<string, Record<string, string>> = {
  text: { text_delta: 'text' },
  thinking: { thinking_delta: 'thinking', signature_delta: 'signature' },
  tool_use: { input_json_delta: 'partial_json' },
};

/** Blocks come one after the other, with indexes from 0. */
function readBlocks(events: readonly Json[]): readonly Block[] {
  const done: Block[] = [];
  let open: Block | undefined;
  for (const event of events) {
    assert.equal(event['index'], done.length);
    if (event['type'] === 'content_block_start') {
      assert.equal(open, undefined, 'a block starts in another');
      const { type, id = '', name = '' } = event['content_block'] as Record<string, string>;
      assert.ok(type !== undefined && type in DELTA_FIELDS, `unknown block ${type}`);
      open = { type, id, name, said: '', signature: '', deltas: 0 };
      continue;
    }
    assert.ok(open, 'no block is open');
    if (event['type'] === 'content_block_stop') {
      done.push(open);
      open = undefined;
      continue;
    }
    assert.equal(event['type'], 'content_block_delta');
    const delta = event['delta'] as Record<string, string>;
    const field = DELTA_FIELDS[open.type]?.[delta['type'] ?? ''];
    assert.ok(field, `a ${open.type} block has no ${delta['type']}`);
    const piece = delta[field];
    assert.equal(typeof piece, 'string');
    if (field === 'signature') open.signature += piece;
    else {
      open.said += piece;
      open.deltas++;
    }
  }
  assert.equal(open, undefined, 'the last block is open');
  return done;
}

export function readOpenai(stream: string): Heard {
  const parts = blocks(stream).map(({ event, data }) => {
    assert.equal(event, undefined);
    return data;
  });
  assert.equal(parts.pop(), '[DONE]');
  const chunks = parts.map((data) => JSON.parse(data) as Json & { choices: Json[]; usage?: Json | null });
  for (const chunk of chunks) assert.equal(chunk['object'], 'chat.completion.chunk');
  const withUsage = chunks.at(-1)?.choices.length === 0 ? chunks.pop() : undefined;
  const calls: { id: string; name: string; json: string }[] = [];
  const heard = { thinking: '', text: '', deltas: 0, stop: undefined as unknown };
  for (const [at, { choices, usage }] of chunks.entries()) {
    assert.equal(usage, withUsage ? null : undefined);
    assert.equal(choices.length, 1);
    const { index, delta, finish_reason } = choices[0] as {
      index: number;
      delta: Json;
      finish_reason: unknown;
    };
    assert.equal(index, 0);
    assert.equal(delta['role'], at === 0 ? 'assistant' : undefined);
    assert.equal(
      finish_reason !== null,
      at === chunks.length - 1,
      'only the last choice has a finish reason',
    );
    heard.stop = finish_reason;
    heard.thinking += delta['reasoning_content'] ?? '';
    heard.text += delta['content'] ?? '';
    if (at > 0 && delta['content'] !== undefined) heard.deltas++;
    for (const call of (delta['tool_calls'] ?? []) as Json[]) readCallDelta(calls, call);
  }
  return { ...heard, model: chunks[0]?.['model'], signature: '', calls, usage: withUsage?.usage };
}

function readCallDelta(calls: { id: string; name: string; json: string }[], delta: Json): void {
  const named = delta['function'] as { name?: string; arguments: string };
  if (delta['index'] === calls.length) {
    assert.equal(delta['type'], 'function');
    assert.ok(delta['id'] && named.name, 'a call begins without id or name');
    calls.push({ id: String(delta['id']), name: named.name, json: named.arguments });
    return;
  }
  assert.equal(delta['index'], calls.length - 1);
  const last = calls.at(-1);
  assert.ok(last);
  last.json += named.arguments;
}

/** Blocks of `event:` and `data:` lines, each closed by an empty line, and nothing else. */
export function blocks(
  stream: string,
): readonly { readonly event: string | undefined; readonly data: string }[] {
  assert.ok(stream.endsWith('\n\n'), 'the stream ends in the middle of a block');
  return stream
    .slice(0, -2)
    .split('\n\n')
    .map((block) => {
      const match = /^(?:event: ([\w.]+)\n)?data: (.*)$/.exec(block);
      assert.ok(match, `not an event: ${block.slice(0, 100)}`);
      return { event: match[1], data: match[2] ?? '' };
    });
}
