// Reads the streams of the later wires back, as `strict-sse.ts` does those of the first two: from the vendors'
// documentation, throwing at whatever the real providers would never send.

import assert from 'node:assert/strict';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { blocks, type Heard, namedEvents, readAnthropicEvents } from './strict-sse.ts';

type Json = Record<string, unknown>;

const text = new TextDecoder();
const codec = new EventStreamCodec(
  (bytes) => text.decode(typeof bytes === 'string' ? Buffer.from(bytes) : bytes),
  (string) => Buffer.from(string),
);

/** Every frame, with its checksums verified by Amazon's own codec. */
export function readFrames(stream: Uint8Array): readonly { headers: Json; payload: Json }[] {
  const frames: { headers: Json; payload: Json }[] = [];
  const view = new DataView(stream.buffer, stream.byteOffset, stream.length);
  for (let at = 0; at < stream.length; at += view.getUint32(at)) {
    const { headers, body } = codec.decode(stream.subarray(at, at + view.getUint32(at)));
    const values = Object.entries(headers).map(([name, { value }]) => [name, value]);
    frames.push({ headers: Object.fromEntries(values), payload: JSON.parse(text.decode(body)) as Json });
  }
  return frames;
}

export function readBedrock(stream: Uint8Array): Heard {
  const events = readFrames(stream).map(({ headers, payload }) => {
    assert.deepEqual(headers, {
      ':event-type': 'chunk',
      ':content-type': 'application/json',
      ':message-type': 'event',
    });
    return JSON.parse(Buffer.from(String(payload['bytes']), 'base64').toString()) as Json;
  });
  const metrics = events.at(-1)?.['amazon-bedrock-invocationMetrics'] as Json;
  assert.equal(typeof metrics['inputTokenCount'], 'number');
  return readAnthropicEvents(events);
}

interface Item {
  readonly item: Json;
  said: string;
  deltas: number;
}

export function readResponses(stream: string): Heard {
  const events = namedEvents(stream);
  for (const [at, event] of events.entries()) assert.equal(event['sequence_number'], at);
  const [created, progress] = events;
  const last = events.at(-1) ?? {};
  assert.equal(created?.['type'], 'response.created');
  assert.equal(progress?.['type'], 'response.in_progress');
  const whole = last['response'] as Json & { status: string; output: Json[] };
  assert.equal(last['type'], `response.${whole.status}`);
  const items = readItems(events.slice(2, -1));
  assert.deepEqual(
    items.map(({ item }) => item),
    whole.output,
  );
  const of = (type: string) => items.filter(({ item }) => item['type'] === type);
  const joined = (type: string) =>
    of(type)
      .map(({ said }) => said)
      .join('');
  const refused = of('message').some(({ item }) => JSON.stringify(item).includes('"type":"refusal"'));
  return {
    model: whole['model'],
    thinking: joined('reasoning'),
    signature: String(of('reasoning')[0]?.item['encrypted_content'] ?? ''),
    text: joined('message'),
    deltas: of('message').reduce((sum, { deltas }) => sum + deltas, 0),
    calls: of('function_call').map(({ item }) => ({
      id: String(item['call_id']),
      name: String(item['name']),
      json: String(item['arguments']),
    })),
    stop: refused ? 'refusal' : whole.status,
    usage: whole['usage'],
  };
}

/** Items come one after the other, each between its `added` and its `done`, and say in pieces what they are in the end. */
function readItems(events: readonly Json[]): readonly Item[] {
  const done: Item[] = [];
  let open: { said: string; deltas: number; id: unknown } | undefined;
  for (const event of events) {
    const type = String(event['type']);
    assert.equal(event['output_index'], done.length);
    const item = event['item'] as Json;
    if (type === 'response.output_item.added') {
      assert.equal(open, undefined, 'an item begins in another');
      open = { said: '', deltas: 0, id: item['id'] };
      continue;
    }
    assert.ok(open, 'no item is open');
    if (type === 'response.output_item.done') {
      assert.equal(item['id'], open.id);
      done.push({ item, said: open.said, deltas: open.deltas });
      open = undefined;
      continue;
    }
    assert.equal(event['item_id'], open.id);
    if (type.endsWith('.delta')) {
      open.said += String(event['delta']);
      open.deltas++;
    }
    if (/(?:text|refusal|arguments)\.done$/.test(type)) {
      assert.equal(event['text'] ?? event['refusal'] ?? event['arguments'], open.said);
    }
  }
  assert.equal(open, undefined, 'the last item is open');
  return done;
}

export function readGemini(stream: string): Heard {
  const chunks = blocks(stream.replaceAll('\r\n', '\n')).map(({ event, data }) => {
    assert.equal(event, undefined);
    return JSON.parse(data) as Json & { candidates: Json[] };
  });
  const heard = { thinking: '', text: '', deltas: 0, stop: undefined as unknown };
  const calls: { id: string; name: string; json: string }[] = [];
  let signature = '';
  for (const [at, chunk] of chunks.entries()) {
    const [candidate = {}] = chunk.candidates;
    const content = candidate['content'] as { role: string; parts: Json[] };
    assert.equal(content.role, 'model');
    assert.equal(candidate['finishReason'] !== undefined, at === chunks.length - 1);
    heard.stop = candidate['finishReason'];
    for (const part of content.parts) {
      signature += part['thoughtSignature'] ?? '';
      const call = part['functionCall'] as Json | undefined;
      if (call !== undefined) {
        const { id, name, args } = call as { id: string; name: string; args: unknown };
        calls.push({ id, name, json: JSON.stringify(args) });
      } else if (part['thought'] === true) heard.thinking += part['text'];
      else {
        heard.text += part['text'];
        if (part['text'] !== '') heard.deltas++;
      }
    }
  }
  const last = chunks.at(-1);
  return { ...heard, model: last?.['modelVersion'], signature, calls, usage: last?.['usageMetadata'] };
}
