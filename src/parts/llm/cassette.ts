// A recording of what was said to providers and what they answered, as JSON lines: a header, then one line for each
// exchange in the order in which they ended. Credentials are not in it: of headers only those are kept that are named
// here, and every other text goes through what removes secrets (law 10).

import type { IncomingHttpHeaders } from 'node:http';
import { CrabError, type ErrorCode } from '../../core/errors.ts';

export const CASSETTE_VERSION = 1;

export interface CassetteHeader {
  readonly type: 'cassette';
  readonly version: number;
  /** Milliseconds since the epoch at the beginning. */
  readonly time: number;
  /** Of the random numbers of the run. */
  readonly seed: number;
  /** The id that the run gave its session, where it began one. */
  readonly session?: string;
  /** Variables that decide where requests go. */
  readonly env: Readonly<Record<string, string>>;
}

/** Which model a name came to mean; `name` is null for none. */
export interface CassetteModel {
  readonly type: 'model';
  readonly name: string | null;
  readonly model: string;
}

export interface Exchange {
  readonly type: 'exchange';
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
  };
  readonly sentAt: number;
  /** Absent when none came. */
  readonly answer?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string | readonly string[]>>;
    /** One of the two. */
    readonly text?: string;
    readonly base64?: string;
    /** Bytes of each network read. */
    readonly reads: readonly number[];
  };
  /** How it ended, when not well. */
  readonly failure?: { readonly code: ErrorCode; readonly message: string; readonly retryable: boolean };
  readonly endedAt: number;
}

export interface Cassette {
  readonly header: CassetteHeader;
  readonly models: readonly CassetteModel[];
  readonly exchanges: readonly Exchange[];
}

const REQUEST_HEADERS = /^(?:accept|content-type|anthropic-(?:version|beta)|openai-beta|user-agent)$/;
const ANSWER_HEADERS =
  /^(?:content-(?:type|encoding)|retry-after(?:-ms)?|x-should-retry|request-id|x-request-id|.*ratelimit-.*)$/;

export function keptHeaders<T>(
  headers: Readonly<Record<string, T | undefined>>,
  of: 'request' | 'answer',
): Record<string, T> {
  const kept = of === 'request' ? REQUEST_HEADERS : ANSWER_HEADERS;
  const result: Record<string, T> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && kept.test(name.toLowerCase())) result[name.toLowerCase()] = value;
  return result;
}

/** Throws `CrabError usage`; `name` is what to call the text in errors. */
export function parseCassette(text: string, name: string): Cassette {
  const models: CassetteModel[] = [];
  const exchanges: Exchange[] = [];
  let header: CassetteHeader | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const value = parseLine(line, `${name}:${at + 1}`);
    if (header === undefined) header = headerFrom(value, name);
    else if (value.type === 'model') models.push(value as CassetteModel);
    else if (value.type === 'exchange' && isExchange(value as Partial<Exchange>))
      exchanges.push(value as Exchange);
    else throw new CrabError('usage', `${name}:${at + 1} is no line of a recording.`);
  }
  if (header === undefined) throw new CrabError('usage', `${name} is empty.`);
  return { header, models, exchanges };
}

function parseLine(line: string, where: string): { readonly type?: unknown } {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new CrabError('usage', `${where} is not a JSON object.`, { hint: 'Name a file that --record made.' });
}

function headerFrom(value: { readonly type?: unknown }, name: string): CassetteHeader {
  const header = value as Partial<CassetteHeader>;
  if (header.type !== 'cassette' || typeof header.time !== 'number' || typeof header.seed !== 'number')
    throw new CrabError('usage', `${name} is no recording.`, { hint: 'Name a file that --record made.' });
  if (header.version !== CASSETTE_VERSION)
    throw new CrabError(
      'usage',
      `${name} is a recording of version ${header.version}; this is ${CASSETTE_VERSION}.`,
    );
  return header as CassetteHeader;
}

function isExchange({ request, sentAt, endedAt }: Partial<Exchange>): boolean {
  return typeof request?.url === 'string' && typeof sentAt === 'number' && typeof endedAt === 'number';
}

export function answerHeaders(headers: IncomingHttpHeaders): Record<string, string | readonly string[]> {
  return keptHeaders<string | readonly string[]>(headers, 'answer');
}
