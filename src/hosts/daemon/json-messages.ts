// The messages of the JSON socket, tagged by `type`: a small form of the protocol for clients that have JSON and nothing
// else. What a client sends is checked here, so that nothing behind it sees another shape.

import type { Event } from '../../core/event.ts';
import { HEADER } from '../../protocol/frames.ts';
import { strictJson } from '../../protocol/strict-json.ts';
import type { Codec } from './socket-connection.ts';

export type JsonRequest =
  /** Without an id a new session. `answers`: the client answers questions; without it none are asked in a new one. */
  | {
      readonly type: 'Attach';
      readonly session_id?: string;
      readonly working_dir?: string;
      readonly answers?: boolean;
    }
  | { readonly type: 'Detach'; readonly session_id: string }
  | { readonly type: 'ListSessions' }
  | { readonly type: 'KillSession'; readonly session_id: string }
  | { readonly type: 'UserInput'; readonly session_id: string; readonly content: string }
  /** `answers` for a question with choices, else `allowed`. */
  | {
      readonly type: 'Answer';
      readonly session_id: string;
      readonly question_id: string;
      readonly allowed?: boolean;
      readonly feedback?: string;
      readonly answers?: readonly string[];
    }
  | { readonly type: 'Ping' };

export interface JsonSession {
  readonly session_id: string;
  readonly working_dir: string;
  /** Milliseconds since the epoch. */
  readonly created_at: number;
  readonly last_active: number;
  /** Somebody follows it. */
  readonly attached: boolean;
  readonly running: boolean;
}

export type JsonReply =
  | { readonly type: 'Attached'; readonly session_id: string }
  | { readonly type: 'Sessions'; readonly list: readonly JsonSession[] }
  /** `gap`: others before it are gone, since the client was too slow. */
  | { readonly type: 'Event'; readonly session_id: string; readonly event: Event; readonly gap?: true }
  /** `code` as in the binary form. */
  | { readonly type: 'Error'; readonly code: number; readonly message: string }
  /** Also where there is nothing to say but that it is done. */
  | { readonly type: 'Pong' };

/** `?` behind a kind: may be left out. */
type Kind = 'string' | 'string?' | 'boolean?' | 'strings?';

const FIELDS: Readonly<Record<JsonRequest['type'], Readonly<Record<string, Kind>>>> = {
  Attach: { session_id: 'string?', working_dir: 'string?', answers: 'boolean?' },
  Detach: { session_id: 'string' },
  ListSessions: {},
  KillSession: { session_id: 'string' },
  UserInput: { session_id: 'string', content: 'string' },
  Answer: {
    session_id: 'string',
    question_id: 'string',
    allowed: 'boolean?',
    feedback: 'string?',
    answers: 'strings?',
  },
  Ping: {},
};

const decoder = new TextDecoder('utf-8', { fatal: true });

export const JSON_CODEC: Codec<JsonReply, JsonRequest> = {
  order: 'little',
  write(message) {
    const text = Buffer.from(JSON.stringify(message));
    const frame = new Uint8Array(HEADER + text.length);
    frame.set(text, HEADER);
    return frame;
  },
  read: (payload) => readRequest(strictJson(decoder.decode(payload), 'The request')),
};

function readRequest(value: unknown): JsonRequest {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new TypeError('A request is a JSON object.');
  const given: Readonly<Record<string, unknown>> = { ...value };
  const type = String(given['type']);
  if (!Object.hasOwn(FIELDS, type))
    throw new TypeError(`There is no request ${JSON.stringify(type)}: ${Object.keys(FIELDS).join(', ')}.`);
  const request: Record<string, unknown> = { type };
  for (const [name, kind] of Object.entries(FIELDS[type as JsonRequest['type']])) {
    const field = given[name] ?? undefined;
    if (field === undefined && kind.endsWith('?')) continue;
    if (!isKind(field, kind)) throw new TypeError(`${type}.${name} must be a ${kind.replace('?', '')}.`);
    request[name] = field;
  }
  return request as JsonRequest;
}

function isKind(value: unknown, kind: Kind): boolean {
  if (kind === 'strings?') return Array.isArray(value) && value.every((one) => typeof one === 'string');
  return typeof value === kind.replace('?', '');
}
