// Errors in the form that all of Google's APIs share (cloud.google.com/apis/design/errors).

import type { JsonObject } from '../core/schema.ts';
import type { WireError } from './wire.ts';

const STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

export function googleErrorBody({ status, message, type }: WireError): JsonObject {
  const known = STATUSES[status] ?? (status < 500 ? 'INVALID_ARGUMENT' : 'UNKNOWN');
  return { error: { code: status, message, status: type ?? known } };
}

/** The code of an error that has only a name; 500 for an unknown one. */
export function googleCode(status: string): number {
  const known = Object.entries(STATUSES).find(([, name]) => name === status);
  return known === undefined ? 500 : Number(known[0]);
}
