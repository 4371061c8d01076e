// A scenario: what the fake provider says, as data. The types are the JSON format itself, so that a file
// and a literal in a test are the same thing; `docs/guide/fake-provider.md` describes it to users.

import type { JsonObject } from '../core/schema.ts';
import type { TokenCounts } from '../core/usage.ts';

/** One script for everybody, or several of which the first user message chooses. */
export interface Scenario {
  readonly replies?: readonly Reply[];
  readonly scripts?: readonly Script[];
  /** Said when no script matches or no reply is left. Default: the text `Done.` */
  readonly otherwise?: Reply;
  /** The models that are listed. Default: one of the name `fake-model`. Any other is answered all the same. */
  readonly models?: readonly ListedModel[];
  /** Answer also what clients ask a local server of this kind. */
  readonly server?: LocalServer;
}

export interface ListedModel {
  readonly id: string;
  /** Tokens. */
  readonly contextWindow?: number;
  readonly maxOutput?: number;
}

export const LOCAL_SERVERS = ['ollama', 'llama.cpp'] as const;

export type LocalServer = (typeof LOCAL_SERVERS)[number];

export interface Script {
  /** Chosen if the first user message contains this text, or matches this pattern. Absent: always. */
  readonly when?: string | { readonly pattern: string };
  readonly replies: readonly Reply[];
  /** Takes the place of the scenario's own. */
  readonly otherwise?: Reply;
}

/** One answer of the model: thinking first, then text, then calls. */
export interface Reply {
  /** An array is sent as one delta an element, whatever `chunk` says. */
  readonly text?: string | readonly string[];
  /** Instead of `text`: the same delta many times. */
  readonly generate?: { readonly deltas: number; readonly text: string };
  readonly thinking?: string;
  readonly calls?: readonly ScriptedCall[];
  /** Default: `toolUse` with calls, `stop` without. */
  readonly stop?: ScriptedStop;
  readonly usage?: Partial<Omit<TokenCounts, 'reasoning'>>;
  /** Characters in a delta. Default: all of them, and call arguments in two halves. */
  readonly chunk?: number;
  /** Milliseconds between two events of the stream. */
  readonly delayMs?: number;
  /** Bytes in a write, wherever that cuts the events. Default: an event, or with no `delayMs` all of them. */
  readonly drip?: number;
  /** The same reply for so many turns. */
  readonly repeat?: number;
  /** Added to those of the stream. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly fault?: Fault;
  /** The fault strikes only the first so many requests for this reply. */
  readonly times?: number;
}

export interface ScriptedCall {
  readonly name: string;
  readonly input: JsonObject;
  /** Sent in place of the JSON of `input`, whatever it is. */
  readonly raw?: string;
  /** Added to the input as a field `padding` of so many characters. */
  readonly padding?: number;
  /** Added to the input as a field `deep` of so many arrays, one in the other. */
  readonly depth?: number;
  /** Default: `call_TURN_POSITION`, which is unique in a conversation. */
  readonly id?: string;
}

export const SCRIPTED_STOPS = ['stop', 'length', 'toolUse'] as const;

export type ScriptedStop = (typeof SCRIPTED_STOPS)[number];

/** Where a stream can be cut, beside any number of bytes. */
export const CUTS = ['call', 'event', 'character', 'end'] as const;

/** What can be wrong with events that arrive whole. */
export const GARBLES = ['duplicates', 'indexes', 'unknownEvents', 'unknownStop', 'nulls', 'badUtf8'] as const;

export type Garble = (typeof GARBLES)[number];

/** What goes wrong with a reply. Bytes count the stream, not the headers. */
export type Fault =
  /**
   * An error answer. A string body is sent as it is; without a body the wire's own shape is used. In a header,
   * `{{date+2}}` is the date in two seconds.
   */
  | {
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
      readonly body?: unknown;
    }
  /** The wire's own answer to a history that does not fit into the context window. */
  | { readonly overflow: true }
  /** A web page with status 200, as captive portals send, or with another. */
  | { readonly html: true | number }
  /**
   * The socket is destroyed after so many bytes, in the middle of the first call's arguments, in the middle of the last
   * event of the text, in the middle of a character of the text, or right before the last event.
   */
  | { readonly cutAfter: number | (typeof CUTS)[number] }
  /** The connection is reset after so many bytes. */
  | { readonly resetAfter: number }
  /** Nothing more is sent after so many bytes; the connection stays open. */
  | { readonly stallAfter: number }
  /** Nothing is sent but what keeps a connection alive, every so many milliseconds. */
  | { readonly pingEveryMs: number }
  /** The stream reports an error after the text. */
  | { readonly errorEvent: { readonly type: string; readonly message: string } }
  /** The last character of each call's arguments is missing. */
  | { readonly badJson: true }
  | { readonly garble: Garble }
  /** So many bytes of keep-alives come before the answer. */
  | { readonly flood: number }
  /** A gzip body that is so many bytes when it is unpacked. */
  | { readonly gzipBomb: number }
  /** A header of so many bytes. */
  | { readonly hugeHeader: number }
  /** The connection is reset before any header. */
  | { readonly reset: true }
  /** The stream ends in good order, but before the reason why the model stopped. */
  | { readonly noStop: true }
  /** The model refuses to answer, after whatever the reply says. */
  | { readonly refuse: true };

export const DEFAULT_REPLY: Reply = { text: 'Done.' };

/**
 * The reply to a history that begins with `prompt` and holds `answered` assistant messages. It depends on
 * nothing else, so that several clients and resumed sessions may share one provider.
 */
export function pickReply(scenario: Scenario, prompt: string, answered: number): Reply {
  const script = scriptFor(scenario, prompt);
  let left = answered;
  for (const reply of script?.replies ?? []) {
    left -= reply.repeat ?? 1;
    if (left < 0) return reply;
  }
  return script?.otherwise ?? scenario.otherwise ?? DEFAULT_REPLY;
}

function scriptFor(scenario: Scenario, prompt: string): Script | undefined {
  if (scenario.replies !== undefined) return { replies: scenario.replies };
  return scenario.scripts?.find(({ when }) => {
    if (when === undefined) return true;
    return typeof when === 'string' ? prompt.includes(when) : new RegExp(when.pattern).test(prompt);
  });
}
