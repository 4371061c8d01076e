// Errors on the wire, both ways: a code of HTTP and a sentence. Crab's own errors keep their permanent code and their hint,
// so that a client of Crab's own shows what it would have shown without a daemon between.

import { asCrabError, CrabError, ERRORS, type ErrorCode, type ErrorData } from '../core/errors.ts';
import type { ErrorMsg } from './messages.ts';

/** What a request is answered with in place of a reply. */
export class RequestFailure extends Error {
  override readonly name = 'RequestFailure';
  /** As in `ErrorMsg`. */
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const STATUS: Partial<Record<ErrorCode, number>> = {
  usage: 400,
  'input-empty': 400,
  'input-malformed': 400,
  'input-not-text': 400,
  'input-too-large': 413,
  'cwd-missing': 400,
  'settings-invalid': 400,
  'agent-invalid': 400,
  'session-id-invalid': 400,
  'session-unknown': 404,
  'entry-unknown': 404,
  'model-unknown': 404,
  'agent-unknown': 404,
  'memory-unknown': 404,
  'rewind-unknown': 404,
  'session-ambiguous': 409,
  'session-held': 409,
  'memory-taken': 409,
  'permission-refused': 403,
  'rate-limited': 429,
};

export function statusOf({ code }: Pick<ErrorData, 'code'>): number {
  return STATUS[code] ?? 500;
}

export function errorMessage(error: unknown): ErrorMsg {
  if (error instanceof RequestFailure) return { code: error.code, message: error.message };
  const { code, message, hint } = asCrabError(error);
  return { code: statusOf({ code }), message, name: code, hint };
}

/** The other way: a `CrabError` where it was one. */
export function failureOf({ code, message, name = '', hint }: ErrorMsg): CrabError | RequestFailure {
  if (!Object.hasOwn(ERRORS, name)) return new RequestFailure(code, message);
  return new CrabError(name as ErrorCode, message, hint === undefined ? {} : { hint });
}

/** What a person is told of it, by the name of who refused: `The daemon`, or an address elsewhere. */
export function refusalOf(
  error: unknown,
  who: string,
  name: 'daemon-failed' | 'remote-failed' = 'daemon-failed',
): CrabError {
  if (!(error instanceof RequestFailure)) return asCrabError(error);
  const { code, message } = error;
  const hint = HINTS[code];
  return new CrabError(name, `${who} refused it (${code}): ${message}`, {
    cause: error,
    ...(hint !== undefined && { hint }),
  });
}

/** What helps against a refusal by somebody who is there. */
const HINTS: Partial<Record<number, string>> = {
  400: 'Ask for something else: it was understood, and cannot be done there.',
  403: 'Ask whoever gave you the token for one that may do this.',
  404: 'Look at the name: nothing is called so there, or the Crab there is older than this one.',
  426: 'Update the older one of the two: `crab --version` tells, on each side.',
  429: 'Wait until some of what was asked is answered.',
};
