// Error bodies of Google's APIs, which also arrive as events (google.rpc.Status, cloud.google.com/apis/design/errors):
// {"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"…","details":[{"@type":"…RetryInfo","retryDelay":"34s"}]}}.

import type { ErrorCode } from '../../core/errors.ts';
import type { Complaint } from './wire.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  UNAUTHENTICATED: 'auth-refused',
  PERMISSION_DENIED: 'auth-refused',
  RESOURCE_EXHAUSTED: 'rate-limited',
  INVALID_ARGUMENT: 'provider-request',
  FAILED_PRECONDITION: 'provider-request',
  OUT_OF_RANGE: 'provider-request',
  NOT_FOUND: 'provider-request',
  UNAVAILABLE: 'provider-overloaded',
  DEADLINE_EXCEEDED: 'provider-failed',
  INTERNAL: 'provider-failed',
  UNKNOWN: 'provider-failed',
  ABORTED: 'provider-failed',
  CANCELLED: 'provider-failed',
};

const TOO_LONG = /input token count.* exceeds the maximum number of tokens/i;

interface Detail {
  readonly reason?: unknown;
  readonly retryDelay?: unknown;
  readonly violations?: unknown;
}

export function explain(body: unknown): Complaint | undefined {
  // Without event framing an answer is a list, also one that failed.
  const whole: unknown = Array.isArray(body) ? body[0] : body;
  const error = (whole as { error?: unknown } | null | undefined)?.error;
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, message, status, details } = error as Readonly<Record<string, unknown>>;
  const text = typeof message === 'string' ? message : '';
  const name = typeof status === 'string' ? status : undefined;
  const known = Array.isArray(details) ? details.filter(isDetail) : [];
  const meaning = meaningOf(name, text, known);
  const wait = meaning === 'rate-limited' ? waitIn(known) : undefined;
  return {
    message: text,
    ...(name !== undefined && { type: name }),
    ...(meaning !== undefined && { code: meaning }),
    ...(typeof code === 'number' && code >= 400 && code < 600 && { status: code }),
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
}

function isDetail(value: unknown): value is Detail {
  return typeof value === 'object' && value !== null;
}

function meaningOf(
  status: string | undefined,
  message: string,
  details: readonly Detail[],
): ErrorCode | undefined {
  if (details.some(({ reason }) => reason === 'API_KEY_INVALID')) return 'auth-refused';
  if (TOO_LONG.test(message)) return 'context-overflow';
  // The wait that goes with it is too short by hours.
  if (status === 'RESOURCE_EXHAUSTED' && details.some(isOfTheDay)) return 'quota-exhausted';
  return status !== undefined && Object.hasOwn(CODES, status) ? CODES[status] : undefined;
}

/** `GenerateRequestsPerDayPerProjectPerModel` and its like. */
function isOfTheDay({ violations }: Detail): boolean {
  return Array.isArray(violations) && violations.some((one) => /PerDay/.test(String(one?.quotaId)));
}

/** `34s`, `1.5s`. */
function waitIn(details: readonly Detail[]): number | undefined {
  for (const { retryDelay } of details) {
    const seconds = typeof retryDelay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(retryDelay)?.[1] : undefined;
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  return undefined;
}
