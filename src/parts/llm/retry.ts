// When a failed request is sent again, and after how long: exponential backoff with full jitter
// (aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter), never sooner than the provider asked.

import type { IncomingHttpHeaders } from 'node:http';
import { CrabError } from '../../core/errors.ts';
import { dateOf } from './rate-limit.ts';

const DEFAULT_RETRIES = 4;
const MAX_RETRIES = 10;

const BASE_MS = 500;
const CAP_MS = 60_000;
const ASKED_CAP_MS = 3_600_000;

/** Milliseconds to wait after the try number `attempt`, counted from 1. */
export function retryDelay(attempt: number, random: () => number, askedMs = 0): number {
  return Math.max(jitter(attempt, random), bounded(askedMs));
}

/** Milliseconds drawn from nothing to a bound that doubles with each attempt. */
export function jitter(attempt: number, random: () => number): number {
  return Math.round(random() * Math.min(CAP_MS, BASE_MS * 2 ** (attempt - 1)));
}

/** What the provider asks for: `retry-after-ms`, or `retry-after` in seconds or as a date. Nonsense is ignored. */
export function retryAfter(headers: IncomingHttpHeaders, now: number): number | undefined {
  const exact = headers['retry-after-ms'];
  if (typeof exact === 'string' && /^\d+(?:\.\d+)?$/.test(exact)) return bounded(Number(exact));
  const text = headers['retry-after']?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d+(?:\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  // An HTTP date begins with the day's name; Date.parse alone would take `-5` or `12x` for one.
  const date = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  // The date is by the other side's clock; ours may be wrong by years.
  return Number.isNaN(date) ? undefined : bounded(date - (dateOf(headers) ?? now));
}

/** `x-should-retry`, with which OpenAI and Anthropic overrule what the status says. */
export function shouldRetry(headers: IncomingHttpHeaders): boolean | undefined {
  const text = headers['x-should-retry'];
  return text === 'true' ? true : text === 'false' ? false : undefined;
}

function bounded(milliseconds: number): number {
  return Math.ceil(Math.min(Math.max(milliseconds, 0), ASKED_CAP_MS));
}

/** The number of retries after the first try: as CRAB_MAX_RETRIES gives it, or else the settings of the provider. */
export function retriesFrom(setting: string | undefined, configured = DEFAULT_RETRIES): number {
  if (setting === undefined || setting === '')
    return Math.min(Math.max(Math.trunc(configured), 0), MAX_RETRIES);
  const retries = /^\d{1,2}$/.test(setting) ? Number(setting) : Number.NaN;
  if (retries >= 0 && retries <= MAX_RETRIES) return retries;
  throw new CrabError('usage', `CRAB_MAX_RETRIES must be a whole number from 0 to ${MAX_RETRIES}.`, {
    hint: `Unset it to get ${DEFAULT_RETRIES}.`,
  });
}
