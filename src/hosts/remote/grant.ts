// What a client may do: it comes from its token and from nothing that a message says of its sender. A grant without a list
// of agents is the owner's, who may do everything. One with a list talks to the models of these agents and to nobody else:
// whatever would let it decide for itself what may run (opening with a declaration of its own, commands and shell lines,
// a folder, somebody's session, allowing calls) is kept from it.

import type { Control } from '../../core/extension.ts';
import { RequestFailure } from '../../protocol/failure.ts';
import type { ClientMessageCase } from '../../protocol/messages.ts';
import { readAnswer, readControl, readPrompt, readSessionChoice } from '../../protocol/read-core.ts';

export interface Grant {
  /** Who it is, for logs and as the sender of what it says: the token's subject. */
  readonly name: string;
  /** Absent: all, and the daemon itself. */
  readonly agents?: readonly string[];
  /** Messages that it may send, by their names. Absent: all that its agents allow. */
  readonly methods?: readonly string[];
  /** Seconds since the epoch. */
  readonly expiresAt?: number;
}

/** The token file's: whoever can read it is the daemon's own user. */
export const OWNER: Grant = { name: 'owner' };

type Message<Name> = ClientMessageCase & { readonly case: Name };

/** What a message reaches: nothing of anybody's, one conversation, or more than a list of agents could allow. */
type Reach = 'nothing' | 'daemon' | Conversation;

interface Conversation {
  readonly agents: readonly (string | undefined)[];
  /** Absent: the grant's own name. */
  readonly sender: string | undefined;
  /** What nobody but the owner may ask for, in words. */
  readonly beyond?: string | undefined;
  /** Only a grant that names this method has it. */
  readonly mustBeNamed?: ClientMessageCase['case'];
}

type Reaches = {
  readonly [Name in ClientMessageCase['case']]: Reach | ((value: Message<Name>['value']) => Reach);
};

const talk = ({ agent, guest, sender, cwd, content }: Message<'send'>['value']): Reach => ({
  agents: guest === undefined ? [agent] : [agent, guest],
  sender,
  beyond: cwd === undefined ? beyondWords(content) : 'choose a folder',
});

const ofConversation = ({
  agent,
  sender,
}: {
  readonly agent: string;
  readonly sender: string;
}): Conversation => ({
  agents: [agent],
  sender: sender === '' ? undefined : sender,
});

const ANSWERING = 'replyToPermission';

/** In its own folder, and in the session that it is at. */
const enter = ({ agent, sender, cwd, session }: Message<'enter'>['value']): Reach => ({
  agents: [agent],
  sender,
  beyond:
    cwd !== undefined
      ? 'choose a folder'
      : session !== undefined && readSessionChoice(session).kind !== 'head'
        ? 'choose a session'
        : undefined,
});

const prompt = ({ agent, sender, prompt: json }: Message<'prompt'>['value']): Reach => {
  const { text: content, guest, cwd, plain } = readPrompt(json);
  const said = { agent, content: plain === true ? '' : content, sender };
  return talk({ ...said, ...(guest !== undefined && { guest }), ...(cwd !== undefined && { cwd }) });
};

const answer = ({ agent, sender, answer: json }: Message<'answer'>['value']): Reach => ({
  agents: [agent],
  sender,
  ...(readAnswer(json).kind === 'permission' && { mustBeNamed: ANSWERING }),
});

/** Controls that are about nothing but the conversation. */
const HARMLESS: ReadonlySet<Control['kind']> = new Set(['compact', 'setName']);

const control = ({ agent, sender, control: json }: Message<'control'>['value']): Reach => {
  const { kind } = readControl(json);
  return { agents: [agent], sender, beyond: HARMLESS.has(kind) ? undefined : `change it with ${kind}` };
};

const REACHES: Reaches = {
  hello: 'nothing',
  ping: 'nothing',
  unwatch: 'nothing',
  send: talk,
  stream: talk,
  kill: ofConversation,
  replyToAsk: ofConversation,
  replyToPermission: (value) => ({ ...ofConversation(value), mustBeNamed: ANSWERING }),
  compact: ofConversation,
  generateTitle: ofConversation,
  watch: ofConversation,
  leave: ofConversation,
  sessions: 'daemon',
  getConfig: 'daemon',
  setConfig: 'daemon',
  reload: 'daemon',
  subscribeEvents: 'daemon',
  getStats: 'daemon',
  subscribeEvent: 'daemon',
  unsubscribeEvent: 'daemon',
  listSubscriptions: 'daemon',
  publishEvent: 'daemon',
  listAgents: 'daemon',
  upsertAgent: 'daemon',
  deleteAgent: 'daemon',
  listMcps: 'daemon',
  upsertMcp: 'daemon',
  deleteMcp: 'daemon',
  open: 'daemon',
  enter,
  prompt,
  answer,
  control,
};

/** Lines that begin so are carried out without a model, and without the question that a model's call meets. */
function beyondWords(content: string): string | undefined {
  return /^\s*[,!/]/.test(content) ? 'begin a line with a comma, / or !' : undefined;
}

/** The message as the grant has it. Throws `RequestFailure` 401 or 403. `now` is in milliseconds. */
export function admit(grant: Grant, message: ClientMessageCase, now: number): ClientMessageCase {
  const { name, agents, methods, expiresAt } = grant;
  if (expiresAt !== undefined && now >= expiresAt * 1000)
    throw new RequestFailure(401, 'The token of this connection has expired.');
  if (REACHES[message.case] === 'nothing') return message;
  const isNamed = methods?.includes(message.case) === true;
  if (methods !== undefined && !isNamed) throw refusal(name, `send ${message.case}`);
  if (agents === undefined) return message;
  const reach = reachOf(message);
  if (reach === 'nothing') return message;
  if (reach === 'daemon') throw refusal(name, `send ${message.case}, which is about more than its agents`);
  for (const agent of reach.agents)
    if (agent === undefined || !agents.includes(agent))
      throw refusal(name, `reach the agent ${JSON.stringify(agent)}`);
  const { sender = name } = reach;
  if (sender !== name && !sender.startsWith(`${name}:`))
    throw refusal(name, `speak as ${JSON.stringify(sender)}, only as ${name} or ${name}:…`);
  if (reach.beyond !== undefined) throw refusal(name, reach.beyond);
  if (reach.mustBeNamed !== undefined && methods?.includes(reach.mustBeNamed) !== true)
    throw refusal(name, `send ${message.case}: its methods would have to name ${reach.mustBeNamed}`);
  const mayAllow = methods?.includes(ANSWERING) === true;
  // A question that it could not answer would keep everybody waiting.
  const asks = message.case === 'enter' && { asks: message.value.asks && mayAllow };
  return { ...message, value: { ...message.value, sender, ...asks } } as ClientMessageCase;
}

function reachOf(message: ClientMessageCase): Reach {
  const reach = REACHES[message.case];
  if (typeof reach !== 'function') return reach;
  return (reach as (value: ClientMessageCase['value']) => Reach)(message.value);
}

function refusal(name: string, what: string): RequestFailure {
  return new RequestFailure(403, `The token of ${name} may not ${what}.`);
}
