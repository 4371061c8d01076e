// A wire as the fake provider needs it: how to read a request and how to write each kind of answer. The
// server knows wires only through this, and adding one is a file and a line.

import type { JsonObject } from '../core/schema.ts';
import type { Answer } from './answer.ts';
import type { History } from './history-check.ts';

export type WireName = 'anthropic' | 'openai';

/** Events of a stream, each a complete block of server-sent events text. */
export interface WireStream {
  /** From the start of the message to the end of its text. */
  readonly said: readonly string[];
  /** All calls. The first event opens the first call, the next ones are its arguments. */
  readonly calls: readonly string[];
  /** Why the model stopped, what it used, and the end of the stream. */
  readonly closing: readonly string[];
}

export interface WireError {
  readonly status: number;
  readonly message: string;
  /** Default: what the real provider calls this status. */
  readonly type?: string;
}

export interface Wire {
  readonly name: WireName;
  readonly path: string;
  history(body: JsonObject): History;
  render(answer: Answer, body: JsonObject): WireStream;
  /** The event that reports an error in the middle of a stream. */
  errorEvent(type: string, message: string): string;
  errorBody(error: WireError): JsonObject;
  /** The real provider's words for a history that is too long. */
  readonly overflow: WireError;
}
