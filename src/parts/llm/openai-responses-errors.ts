// Error bodies, `error` events and failed responses of OpenAI's Responses API. They have the shape of the older API's,
// with codes of their own; the server of ChatGPT's subscriptions says besides when its limit is lifted.

import type { ErrorCode } from '../../core/errors.ts';
import { explain as explainOpenAi } from './openai-errors.ts';
import type { Complaint } from './wire.ts';

interface Meaning {
  readonly code: ErrorCode;
  readonly status?: number;
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  server_is_overloaded: { code: 'provider-overloaded', status: 503 },
  slow_down: { code: 'provider-overloaded', status: 503 },
  rate_limit_exceeded: { code: 'rate-limited', status: 429 },
  usage_limit_reached: { code: 'quota-exhausted', status: 429 },
  usage_not_included: { code: 'quota-exhausted', status: 403 },
  invalid_prompt: { code: 'content-refused', status: 400 },
  bio_policy: { code: 'content-refused', status: 400 },
  cyber_policy: { code: 'content-refused', status: 400 },
  misalignment_policy_violation: { code: 'content-refused', status: 400 },
  image_content_policy_violation: { code: 'content-refused', status: 400 },
};

/** "Please try again in 1.898s", or in 250ms. */
const TRY_AGAIN = /try again in\s+(\d+(?:\.\d+)?)\s*(ms|s)\b/i;

export function explain(body: unknown): Complaint | undefined {
  const said = explainOpenAi(body);
  if (said === undefined) return undefined;
  const name = namesIn(body).find((one) => Object.hasOwn(MEANINGS, one));
  const meaning = name === undefined ? undefined : MEANINGS[name];
  // A limit of the subscription is lifted in hours or days: nothing to wait for.
  const wait = meaning?.code === 'quota-exhausted' ? undefined : waitIn(said.message);
  return {
    ...said,
    ...(name !== undefined && { type: name }),
    ...meaning,
    ...(wait !== undefined && { retryAfterMs: wait }),
  };
}

function namesIn(body: unknown): readonly string[] {
  const error = (body as { error?: unknown }).error ?? body;
  if (typeof error !== 'object' || error === null) return [];
  const { code, type } = error as { code?: unknown; type?: unknown };
  return [code, type].filter((name) => typeof name === 'string');
}

/** An error that arrives within a stream: what the event or the response that failed holds. */
export function explainEvent(error: unknown): Complaint | undefined {
  return explain({ error });
}

function waitIn(message: string): number | undefined {
  const [, amount, unit] = TRY_AGAIN.exec(message) ?? [];
  if (amount === undefined) return undefined;
  return Math.ceil(Number(amount) * (unit?.toLowerCase() === 'ms' ? 1 : 1000));
}
