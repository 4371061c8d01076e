// The same messages as JSON-RPC 2.0 (jsonrpc.org/specification), one of them a text: a method is the name of a message's
// case, its params are the message and the result is the reply, both in the JSON form of Protocol Buffers. What a stream
// says comes as notifications under the reply's name, `{id, value}` with the id of its request, and the result null ends it.
// The server's end is here; the client's is in json-rpc-client.ts.

import { RequestFailure } from './failure.ts';
import { fromJson, toJson } from './json-form.ts';
import type { ClientMessage, ClientMessageCase, ErrorMsg, ServerMessage } from './messages.ts';
import { strictJson } from './strict-json.ts';
import { TYPES } from './types.ts';
import { WireError } from './wire.ts';

export type Json = Readonly<Record<string, unknown>>;
export type RpcId = string | number;

/** Of the specification; every other error has the code of `ErrorMsg` itself, which is one of HTTP's. */
export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;

/** Answers that are said while a request goes on; every other one ends it. */
const SAID = ['stream', 'agentEvent', 'coreEvents'] as const;
export type Said = (typeof SAID)[number];

export function isSaid(name: string): name is Said {
  return SAID.some((said) => said === name);
}

/** What a text comes to: a message to carry out, or the answer to what is none. */
export type RpcReceived =
  | { readonly kind: 'message'; readonly message: ClientMessage }
  /** Without an answer where a notification was refused. */
  | { readonly kind: 'refused'; readonly answer?: string };

class Refusal extends Error {
  readonly code: number;
  /** Null where it cannot be told, undefined for a notification. */
  readonly id: RpcId | null | undefined;

  constructor(code: number, message: string, id: RpcId | null | undefined) {
    super(message);
    this.code = code;
    this.id = id;
  }
}

/** The server's end of one connection: it keeps which of its clients' ids each request has. */
export class RpcServerEnd {
  /** Undefined for a notification, which nothing answers. */
  readonly #ids = new Map<number, RpcId | undefined>();
  readonly #requests = new Map<RpcId, number>();
  #count = 0;

  read(text: string): RpcReceived {
    try {
      return { kind: 'message', message: this.#request(parsed(text)) };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { id, code, message } = error;
      if (id === undefined) return { kind: 'refused' };
      return { kind: 'refused', answer: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }) };
    }
  }

  #request(envelope: unknown): ClientMessage {
    if (Array.isArray(envelope))
      throw new Refusal(INVALID_REQUEST, 'Batches are not taken: send one message at a time.', null);
    const { jsonrpc, id, method, params } = objectOr(envelope, () => {
      throw new Refusal(INVALID_REQUEST, 'A message is an object.', null);
    });
    if (id !== undefined && !isId(id))
      throw new Refusal(
        INVALID_REQUEST,
        'An id is a string of at most 128 characters or a whole number.',
        null,
      );
    if (jsonrpc !== '2.0' || typeof method !== 'string')
      throw new Refusal(INVALID_REQUEST, 'A message has jsonrpc "2.0" and the name of a method.', id ?? null);
    if (id !== undefined && this.#requests.has(id))
      throw new Refusal(INVALID_REQUEST, `The id ${JSON.stringify(id)} is that of a request in flight.`, id);
    const message = this.#message(method, params ?? {}, id);
    const requestId = this.#next();
    this.#ids.set(requestId, id);
    if (id !== undefined) this.#requests.set(id, requestId);
    return { requestId, message };
  }

  #message(method: string, params: unknown, id: RpcId | undefined): ClientMessageCase {
    const type = typeOf('ClientMessage', method);
    if (type === undefined)
      throw new Refusal(METHOD_NOT_FOUND, `There is no method ${JSON.stringify(method.slice(0, 64))}.`, id);
    const given = objectOr(params, () => {
      throw new Refusal(INVALID_PARAMS, `The params of ${method} must be an object.`, id);
    });
    if (method === 'unwatch') return this.#unwatch(given);
    try {
      return { case: method, value: fromJson(TYPES, type, given, method) } as ClientMessageCase;
    } catch (error) {
      if (error instanceof WireError) throw new Refusal(INVALID_PARAMS, error.message, id);
      throw error;
    }
  }

  /** Its `watchId` is the client's id of the request, whatever kind of id that is. */
  #unwatch({ watchId }: Json): ClientMessageCase {
    return { case: 'unwatch', value: { watchId: (isId(watchId) && this.#requests.get(watchId)) || 0 } };
  }

  #next(): number {
    do this.#count = (this.#count % 0xffffffff) + 1;
    while (this.#ids.has(this.#count));
    return this.#count;
  }

  /** Undefined where nothing is to be sent: nobody waits for it. */
  write({ requestId, message }: ServerMessage): string | undefined {
    const isKnown = this.#ids.has(requestId);
    const id = this.#ids.get(requestId);
    if (requestId !== 0 && id === undefined) {
      if (message !== undefined && isKnown && !isSaid(message.case)) this.#forget(requestId);
      return undefined;
    }
    if (message === undefined) return this.#end(requestId, { error: EMPTY });
    if (message.case === 'error') return this.#end(requestId, { error: errorOf(message.value) });
    const value = toJson(TYPES, typeOf('ServerMessage', message.case) ?? '', message.value);
    if (isSaid(message.case))
      return JSON.stringify({ jsonrpc: '2.0', method: message.case, params: { id, value } });
    return this.#end(requestId, { result: value });
  }

  /** The end of a request that nothing has ended yet: of a stream. */
  answered(requestId: number): string | undefined {
    if (this.#ids.get(requestId) !== undefined) return this.#end(requestId, { result: null });
    this.#forget(requestId);
    return undefined;
  }

  #end(requestId: number, outcome: Json): string {
    const id = this.#ids.get(requestId) ?? null;
    this.#forget(requestId);
    return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
  }

  #forget(requestId: number): void {
    const id = this.#ids.get(requestId);
    this.#ids.delete(requestId);
    if (id !== undefined) this.#requests.delete(id);
  }
}

const EMPTY = { code: INTERNAL_ERROR, message: 'The answer is empty.' };

function parsed(text: string): unknown {
  try {
    return strictJson(text, 'The message');
  } catch (error) {
    if (error instanceof RequestFailure) throw new Refusal(PARSE_ERROR, error.message, null);
    throw error;
  }
}

export function objectOr(value: unknown, otherwise: () => never): Json {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Json) : otherwise();
}

export function isId(value: unknown): value is RpcId {
  return typeof value === 'string' ? value.length <= 128 : Number.isSafeInteger(value);
}

/** The type of a case of an envelope, or undefined where it has none of that name. */
export function typeOf(envelope: 'ClientMessage' | 'ServerMessage', name: string): string | undefined {
  const type = TYPES[envelope];
  const cases = type?.kind === 'message' ? (type.cases ?? {}) : {};
  return Object.hasOwn(cases, name) ? cases[name]?.[0] : undefined;
}

function errorOf({ code, message, name, hint }: ErrorMsg): Json {
  if (name === undefined && hint === undefined) return { code, message };
  return {
    code,
    message,
    data: { ...(name !== undefined && { name }), ...(hint !== undefined && { hint }) },
  };
}
