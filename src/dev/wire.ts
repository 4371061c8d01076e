// A wire as the fake provider needs it: how to read a request and how to write each kind of answer. The
// server knows wires only through this, and adding one is a file and a line in `wires.ts`.

import type { JsonObject } from '../core/schema.ts';
import type { Answer } from './answer.ts';
import type { History } from './history-check.ts';

export type WireName = 'anthropic' | 'openai' | 'responses' | 'gemini' | 'bedrock' | 'vertex';

/** A request to a model, as far as answering it depends on it. */
export interface Asked {
  /** From the path, or from the body where the path has none. */
  readonly model: string;
  readonly body: JsonObject;
  /** Of the URL, without `?`. */
  readonly query: string;
}

/** What one event says: JSON, or text that is sent as it is. */
export type WireEvent = JsonObject | string;

export interface WireStream {
  /** From the start of the message to the end of its text. */
  readonly said: readonly WireEvent[];
  /** All calls. The first event opens the first call, the next ones are its arguments; some wires send it whole. */
  readonly calls: readonly WireEvent[];
  /** Why the model stopped, what it used, and the end of the stream. */
  readonly closing: readonly WireEvent[];
}

export interface WireError {
  readonly status: number;
  readonly message: string;
  /** Default: what the real provider calls this status. */
  readonly type?: string;
}

export interface Wire {
  readonly name: WireName;
  /** Of a stream. */
  readonly contentType: string;
  /** Whether usage has a place for tokens that were written to the cache; where not, they are input. */
  readonly countsCacheWrites: boolean;
  /** Why this request would not be streamed, and what to send instead. */
  refusesToStream(asked: Asked): string | undefined;
  history(asked: Asked): History;
  render(answer: Answer, asked: Asked): WireStream;
  /** What of the body, beside the model, the answer depends on. */
  variant?(body: JsonObject): unknown;
  /** An event as it goes over the line; server-sent events are text. */
  frame(event: WireEvent): string | Uint8Array;
  /** What keeps a connection alive and says nothing. */
  readonly ping: string | Uint8Array;
  /** Reports an error in the middle of a stream, framed. */
  errorEvent(type: string, message: string): string | Uint8Array;
  errorBody(error: WireError): JsonObject;
  errorHeaders?(error: WireError): Readonly<Record<string, string>>;
  /** The real provider's words for a history that is too long. */
  readonly overflow: WireError;
}
