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
  // llama.cpp
  exceed_context_size_error: 'context-overflow',
  unavailable_error: 'provider-overloaded',
  authentication_error: 'auth-refused',
  // Moonshot
  exceeded_current_quota_error: 'quota-exhausted',
  rate_limit_reached_error: 'rate-limited',
  engine_overloaded_error: 'provider-overloaded',
  // DashScope
  Arrearage: 'quota-exhausted',
  data_inspection_failed: 'content-refused',
  // Z.ai
  1113: 'quota-exhausted',
  1261: 'context-overflow',
  1301: 'content-refused',
  1302: 'rate-limited',
  1305: 'provider-overloaded',
  // Hosts of open models
  tokens_limit_reached: 'context-overflow',
  overloaded: 'provider-overloaded',
};

/** What a `finish_reason` means beside `stop` and `tool_calls`; one that is not here is no reason to worry. */
const ENDINGS: Readonly<Record<string, 'length' | 'refused' | Complaint>> = {
  length: 'length',
  max_tokens: 'length',
  // Mistral
  model_length: 'length',
  content_filter: 'refused',
  // Z.ai
  sensitive: 'refused',
  network_error: {
    message: 'The answer broke off inside the provider.',
    type: 'network_error',
    code: 'provider-failed',
  },
  model_context_window_exceeded: {
    message: 'The conversation is longer than the context window.',
    type: 'model_context_window_exceeded',
    code: 'context-overflow',
  },
  // OpenRouter, Mistral
  error: { message: 'The answer broke off inside the provider.', type: 'error', code: 'provider-failed' },
  // DeepSeek
  insufficient_system_resource: {
    message: 'The answer broke off for want of machines.',
    type: 'insufficient_system_resource',
    code: 'provider-overloaded',
  },
};

export function endingOf(reason: string | undefined): 'length' | 'refused' | Complaint | undefined {
  return reason !== undefined && Object.hasOwn(ENDINGS, reason) ? ENDINGS[reason] : undefined;
}

interface ErrorFields {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly metadata?: unknown;
}

export function explain(body: unknown): Complaint | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const outer = body as { error?: unknown; message?: unknown; detail?: unknown };
  if (typeof outer.error === 'string') return { message: outer.error };
  const error = (outer.error ?? outer) as ErrorFields;
  const said = [error.message, outer.message, outer.detail].map(wordsOf).find((text) => text !== undefined);
  if (said === undefined && outer.error === undefined) return undefined;
  const message = [said, upstream(error)].filter((text) => text !== undefined).join(': ');
  const named = [error.code, error.type].filter((name): name is string => typeof name === 'string');
  const known = named.find((name) => Object.hasOwn(CODES, name));
  const type = known ?? named[0];
  const status = Number(error.code ?? Number.NaN);
  return {
    message,
    ...(type !== undefined && { type }),
    ...(known !== undefined && { code: CODES[known] }),
    ...(status >= 400 && status < 600 && { status }),
  };
}

/** A text, or the list of faults that FastAPI makes of a bad body: `{"loc":["body","tools"],"msg":"…"}`. */
function wordsOf(said: unknown): string | undefined {
  if (typeof said === 'string') return said;
  const list = Array.isArray(said) ? said : (said as { detail?: unknown } | null | undefined)?.detail;
  if (!Array.isArray(list)) return undefined;
  const faults = list.flatMap((fault: { loc?: unknown; msg?: unknown } | null) => {
    if (typeof fault?.msg !== 'string') return [];
    return [Array.isArray(fault.loc) ? `${fault.loc.join('.')}: ${fault.msg}` : fault.msg];
  });
  return faults.length === 0 ? undefined : faults.join('; ');
}

/** What the provider behind a gateway said (OpenRouter). */
function upstream({ metadata }: ErrorFields): string | undefined {
  const { raw } = (metadata ?? {}) as { raw?: unknown };
  return typeof raw === 'string' && raw !== '' ? raw : undefined;
}
