// The client's end of JSON-RPC: requests as texts, and texts as the messages that they answer. A result does not say what
// it is, so each method knows what it is answered with.

import type { Received } from './connection.ts';
import { RequestFailure } from './failure.ts';
import { checkLength } from './frames.ts';
import { fromJson, toJson } from './json-form.ts';
import {
  INTERNAL_ERROR,
  isSaid,
  type Json,
  METHOD_NOT_FOUND,
  objectOr,
  type Said,
  typeOf,
} from './json-rpc.ts';
import type {
  ClientMessage,
  ClientMessageCase,
  ErrorMsg,
  ServerMessage,
  ServerMessageCase,
} from './messages.ts';
import { strictJson } from './strict-json.ts';
import { TYPES } from './types.ts';
import { WireError } from './wire.ts';

type Method = ClientMessageCase['case'];

/** What a method's result is; of a stream, what it may end with beside null. */
export const RESULTS: Readonly<
  Record<Method, Exclude<ServerMessageCase['case'], Said | 'error'> | undefined>
> = {
  send: 'response',
  stream: undefined,
  ping: 'pong',
  sessions: 'sessions',
  kill: 'pong',
  getConfig: 'config',
  setConfig: 'pong',
  reload: 'pong',
  subscribeEvents: undefined,
  replyToAsk: 'pong',
  getStats: 'stats',
  compact: 'compact',
  subscribeEvent: 'subscription',
  unsubscribeEvent: 'pong',
  listSubscriptions: 'subscriptions',
  publishEvent: 'pong',
  listAgents: 'agents',
  upsertAgent: 'agents',
  deleteAgent: 'pong',
  listMcps: 'mcps',
  upsertMcp: 'pong',
  deleteMcp: 'pong',
  replyToPermission: 'pong',
  hello: 'hello',
  generateTitle: 'title',
  open: 'open',
  prompt: undefined,
  answer: 'answer',
  control: 'pong',
  watch: 'watchEnd',
  unwatch: 'pong',
  leave: 'pong',
  enter: 'open',
};

/** Undefined where a text ends what nobody waits for. */
export type RpcAnswer = Received<ServerMessage> | undefined;

export class RpcClientEnd {
  readonly #methods = new Map<number, Method>();

  write({ requestId, message }: ClientMessage): string {
    if (message === undefined) throw new WireError('A request needs a message.');
    const method = message.case;
    const params = toJson(TYPES, typeOf('ClientMessage', method) ?? '', message.value);
    const id = requestId === 0 ? {} : { id: requestId };
    const text = JSON.stringify({ jsonrpc: '2.0', ...id, method, params });
    checkLength(text);
    if (requestId !== 0) this.#methods.set(requestId, method);
    return text;
  }

  read(text: string): RpcAnswer {
    try {
      const message = this.#answer(objectOr(strictJson(text, 'The answer'), noAnswer));
      return message && { kind: 'message', message };
    } catch (error) {
      if (error instanceof WireError || error instanceof RequestFailure)
        return { kind: 'malformed', reason: error.message };
      throw error;
    }
  }

  #answer({ id, method, params, result, error }: Json): ServerMessage | undefined {
    if (typeof method === 'string') {
      const { id: about, value } = objectOr(params, noAnswer);
      if (!isSaid(method) || typeof about !== 'number') return noAnswer();
      return this.#methods.has(about) ? { requestId: about, message: messageOf(method, value) } : undefined;
    }
    const requestId = id === null ? 0 : id;
    if (typeof requestId !== 'number') return noAnswer();
    const asked = this.#methods.get(requestId);
    this.#methods.delete(requestId);
    if (error !== undefined)
      return { requestId, message: { case: 'error', value: errorOf(objectOr(error, noAnswer)) } };
    if (asked === undefined || result === undefined) return noAnswer();
    const name = RESULTS[asked];
    return name === undefined || result === null
      ? undefined
      : { requestId, message: messageOf(name, result) };
  }
}

function noAnswer(): never {
  throw new WireError('This answers nothing.');
}

function messageOf(name: ServerMessageCase['case'], value: unknown): ServerMessageCase {
  return {
    case: name,
    value: fromJson(TYPES, typeOf('ServerMessage', name) ?? '', value),
  } as ServerMessageCase;
}

function errorOf({ code, message, data }: Json): ErrorMsg {
  const { name, hint } = typeof data === 'object' && data !== null ? (data as Json) : {};
  return {
    code: statusOf(code),
    message: typeof message === 'string' ? message : '',
    ...(typeof name === 'string' && { name }),
    ...(typeof hint === 'string' && { hint }),
  };
}

function statusOf(code: unknown): number {
  if (typeof code === 'number' && code >= 0) return code;
  if (code === METHOD_NOT_FOUND) return 404;
  return code === INTERNAL_ERROR ? 500 : 400;
}
