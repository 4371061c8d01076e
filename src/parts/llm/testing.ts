// What the tests of this room share: a provider on loopback that does what it is told, and small requests.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Clock } from '../../core/host.ts';
import type { AssistantMessage, Message } from '../../core/message.ts';
import type { Model, ModelChunk, ModelRequest } from '../../core/model.ts';
import { NO_SETTINGS } from '../../core/settings.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { createCredentials } from '../auth/credentials.ts';
import { createModels, type ModelsOptions } from './models.ts';
import { PROVIDERS } from './providers.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface Loopback extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** Sockets that were accepted so far. */
  connections(): number;
}

/** `answer` is called with each request once its body is there; `turn` counts from 0. */
export async function serve(
  answer: (response: ServerResponse, request: Received, turn: number) => void,
): Promise<Loopback> {
  const received: Received[] = [];
  let accepted = 0;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url: path = '', headers } = request;
      const entry = { method, path, headers, body: Buffer.concat(chunks).toString() };
      received.push(entry);
      answer(response, entry, received.length - 1);
    });
  });
  server.on('connection', () => accepted++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    received,
    connections: () => accepted,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Sleeps take no time and are written down. */
export function instantClock(slept: number[] = []): Clock {
  return {
    now: () => Date.UTC(2026, 0, 1),
    monotonic: () => performance.now(),
    sleep: async (milliseconds, signal) => {
      signal?.throwIfAborted();
      slept.push(milliseconds);
    },
  };
}

/** All providers, with nobody at the usual addresses of this machine: what happens to run there is no part of a test. */
const ALONE = PROVIDERS.map((row) => (row.local ? { ...row, baseUrl: 'http://127.0.0.1:1/v1' } : row));

export function testModels(options: Partial<ModelsOptions> = {}): ReturnType<typeof createModels> {
  const env = options.env ?? {};
  return createModels({
    env,
    credentials: createCredentials({ env }),
    settings: NO_SETTINGS,
    clock: instantClock(),
    random: () => 0.5,
    userAgent: 'crab/test',
    providers: ALONE,
    ...options,
  });
}

export function anthropicAt(url: string, options: Partial<ModelsOptions> = {}): Promise<Model> {
  const env = { ANTHROPIC_API_KEY: 'sk-ant-secret', ANTHROPIC_BASE_URL: url, ...options.env };
  return testModels({ ...options, env }).resolve('anthropic/claude-test');
}

export function openaiAt(url: string, options: Partial<ModelsOptions> = {}): Promise<Model> {
  const env = { OPENAI_API_KEY: 'sk-secret', OPENAI_BASE_URL: url, ...options.env };
  return testModels({ ...options, env }).resolve('openai/local-test');
}

export function modelRequest(fields: Partial<ModelRequest> = {}): ModelRequest {
  return { model: 'test', system: '', messages: [user('Hi')], tools: [], maxTokens: 1000, ...fields };
}

export function user(content: string): Message {
  return { role: 'user', content, timestamp: 0 };
}

export function assistant(
  content: AssistantMessage['content'],
  fields: Partial<AssistantMessage> = {},
): AssistantMessage {
  return {
    role: 'assistant',
    content,
    api: 'anthropic-messages',
    provider: 'anthropic',
    model: 'claude-test',
    usage: NO_USAGE,
    stopReason: 'stop',
    timestamp: 0,
    ...fields,
  };
}

export async function batches(
  model: Model,
  request: ModelRequest = modelRequest(),
  signal: AbortSignal = new AbortController().signal,
): Promise<(readonly ModelChunk[])[]> {
  const all: (readonly ModelChunk[])[] = [];
  for await (const batch of model.stream(request, signal)) all.push(batch);
  return all;
}

export async function chunks(...args: Parameters<typeof batches>): Promise<ModelChunk[]> {
  return (await batches(...args)).flat();
}

/** A failure as plain data, for whole-object comparison. */
export function outcome(chunk: ModelChunk | undefined): unknown {
  if (chunk?.type !== 'failure') return chunk;
  const { code, message, status, retryable } = chunk.error;
  return { code, message, ...(status !== undefined && { status }), retryable };
}

export function sse(...events: readonly (object | string)[]): string {
  return events
    .map((event) => {
      if (typeof event === 'string') return `data: ${event}\n\n`;
      const { type } = event as { type?: string };
      return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');
}

export function sendStream(response: ServerResponse, text: string): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(text);
}

export const ANTHROPIC_HELLO = sse(
  {
    type: 'message_start',
    message: { id: 'msg_1', model: 'claude-test', usage: { input_tokens: 10, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hello' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
  { type: 'message_stop' },
);

export const OPENAI_HELLO = sse(
  { id: 'c1', model: 'local-test', choices: [{ delta: { role: 'assistant', content: 'Hello' } }] },
  { id: 'c1', choices: [{ delta: {}, finish_reason: 'stop' }] },
  { id: 'c1', choices: [], usage: { prompt_tokens: 10, completion_tokens: 3 } },
  '[DONE]',
);

export function helloChunks(id: string, model: string): ModelChunk[] {
  return [
    { type: 'messageStart', id, model },
    { type: 'contentDelta', index: 0, delta: 'Hello' },
    { type: 'contentBlockStop', index: 0 },
    { type: 'end', stopReason: 'stop', tokens: { input: 10, output: 3, cacheRead: 0, cacheWrite: 0 } },
  ];
}
