// The models that a server says it has: `GET /models`, as OpenAI's API and its imitators answer it, and Google's. Each
// adds what it knows under names of its own; whatever is understood becomes facts.

import type { Credential } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { ModelFacts } from '../../core/model.ts';
import type { Price } from '../../core/usage.ts';
import { readText } from './attempt.ts';
import { commonHeaders } from './create-model.ts';
import { below, type Endpoint } from './endpoint.ts';
import { protocolFailure, redirectFailure, statusFailure } from './failure.ts';
import type { Http, HttpRequest } from './http.ts';
import type { ProviderRow } from './provider-row.ts';

/** Whom to ask. */
export interface Server {
  readonly row: ProviderRow;
  readonly endpoint: Endpoint;
  /** Undefined where none is needed. */
  readonly credential: Credential | undefined;
  readonly http: Http;
  readonly userAgent: string;
}

export interface Listed {
  readonly id: string;
  readonly facts: ModelFacts;
}

const LIST_BYTES = 16 * 1024 * 1024;
const HINT = 'Name a model with --model.';

/** Bounds in milliseconds. */
export const LIST_MS = { local: 2_000, remote: 10_000 } as const;

/** What the server lists, in its order. Throws `CrabError`. */
export async function listModels(server: Server, signal: AbortSignal): Promise<readonly Listed[]> {
  const url = below(server.endpoint.baseUrl, '/models');
  const { status, location, text } = await ask(server, { method: 'GET', url }, signal);
  const provider = { name: server.row.name, url, secrets: () => server.credential?.secrets() ?? [] };
  if (status >= 300 && status < 400) throw redirectFailure(provider, status, location);
  if (status !== 200) {
    const { code, message } = statusFailure(provider, status, { message: text });
    throw new CrabError(code, message, { status, hint: HINT });
  }
  const listed = readList(text);
  if (listed === undefined) throw protocolFailure(provider, 'did not answer with a list of models', text);
  return listed;
}

/** The first model of a list that can hold a conversation. Throws `model-unknown` where there is none. */
export function firstOf(listed: readonly Listed[], server: Server): Listed {
  const first = listed.find(({ id }) => canTalk(id)) ?? listed[0];
  if (first !== undefined) return first;
  const { host } = server.endpoint.baseUrl;
  throw new CrabError('model-unknown', `${host} has no model to offer.`, { hint: HINT });
}

/** A name says what a model is for where it is for something else than talking. */
export function canTalk(id: string): boolean {
  return !/embed|rerank|whisper|(?:^|[-/])(?:tts|bge|dall-e|sora|imagen|veo)|-tts|transcri|moderation|realtime|image|audio|babbage|davinci|imagine/i.test(
    id,
  );
}

interface Said {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
}

/** One small question to the server; `signal` bounds it. */
export async function ask(
  { row, credential, http, userAgent }: Server,
  question: Pick<HttpRequest, 'method' | 'url' | 'body'>,
  signal: AbortSignal,
): Promise<Said> {
  const headers: Record<string, string> = { ...commonHeaders(userAgent), ...row.headers };
  if (question.body !== undefined) headers['content-type'] = 'application/json';
  const plain: HttpRequest = { ...question, headers };
  try {
    const entry = await credential?.headers(plain);
    const answer = await http.send({ ...plain, headers: { ...headers, ...entry } }, signal);
    try {
      const text = await readText(answer, LIST_BYTES);
      return { status: answer.status, location: answer.headers.location, text };
    } finally {
      answer.destroy();
    }
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    const text = `${question.url.host} did not list its models in time.`;
    throw new CrabError('provider-stalled', text, { hint: HINT });
  }
}

/** Undefined when it is no list. */
function readList(text: string): readonly Listed[] | undefined {
  const body = parseJson(text);
  const items = isRecord(body) ? (body['data'] ?? body['models']) : body;
  if (!Array.isArray(items)) return undefined;
  const listed: Listed[] = [];
  for (const item of items) {
    if (!isRecord(item)) return undefined;
    const id = item['id'] ?? item['name'];
    if (typeof id !== 'string') return undefined;
    // What could not be named on a command line could do mischief on a terminal.
    if (/^[\x21-\x7e]{1,200}$/.test(id))
      listed.push({ id: id.replace(/^models\//, ''), facts: factsIn(item) });
  }
  return listed;
}

/**
 * What an entry says of its model: `max_model_len` (vLLM), `context_length` and `pricing` (OpenRouter, Together),
 * `context_window` (Groq), `max_context_length` (Mistral, LM Studio), `inputTokenLimit` (Google).
 */
function factsIn(item: Item): ModelFacts {
  const provider = isRecord(item['top_provider']) ? item['top_provider'] : {};
  const contextWindow = count(
    item['max_model_len'] ??
      item['context_length'] ??
      item['context_window'] ??
      item['max_context_length'] ??
      item['inputTokenLimit'],
  );
  const maxOutput = count(
    provider['max_completion_tokens'] ?? item['max_completion_tokens'] ?? item['outputTokenLimit'],
  );
  const price = isRecord(item['pricing']) ? priceIn(item['pricing']) : undefined;
  const parameters = item['supported_parameters'];
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(price !== undefined && { price }),
    ...inputIn(item['architecture']),
    ...(Array.isArray(parameters) && {
      reasoning: parameters.includes('reasoning'),
      structured: parameters.includes('structured_outputs'),
    }),
  };
}

function inputIn(architecture: unknown): Pick<ModelFacts, 'input'> {
  const kinds = isRecord(architecture) ? architecture['input_modalities'] : undefined;
  if (!Array.isArray(kinds)) return {};
  const input: ('image' | 'pdf')[] = [];
  if (kinds.includes('image')) input.push('image');
  if (kinds.includes('file')) input.push('pdf');
  return { input };
}

/** Dollars for one token, as texts. */
function priceIn(pricing: Item): Price | undefined {
  const rate = (field: string) => {
    const value = pricing[field];
    const number = typeof value === 'string' && value !== '' ? Number(value) : value;
    return typeof number === 'number' && number >= 0 && Number.isFinite(number) ? million(number) : undefined;
  };
  const [input, output] = [rate('prompt'), rate('completion')];
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    cacheRead: rate('input_cache_read') ?? input,
    cacheWrite: rate('input_cache_write') ?? input,
  };
}

/** From dollars for a token to dollars for a million, without the noise of the product. */
export function million(rate: number): number {
  return Number((rate * 1e6).toPrecision(12));
}

export type Item = Readonly<Record<string, unknown>>;

export function isRecord(value: unknown): value is Item {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A number of tokens; undefined for what is none. */
export function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
