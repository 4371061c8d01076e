// Error bodies and error events of OpenAI (platform.openai.com/docs/guides/error-codes):
// {"error":{"message":"…","type":"invalid_request_error","code":"context_length_exceeded"}}. Imitators put a
// status into `code`, leave out the outer object, or send a bare string.

import type { ErrorCode } from '../../core/errors.ts';
import type { Complaint } from './wire.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  invalid_api_key: 'auth-refused',
  insufficient_quota: 'quota-exhausted',
  rate_limit_exceeded: 'rate-limited',
  context_length_exceeded: 'context-overflow',
  content_filter: 'content-refused',
  content_policy_violation: 'content-refused',
  server_error: 'provider-failed',
  invalid_request_error: 'provider-request',
};

export function explain(body: unknown): Complaint | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const outer = body as { error?: unknown; message?: unknown; detail?: unknown };
  if (typeof outer.error === 'string') return { message: outer.error };
  const error = (outer.error ?? outer) as { message?: unknown; code?: unknown; type?: unknown };
  const message = [error.message, outer.message, outer.detail].find((text) => typeof text === 'string');
  if (message === undefined && outer.error === undefined) return undefined;
  const named = [error.code, error.type].filter((name): name is string => typeof name === 'string');
  const known = named.find((name) => Object.hasOwn(CODES, name));
  const type = known ?? named[0];
  const status = Number(error.code ?? Number.NaN);
  return {
    message: typeof message === 'string' ? message : '',
    ...(type !== undefined && { type }),
    ...(known !== undefined && { code: CODES[known] }),
    ...(status >= 400 && status < 600 && { status }),
  };
}
