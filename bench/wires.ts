// What each wire costs by itself: an answer of many deltas, in the reads that a socket brings, against a bare reader of
// the same bytes that only cuts lines, parses them and takes the text; and the time to load its chunk of the build.

import { execFileSync } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { ModelChunk } from '../src/core/model.ts';
import { AnthropicDecoder } from '../src/parts/llm/anthropic-answer.ts';
import { GeminiDecoder } from '../src/parts/llm/gemini-answer.ts';
import { OpenAiDecoder } from '../src/parts/llm/openai-answer.ts';
import { ResponsesDecoder } from '../src/parts/llm/openai-responses-answer.ts';
import { SseParser } from '../src/parts/llm/sse.ts';
import type { AnswerDecoder } from '../src/parts/llm/wire.ts';
import { chunkFile } from '../test/support/chunks.ts';
import type { Outcome } from './report.ts';
import { median } from './statistics.ts';

const DIST = fileURLToPath(new URL('../dist', import.meta.url));
const READ_BYTES = 16 * 1024;
const MAX_RATIO = 2;
const MAX_LOAD_MS = 15;

export interface BenchedWire {
  readonly name: string;
  /** The chunk of the build that holds it. */
  readonly chunk: string;
  decoder(): AnswerDecoder;
  /** The event for one delta, with all that the vendor sends along. */
  delta(text: string, at: number): object;
  /** The text in such an event. */
  textIn(event: never): string;
}

const id = (sent: string | undefined) => sent ?? 'call';

export const WIRES: readonly BenchedWire[] = [
  {
    name: 'anthropic-messages',
    chunk: 'anthropic.js',
    decoder: () => new AnthropicDecoder(id),
    delta: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    textIn: (event: { delta: { text: string } }) => event.delta.text,
  },
  {
    name: 'openai-completions',
    chunk: 'openai-chat.js',
    decoder: () => new OpenAiDecoder({ callId: id, quirks: {}, tools: [] }),
    delta: (content) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'gpt-5.1',
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    }),
    textIn: (event: { choices: [{ delta: { content: string } }] }) => event.choices[0].delta.content,
  },
  {
    name: 'openai-responses',
    chunk: 'openai-responses.js',
    decoder: () => new ResponsesDecoder(id),
    delta: (delta, at) => ({
      type: 'response.output_text.delta',
      sequence_number: at + 1,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta,
      logprobs: [],
      obfuscation: 'abcdefgh',
    }),
    textIn: (event: { delta: string }) => event.delta,
  },
  {
    name: 'google-generative-ai',
    chunk: 'gemini.js',
    decoder: () => new GeminiDecoder(id),
    delta: (text) => ({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0 }],
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 3, totalTokenCount: 13 },
      modelVersion: 'gemini-4-argon',
      responseId: 'r1',
    }),
    textIn: (event: { candidates: [{ content: { parts: [{ text: string }] } }] }) =>
      event.candidates[0].content.parts[0].text,
  },
];

/** An answer of `count` deltas, cut into reads. */
export function readsOf(wire: BenchedWire, count: number): readonly Buffer[] {
  const events = Array.from({ length: count }, (_, at) => {
    return `data: ${JSON.stringify(wire.delta(`piece ${String(at).padStart(5, '0')} of it\n`, at))}\n\n`;
  });
  const bytes = Buffer.from(events.join(''));
  const reads: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += READ_BYTES) reads.push(bytes.subarray(at, at + READ_BYTES));
  return reads;
}

/** The text of an answer, as the wire reads it. */
export function readByWire(wire: BenchedWire, reads: readonly Buffer[]): string {
  const parser = new SseParser();
  const decoder = wire.decoder();
  let text = '';
  for (const read of reads) {
    const out: ModelChunk[] = [];
    for (const event of parser.push([read])) decoder.decode(event, out);
    for (const chunk of out) if (chunk.type === 'contentDelta') text += chunk.delta;
  }
  return text;
}

/** The same by the shortest way there is. */
export function readBare(wire: BenchedWire, reads: readonly Buffer[]): string {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let said = '';
  for (const read of reads) {
    const text = rest + decoder.write(read);
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      if (text.startsWith('data: ', start))
        said += wire.textIn(JSON.parse(text.slice(start + 6, end)) as never);
      start = end + 1;
    }
    rest = text.slice(start);
  }
  return said;
}

function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function deltas(wire: BenchedWire, count: number, rounds: number): Outcome {
  const reads = readsOf(wire, count);
  const [ours, bare]: [number[], number[]] = [[], []];
  // The first rounds are for the compiler.
  for (let round = -3; round < rounds; round++) {
    const mine = cpuMs(() => readByWire(wire, reads));
    const floor = cpuMs(() => readBare(wire, reads));
    if (round < 0) continue;
    ours.push(mine);
    bare.push(floor);
  }
  const [value, against] = [median(ours), median(bare)];
  const judged = value / against;
  return {
    ...{ name: `${wire.name}: ${count} deltas, CPU`, kind: 'crab', unit: 'ms', value, against, judged },
    ...{ bar: MAX_RATIO, met: judged <= MAX_RATIO },
  };
}

const LOAD = 'const t=performance.now();import(process.argv[1]).then(()=>console.log(performance.now()-t))';

function load(wire: BenchedWire, rounds: number): Outcome {
  const url = pathToFileURL(chunkFile(DIST, wire.chunk)).href;
  const times = Array.from({ length: rounds }, () =>
    Number(execFileSync(process.execPath, ['-e', LOAD, url], { encoding: 'utf8' })),
  );
  const value = median(times);
  return {
    ...{ name: `${wire.name}: load`, kind: 'crab', unit: 'ms', value, judged: value },
    ...{ bar: MAX_LOAD_MS, met: value <= MAX_LOAD_MS },
  };
}

export function benchWires(count: number, rounds: number): readonly Outcome[] {
  return WIRES.flatMap((wire) => [deltas(wire, count, rounds), load(wire, rounds)]);
}
