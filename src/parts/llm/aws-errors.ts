// What Bedrock says of failures: `{"message": …}` with a status, or an exception inside a stream
// (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html).

import type { ErrorCode } from '../../core/errors.ts';
import type { Complaint } from './wire.ts';

interface Meaning {
  readonly code: ErrorCode;
  readonly status: number;
}

/** By the exception's name in lower case: the service writes it both ways. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  accessdeniedexception: { code: 'auth-refused', status: 403 },
  expiredtokenexception: { code: 'auth-refused', status: 403 },
  unrecognizedclientexception: { code: 'auth-refused', status: 403 },
  invalidsignatureexception: { code: 'auth-refused', status: 403 },
  validationexception: { code: 'provider-request', status: 400 },
  resourcenotfoundexception: { code: 'provider-request', status: 404 },
  servicequotaexceededexception: { code: 'quota-exhausted', status: 400 },
  throttlingexception: { code: 'rate-limited', status: 429 },
  modelnotreadyexception: { code: 'provider-overloaded', status: 429 },
  serviceunavailableexception: { code: 'provider-overloaded', status: 503 },
  modelerrorexception: { code: 'provider-failed', status: 424 },
  modelstreamerrorexception: { code: 'provider-failed', status: 424 },
  modeltimeoutexception: { code: 'provider-failed', status: 408 },
  internalserverexception: { code: 'provider-failed', status: 500 },
  internalfailure: { code: 'provider-failed', status: 500 },
};

const TOO_LONG = /too long|too many (?:input )?tokens|exceeds the maximum (?:input|context)/i;

/** Undefined for a body that AWS did not write. */
export function explainAws(body: unknown): Complaint | undefined {
  if (typeof body !== 'object' || body === null || 'error' in body) return undefined;
  const { message, Message, __type: kind } = body as Readonly<Record<string, unknown>>;
  const said = [message, Message].find((text) => typeof text === 'string');
  if (said === undefined && typeof kind !== 'string') return undefined;
  // `com.amazon.coral.service#ThrottlingException`
  return awsComplaint(typeof kind === 'string' ? (kind.split('#').at(-1) ?? '') : '', said ?? '');
}

/** As `explainAws`, for the shape that an exception inside a stream is given: Anthropic's own. */
export function explainException(body: unknown): Complaint | undefined {
  const { type, message } = (body as { error?: { type?: unknown; message?: unknown } } | null)?.error ?? {};
  if (typeof type !== 'string' || !Object.hasOwn(MEANINGS, type.toLowerCase())) return undefined;
  return awsComplaint(type, typeof message === 'string' ? message : '');
}

function awsComplaint(name: string, message: string): Complaint {
  const key = name.toLowerCase();
  const meaning = Object.hasOwn(MEANINGS, key) ? MEANINGS[key] : undefined;
  return {
    message,
    ...(name !== '' && { type: name }),
    ...meaning,
    ...(TOO_LONG.test(message) && { code: 'context-overflow' as const }),
  };
}

/** What an exception says, whose payload is JSON as a rule. */
export function exceptionComplaint(name: string, payload: string): Complaint {
  try {
    return awsComplaint(name, explainAws(JSON.parse(payload))?.message ?? payload);
  } catch {
    return awsComplaint(name, payload);
  }
}
