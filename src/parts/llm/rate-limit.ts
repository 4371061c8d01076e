// What a provider says of its limits in the headers of an answer: Anthropic's `anthropic-ratelimit-*`, the
// `x-ratelimit-*` of OpenAI, Azure, Groq and OpenRouter, and the IETF's draft (draft-ietf-httpapi-ratelimit-headers). A
// value that makes no sense counts as not said.

import type { IncomingHttpHeaders } from 'node:http';
import type { RateLimit } from '../../core/model.ts';

/** One thing that is counted: the headers that tell what is left of it and when there is more. */
interface Counted {
  readonly left: number | undefined;
  readonly resetAt: number | undefined;
}

const REQUESTS = [
  ['anthropic-ratelimit-requests-remaining', 'anthropic-ratelimit-requests-reset'],
  ['x-ratelimit-remaining-requests', 'x-ratelimit-reset-requests'],
  ['x-ratelimit-remaining', 'x-ratelimit-reset'],
  ['ratelimit-remaining', 'ratelimit-reset'],
] as const;

const TOKENS = [
  ['anthropic-ratelimit-tokens-remaining', 'anthropic-ratelimit-tokens-reset'],
  ['anthropic-ratelimit-input-tokens-remaining', 'anthropic-ratelimit-input-tokens-reset'],
  ['anthropic-ratelimit-output-tokens-remaining', 'anthropic-ratelimit-output-tokens-reset'],
  ['x-ratelimit-remaining-tokens', 'x-ratelimit-reset-tokens'],
] as const;

const LONGEST_MS = 31 * 86_400_000;
/** A limit that is lifted within this time is waited for although nobody asked us to. */
const WAIT_MS = 60_000;

/** Undefined when the headers say nothing of limits. `now` is in milliseconds since the epoch. */
export function rateLimitOf(headers: IncomingHttpHeaders, now: number): RateLimit | undefined {
  const clock = { now, there: dateOf(headers) ?? now };
  const read = ([left, reset]: readonly [string, string]): Counted => ({
    left: countOf(headers[left]),
    resetAt: resetOf(headers[reset], clock),
  });
  const requests = scarcest([...REQUESTS.map(read), draftOf(headers, clock)]);
  const tokens = scarcest(TOKENS.map(read));
  const resetAt = nextReset(requests, tokens);
  if (requests.left === undefined && tokens.left === undefined && resetAt === undefined) return undefined;
  return {
    ...(requests.left !== undefined && { remainingRequests: requests.left }),
    ...(tokens.left !== undefined && { remainingTokens: tokens.left }),
    ...(resetAt !== undefined && { resetAt }),
  };
}

/** Milliseconds until a request is worth sending; undefined when that is at once, or too far away to wait for unasked. */
export function holdBack(limit: RateLimit | undefined, now: number): number | undefined {
  return limit?.remainingRequests === 0 ? untilLifted(limit, now) : undefined;
}

/** Milliseconds until what is used up comes back; undefined when nothing is, or when that takes too long. */
export function untilLifted(limit: RateLimit | undefined, now: number): number | undefined {
  if (limit?.resetAt === undefined || (limit.remainingRequests !== 0 && limit.remainingTokens !== 0))
    return undefined;
  const wait = limit.resetAt - now;
  return wait > 0 && wait <= WAIT_MS ? Math.ceil(wait) : undefined;
}

/** The clock of the other side, which its absolute times are meant by. */
export function dateOf({ date }: IncomingHttpHeaders): number | undefined {
  const time = date === undefined ? Number.NaN : Date.parse(date);
  return Number.isNaN(time) ? undefined : time;
}

function scarcest(all: readonly Counted[]): Counted {
  let least: Counted = { left: undefined, resetAt: undefined };
  for (const one of all) {
    const isScarcer = (one.left ?? Number.POSITIVE_INFINITY) < (least.left ?? Number.POSITIVE_INFINITY);
    const isFirst = least.left === undefined && least.resetAt === undefined;
    if (isScarcer || isFirst) least = one;
  }
  return least;
}

/** When what is used up comes back; while nothing is, when the first of them is filled again. */
function nextReset(requests: Counted, tokens: Counted): number | undefined {
  const both = [requests, tokens].filter(({ resetAt }) => resetAt !== undefined);
  const spent = both.filter(({ left }) => left === 0);
  const times = (spent.length > 0 ? spent : both).map(({ resetAt }) => resetAt ?? 0);
  if (times.length === 0) return undefined;
  return spent.length > 0 ? Math.max(...times) : Math.min(...times);
}

/** `ratelimit: "default";r=50;t=30` */
function draftOf(headers: IncomingHttpHeaders, clock: Clocks): Counted {
  const text = headers['ratelimit'];
  if (typeof text !== 'string') return { left: undefined, resetAt: undefined };
  return {
    left: countOf(/;\s*r=(\d+)/.exec(text)?.[1]),
    resetAt: resetOf(/;\s*t=(\d+)/.exec(text)?.[1], clock),
  };
}

function countOf(text: string | string[] | undefined): number | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}

interface Clocks {
  readonly now: number;
  /** What the other side's clock says at this moment. */
  readonly there: number;
}

function resetOf(value: string | string[] | undefined, clocks: Clocks): number | undefined {
  if (typeof value !== 'string') return undefined;
  const wait = waitOf(value.trim(), clocks.there);
  return wait === undefined || wait <= 0 || wait > LONGEST_MS ? undefined : clocks.now + wait;
}

const DURATION = /^(?=\d)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?$/;

/** Milliseconds: from seconds, a time since the epoch in seconds or milliseconds, `1m30.5s`, or a date. */
function waitOf(text: string, there: number): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(text)) {
    const number = Number(text);
    if (number > 1e11) return number - there;
    return number > 1e9 ? number * 1000 - there : number * 1000;
  }
  const [whole, days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0] = DURATION.exec(text) ?? [];
  if (whole !== undefined)
    return (
      (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000 +
      Number(milliseconds)
    );
  const date = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : date - there;
}
