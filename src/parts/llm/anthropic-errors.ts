// Error bodies and `error` events of Anthropic (platform.claude.com/docs/en/api/errors):
// {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}.

import type { ErrorCode } from '../../core/errors.ts';
import type { Complaint } from './wire.ts';

interface Meaning {
  readonly code: ErrorCode;
  /** The status that the API gives this type when it can still give one. */
  readonly status: number;
}

const MEANINGS: Readonly<Record<string, Meaning>> = {
  invalid_request_error: { code: 'provider-request', status: 400 },
  authentication_error: { code: 'auth-refused', status: 401 },
  billing_error: { code: 'quota-exhausted', status: 402 },
  permission_error: { code: 'auth-refused', status: 403 },
  not_found_error: { code: 'provider-request', status: 404 },
  request_too_large: { code: 'context-overflow', status: 413 },
  rate_limit_error: { code: 'rate-limited', status: 429 },
  api_error: { code: 'provider-failed', status: 500 },
  timeout_error: { code: 'provider-failed', status: 504 },
  overloaded_error: { code: 'provider-overloaded', status: 529 },
};

export function explain(body: unknown): Complaint | undefined {
  // Google Cloud puts its errors in a list.
  const [first] = Array.isArray(body) ? body : [body];
  const error = (first as { error?: unknown } | null | undefined)?.error;
  if (typeof error === 'string') return { message: error };
  if (typeof error !== 'object' || error === null) return undefined;
  const { type, message } = error as { type?: unknown; message?: unknown };
  const said = { message: typeof message === 'string' ? message : '' };
  if (typeof type !== 'string') return said;
  return { ...said, type, ...(Object.hasOwn(MEANINGS, type) && MEANINGS[type]) };
}
