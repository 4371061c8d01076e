// From what went wrong to the one error that says so: HTTP statuses, and complaints in the provider's words. Every text that came from outside is cut, stripped of control characters and of the key (law 10).

import { CrabError, type ErrorCode } from '../../core/errors.ts';
import type { Complaint } from './wire.ts';

/** Whom an error is about, and what must not appear in it. */
export interface Provider {
  readonly name: string;
  readonly url: URL;
  secrets(): readonly string[];
}

const QUOTE_LENGTH = 200;
const COMPLAINT_LENGTH = 500;

// The words of Anthropic, OpenAI, and of the servers that imitate them: llama.cpp, LM Studio, vLLM, Groq.
const OVERFLOW = new RegExp(
  [
    'prompt is too long',
    'context_length_exceeded',
    'maximum context length',
    'input length and `max_tokens` exceed',
    'request_too_large',
    'exceeds the context window',
    'exceeds? the available context size',
    'greater than the context length',
    'reduce the length of the messages',
  ].join('|'),
  'i',
);
const OUT_OF_MONEY = /insufficient_quota|credit balance is too low|exceeded your current quota|billing/i;

export function interrupted(): CrabError {
  return new CrabError('interrupted', 'The request to the model was cancelled.');
}

/** The provider ended a whole answer by refusing to give one. */
export function refused(words = ''): CrabError {
  const reason = words === '' ? '' : `: ${words}`;
  return new CrabError('content-refused', `The model refused to answer${reason || '.'}`);
}

/** What the headers of an answer ask for. */
export interface Wish {
  readonly retryAfterMs?: number | undefined;
  /** Milliseconds until a limit is lifted: what counts where nobody says how long to wait. */
  readonly liftedMs?: number | undefined;
  /** The provider knows better than its status whether another try makes sense. */
  readonly retry?: boolean | undefined;
}

/** An answer whose status is not 2xx. */
export function statusFailure(
  provider: Provider,
  status: number,
  said: Complaint,
  wish: Wish = {},
): CrabError {
  const verb = said.type === undefined ? `answered ${status}` : `answered ${status} (${said.type})`;
  return complaintFailure(provider, verb, { ...said, status }, wish);
}

/** A complaint inside a stream. */
export function streamFailure(provider: Provider, said: Complaint): CrabError {
  const verb = said.type === undefined ? 'reported an error' : `reported ${said.type}`;
  return complaintFailure(provider, verb, said);
}

function complaintFailure(provider: Provider, verb: string, said: Complaint, wish: Wish = {}): CrabError {
  const status = said.status;
  const code = codeOf(status, said);
  const text = quote(provider, said.message, COMPLAINT_LENGTH);
  const message = `${provider.name} ${quote(provider, verb, QUOTE_LENGTH)}${text === '' ? '.' : `: ${text}`}`;
  return new CrabError(code, message, {
    status,
    retryAfterMs: wish.retryAfterMs ?? said.retryAfterMs ?? wish.liftedMs,
    ...(status === 404 && code === 'provider-request' && { hint: NOT_FOUND_HINT }),
    retryable: wish.retry ?? PASSING.has(code),
  });
}

const NOT_FOUND_HINT =
  'Check the model that --model names and the base URL; nothing is there under this name.';

function codeOf(status: number | undefined, said: Complaint): ErrorCode {
  const words = `${said.type ?? ''} ${said.message}`;
  const asked = status === undefined || (status >= 400 && status < 500);
  if (asked && status !== 401 && status !== 429 && OVERFLOW.test(words)) return 'context-overflow';
  // Google words a limit that is lifted in a minute like one that is not, but says when.
  if (asked && said.retryAfterMs === undefined && OUT_OF_MONEY.test(words)) return 'quota-exhausted';
  // That a request was refused or a server failed is all that a status says as well, and more precisely: an
  // overloaded server of OpenAI's calls itself a `server_error` with status 503.
  const isVague = said.code === 'provider-request' || (said.code === 'provider-failed' && !asked);
  if (said.code !== undefined && !isVague) return said.code;
  return status === undefined ? (said.code ?? 'provider-failed') : codeOfStatus(status);
}

function codeOfStatus(status: number): ErrorCode {
  switch (status) {
    case 401:
    case 403:
      return 'auth-refused';
    case 402:
      return 'quota-exhausted';
    case 413:
      return 'context-overflow';
    case 429:
      return 'rate-limited';
    case 503:
    case 529:
      return 'provider-overloaded';
    case 408:
    case 409:
    case 425:
      return 'provider-failed';
  }
  if (status >= 500) return 'provider-failed';
  return status >= 400 ? 'provider-request' : 'provider-protocol';
}

/** Codes for which the same request may succeed a moment later. */
const PASSING: ReadonlySet<ErrorCode> = new Set(['rate-limited', 'provider-overloaded', 'provider-failed']);

export function redirectFailure(provider: Provider, status: number, location: string | undefined): CrabError {
  const where =
    location === undefined ? 'an address that it does not name' : withoutSecrets(location, provider.url);
  const text = `${provider.name} at ${provider.url.host} redirects (${status}) to ${quote(provider, where, QUOTE_LENGTH)}; redirects are not followed.`;
  return new CrabError('provider-protocol', text, { status, hint: 'Set the base URL to the final address.' });
}

function withoutSecrets(location: string, base: URL): string {
  if (!URL.canParse(location, base.href)) return location;
  const url = new URL(location, base);
  return `${url.origin}${url.pathname}`;
}

/** What arrived is not what the wire format promises. */
export function protocolFailure(provider: Provider, what: string, body: string): CrabError {
  const text = quote(provider, body, QUOTE_LENGTH);
  return new CrabError('provider-protocol', `${provider.name} at ${provider.url.host} ${what}: ${text}`);
}

/** Text from outside, made fit to be shown. */
export function quote(provider: Provider, text: string, length: number): string {
  let open = text;
  for (const secret of provider.secrets()) open = open.replaceAll(secret, '[key]');
  const plain = open.replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return plain.length > length ? `${plain.slice(0, length).toWellFormed()}…` : plain;
}
