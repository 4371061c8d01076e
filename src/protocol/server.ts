// The operations of the protocol as an interface, one method for each message of a client, and the one way from a message
// to its method. Who serves (a daemon, a test, a web server) implements this and knows no envelope.

import { errorMessage, RequestFailure } from './failure.ts';
import type {
  AgentEventMsg,
  AgentInfo,
  AgentList,
  AnswerMsg,
  AnswerReply,
  ClientMessage,
  ClientMessageCase,
  CompactMsg,
  CompactReply,
  ConfigMsg,
  ControlMsg,
  CoreEvents,
  DeleteAgentMsg,
  DeleteMcpMsg,
  EnterMsg,
  GenerateTitleMsg,
  HelloMsg,
  HelloReply,
  KillMsg,
  LeaveMsg,
  ListMcpsMsg,
  McpList,
  OpenMsg,
  OpenReply,
  PromptMsg,
  PublishEventMsg,
  ReplyToAskMsg,
  ReplyToPermissionMsg,
  ResponseMsg,
  SendMsg,
  ServerMessageCase,
  SessionsList,
  SetConfigMsg,
  StatsMsg,
  StreamEvent,
  StreamMsg,
  SubscribeEventMsg,
  SubscribeEventsMsg,
  SubscriptionInfo,
  SubscriptionList,
  TitleReply,
  UnsubscribeEventMsg,
  UpsertAgentMsg,
  UpsertMcpMsg,
  WatchEnd,
  WatchMsg,
} from './messages.ts';

/** Whoever is at the other end of a connection. */
export interface Peer {
  /** For logs: `unix:uid 1000`, `tcp 127.0.0.1:53122`. */
  readonly name: string;
  /** What its Hello named; none before. */
  readonly capabilities: ReadonlySet<string>;
  /** A process of this machine: when its connection is gone, so is the process. */
  readonly isNear?: boolean;
  /** It speaks for somebody whom the owner lets talk to certain agents, and not for the owner. */
  readonly isLimited?: boolean;
}

/** What every method gets beside its message. */
export interface Call {
  readonly peer: Peer;
  /** The connection is gone, or the client wants no more of this. Runs go on all the same. */
  readonly signal: AbortSignal;
}

/** Methods throw `RequestFailure` or `CrabError`; a stream that has begun ends with a `StreamEnd` and throws no more. */
export interface Server {
  hello(message: HelloMsg, call: Call): Promise<HelloReply>;
  send(message: SendMsg, call: Call): Promise<ResponseMsg>;
  stream(message: StreamMsg, call: Call): AsyncIterable<StreamEvent>;
  ping(call: Call): Promise<void>;
  sessions(call: Call): Promise<SessionsList>;
  kill(message: KillMsg, call: Call): Promise<void>;
  getConfig(call: Call): Promise<ConfigMsg>;
  setConfig(message: SetConfigMsg, call: Call): Promise<void>;
  reload(call: Call): Promise<void>;
  subscribeEvents(message: SubscribeEventsMsg, call: Call): AsyncIterable<AgentEventMsg>;
  replyToAsk(message: ReplyToAskMsg, call: Call): Promise<void>;
  replyToPermission(message: ReplyToPermissionMsg, call: Call): Promise<void>;
  getStats(call: Call): Promise<StatsMsg>;
  compact(message: CompactMsg, call: Call): Promise<CompactReply>;
  generateTitle(message: GenerateTitleMsg, call: Call): Promise<TitleReply>;
  subscribeEvent(message: SubscribeEventMsg, call: Call): Promise<SubscriptionInfo>;
  unsubscribeEvent(message: UnsubscribeEventMsg, call: Call): Promise<void>;
  listSubscriptions(call: Call): Promise<SubscriptionList>;
  publishEvent(message: PublishEventMsg, call: Call): Promise<void>;
  listAgents(call: Call): Promise<AgentList>;
  upsertAgent(message: UpsertAgentMsg, call: Call): Promise<AgentInfo>;
  deleteAgent(message: DeleteAgentMsg, call: Call): Promise<void>;
  listMcps(message: ListMcpsMsg, call: Call): Promise<McpList>;
  upsertMcp(message: UpsertMcpMsg, call: Call): Promise<void>;
  deleteMcp(message: DeleteMcpMsg, call: Call): Promise<void>;
  open(message: OpenMsg, call: Call): Promise<OpenReply>;
  enter(message: EnterMsg, call: Call): Promise<OpenReply>;
  prompt(message: PromptMsg, call: Call): AsyncIterable<CoreEvents>;
  answer(message: AnswerMsg, call: Call): Promise<AnswerReply>;
  control(message: ControlMsg, call: Call): Promise<void>;
  leave(message: LeaveMsg, call: Call): Promise<void>;
  /** Ends with a `WatchEnd` where the server ends it. */
  watch(message: WatchMsg, call: Call): AsyncIterable<CoreEvents | WatchEnd>;
}

type Answers = AsyncIterable<ServerMessageCase>;

type Operations = {
  readonly [Case in ClientMessageCase['case']]: (
    value: (ClientMessageCase & { readonly case: Case })['value'],
    server: Server,
    call: Call,
  ) => Answers;
};

const OPERATIONS: Operations = {
  hello: (value, server, call) =>
    one(server.hello(value, call), (reply) => ({ case: 'hello', value: reply })),
  send: (value, server, call) =>
    one(server.send(value, call), (reply) => ({ case: 'response', value: reply })),
  stream: (value, server, call) =>
    many(server.stream(value, call), (event) => ({ case: 'stream', value: event })),
  ping: (_, server, call) => pong(server.ping(call)),
  sessions: (_, server, call) => one(server.sessions(call), (reply) => ({ case: 'sessions', value: reply })),
  kill: (value, server, call) => pong(server.kill(value, call)),
  getConfig: (_, server, call) => one(server.getConfig(call), (reply) => ({ case: 'config', value: reply })),
  setConfig: (value, server, call) => pong(server.setConfig(value, call)),
  reload: (_, server, call) => pong(server.reload(call)),
  subscribeEvents: (value, server, call) =>
    many(server.subscribeEvents(value, call), (event) => ({ case: 'agentEvent', value: event })),
  replyToAsk: (value, server, call) => pong(server.replyToAsk(value, call)),
  replyToPermission: (value, server, call) => pong(server.replyToPermission(value, call)),
  getStats: (_, server, call) => one(server.getStats(call), (reply) => ({ case: 'stats', value: reply })),
  compact: (value, server, call) =>
    one(server.compact(value, call), (reply) => ({ case: 'compact', value: reply })),
  generateTitle: (value, server, call) =>
    one(server.generateTitle(value, call), (reply) => ({ case: 'title', value: reply })),
  subscribeEvent: (value, server, call) =>
    one(server.subscribeEvent(value, call), (reply) => ({ case: 'subscription', value: reply })),
  unsubscribeEvent: (value, server, call) => pong(server.unsubscribeEvent(value, call)),
  listSubscriptions: (_, server, call) =>
    one(server.listSubscriptions(call), (reply) => ({ case: 'subscriptions', value: reply })),
  publishEvent: (value, server, call) => pong(server.publishEvent(value, call)),
  listAgents: (_, server, call) =>
    one(server.listAgents(call), (reply) => ({ case: 'agents', value: reply })),
  upsertAgent: (value, server, call) =>
    one(server.upsertAgent(value, call), (agent) => ({ case: 'agents', value: { agents: [agent] } })),
  deleteAgent: (value, server, call) => pong(server.deleteAgent(value, call)),
  listMcps: (value, server, call) =>
    one(server.listMcps(value, call), (reply) => ({ case: 'mcps', value: reply })),
  upsertMcp: (value, server, call) => pong(server.upsertMcp(value, call)),
  deleteMcp: (value, server, call) => pong(server.deleteMcp(value, call)),
  open: (value, server, call) => one(server.open(value, call), (reply) => ({ case: 'open', value: reply })),
  enter: (value, server, call) => one(server.enter(value, call), (reply) => ({ case: 'open', value: reply })),
  prompt: (value, server, call) =>
    many(server.prompt(value, call), (events) => ({ case: 'coreEvents', value: events })),
  answer: (value, server, call) =>
    one(server.answer(value, call), (reply) => ({ case: 'answer', value: reply })),
  control: (value, server, call) => pong(server.control(value, call)),
  leave: (value, server, call) => pong(server.leave(value, call)),
  watch: (value, server, call) =>
    many(server.watch(value, call), (said) =>
      'nextSeq' in said ? { case: 'watchEnd', value: said } : { case: 'coreEvents', value: said },
    ),
  // The connection itself ends what it had begun.
  unwatch: () => pong(Promise.resolve()),
};

/**
 * The single way into a server: what a message is answered with. One answer for most, many for a stream, and one error
 * for what fails or is no message. Never throws.
 */
export async function* dispatch(server: Server, { message }: ClientMessage, call: Call): Answers {
  try {
    if (message === undefined) throw new RequestFailure(400, 'The message is empty, or of a later version.');
    yield* operation(message, server, call);
  } catch (error) {
    yield { case: 'error', value: errorMessage(error) };
  }
}

function operation(message: ClientMessageCase, server: Server, call: Call): Answers {
  const run = OPERATIONS[message.case] as (
    value: ClientMessageCase['value'],
    ...rest: [Server, Call]
  ) => Answers;
  return run(message.value, server, call);
}

async function* one<Reply>(reply: Promise<Reply>, wrap: (reply: Reply) => ServerMessageCase): Answers {
  yield wrap(await reply);
}

async function* pong(done: Promise<void>): Answers {
  await done;
  yield { case: 'pong', value: {} };
}

async function* many<Item>(items: AsyncIterable<Item>, wrap: (item: Item) => ServerMessageCase): Answers {
  for await (const item of items) yield wrap(item);
}
