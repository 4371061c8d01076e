// Generated from crab.proto by `npm run protocol`. Do not edit.

import { Reader, Writer } from './wire.ts';

/** A message while it is read. */
type Draft<Message> = {
  -readonly [Key in keyof Message]: Message[Key] extends readonly (infer Item)[] ? Item[] : Message[Key];
};

export type ClientMessageCase =
  /** Runs the agent and answers with the complete response. */
  | { readonly case: 'send'; readonly value: SendMsg }
  /** Runs the agent and answers with its events; the last one is `end`. */
  | { readonly case: 'stream'; readonly value: StreamMsg }
  /** Answered with `pong`. */
  | { readonly case: 'ping'; readonly value: PingMsg }
  /** Lists the conversations that are active. */
  | { readonly case: 'sessions'; readonly value: SessionsMsg }
  /** Cancels the run that is in flight in a conversation, if any. */
  | { readonly case: 'kill'; readonly value: KillMsg }
  /** Answers with the daemon's configuration; secrets are left out. */
  | { readonly case: 'getConfig'; readonly value: GetConfigMsg }
  /** Replaces the daemon's configuration. */
  | { readonly case: 'setConfig'; readonly value: SetConfigMsg }
  /** Reads the configuration again; runs in flight finish as they began. */
  | { readonly case: 'reload'; readonly value: ReloadMsg }
  /** Answers with the events of all conversations, until the connection is closed. */
  | { readonly case: 'subscribeEvents'; readonly value: SubscribeEventsMsg }
  /** Answers a question of `ask_user`. */
  | { readonly case: 'replyToAsk'; readonly value: ReplyToAskMsg }
  /** Answers with the daemon's statistics. */
  | { readonly case: 'getStats'; readonly value: GetStatsMsg }
  /** Summarises a conversation and answers with the summary. */
  | { readonly case: 'compact'; readonly value: CompactMsg }
  /** Subscribes an agent to events of the bus. */
  | { readonly case: 'subscribeEvent'; readonly value: SubscribeEventMsg }
  /** Takes a subscription back; answered with `pong`. */
  | { readonly case: 'unsubscribeEvent'; readonly value: UnsubscribeEventMsg }
  /** Lists the subscriptions of the bus. */
  | { readonly case: 'listSubscriptions'; readonly value: ListSubscriptionsMsg }
  /** Publishes an event on the bus; answered with `pong`. */
  | { readonly case: 'publishEvent'; readonly value: PublishEventMsg }
  /** Lists the agents. */
  | { readonly case: 'listAgents'; readonly value: ListAgentsMsg }
  /** Makes an agent, or replaces it. */
  | { readonly case: 'upsertAgent'; readonly value: UpsertAgentMsg }
  /** Deletes an agent; answered with `pong`. */
  | { readonly case: 'deleteAgent'; readonly value: DeleteAgentMsg }
  /** Lists the MCP servers of an agent. */
  | { readonly case: 'listMcps'; readonly value: ListMcpsMsg }
  /** Adds an MCP server to an agent, or replaces it; answered with `pong`. */
  | { readonly case: 'upsertMcp'; readonly value: UpsertMcpMsg }
  /** Takes an MCP server from an agent; answered with `pong`. */
  | { readonly case: 'deleteMcp'; readonly value: DeleteMcpMsg }
  /** Answers whether a call may run. */
  | { readonly case: 'replyToPermission'; readonly value: ReplyToPermissionMsg }
  /** Says who the client is; the first message of a connection, where it is sent at all. */
  | { readonly case: 'hello'; readonly value: HelloMsg }
  /** Makes a title for a conversation from what was said in it. */
  | { readonly case: 'generateTitle'; readonly value: GenerateTitleMsg }
  | { readonly case: 'open'; readonly value: OpenMsg }
  | { readonly case: 'prompt'; readonly value: PromptMsg }
  | { readonly case: 'answer'; readonly value: AnswerMsg }
  | { readonly case: 'control'; readonly value: ControlMsg }
  | { readonly case: 'watch'; readonly value: WatchMsg }
  | { readonly case: 'unwatch'; readonly value: UnwatchMsg }
  | { readonly case: 'leave'; readonly value: LeaveMsg }
  /** Opens a conversation under the settings of the daemon. */
  | { readonly case: 'enter'; readonly value: EnterMsg };

export interface ClientMessage {
  readonly message?: ClientMessageCase;
  /** Comes back in every message that answers this one. 0: the answers are told by their order. */
  readonly requestId: number;
}

function encodeClientMessage(message: ClientMessage, to: Writer): void {
  switch (message.message?.case) {
    case 'send':
      to.message(1, message.message.value, encodeSendMsg);
      break;
    case 'stream':
      to.message(2, message.message.value, encodeStreamMsg);
      break;
    case 'ping':
      to.message(3, message.message.value, encodePingMsg);
      break;
    case 'sessions':
      to.message(4, message.message.value, encodeSessionsMsg);
      break;
    case 'kill':
      to.message(5, message.message.value, encodeKillMsg);
      break;
    case 'getConfig':
      to.message(6, message.message.value, encodeGetConfigMsg);
      break;
    case 'setConfig':
      to.message(7, message.message.value, encodeSetConfigMsg);
      break;
    case 'reload':
      to.message(8, message.message.value, encodeReloadMsg);
      break;
    case 'subscribeEvents':
      to.message(9, message.message.value, encodeSubscribeEventsMsg);
      break;
    case 'replyToAsk':
      to.message(10, message.message.value, encodeReplyToAskMsg);
      break;
    case 'getStats':
      to.message(11, message.message.value, encodeGetStatsMsg);
      break;
    case 'compact':
      to.message(15, message.message.value, encodeCompactMsg);
      break;
    case 'subscribeEvent':
      to.message(16, message.message.value, encodeSubscribeEventMsg);
      break;
    case 'unsubscribeEvent':
      to.message(17, message.message.value, encodeUnsubscribeEventMsg);
      break;
    case 'listSubscriptions':
      to.message(18, message.message.value, encodeListSubscriptionsMsg);
      break;
    case 'publishEvent':
      to.message(19, message.message.value, encodePublishEventMsg);
      break;
    case 'listAgents':
      to.message(20, message.message.value, encodeListAgentsMsg);
      break;
    case 'upsertAgent':
      to.message(21, message.message.value, encodeUpsertAgentMsg);
      break;
    case 'deleteAgent':
      to.message(22, message.message.value, encodeDeleteAgentMsg);
      break;
    case 'listMcps':
      to.message(23, message.message.value, encodeListMcpsMsg);
      break;
    case 'upsertMcp':
      to.message(24, message.message.value, encodeUpsertMcpMsg);
      break;
    case 'deleteMcp':
      to.message(25, message.message.value, encodeDeleteMcpMsg);
      break;
    case 'replyToPermission':
      to.message(26, message.message.value, encodeReplyToPermissionMsg);
      break;
    case 'hello':
      to.message(27, message.message.value, encodeHelloMsg);
      break;
    case 'generateTitle':
      to.message(28, message.message.value, encodeGenerateTitleMsg);
      break;
    case 'open':
      to.message(64, message.message.value, encodeOpenMsg);
      break;
    case 'prompt':
      to.message(65, message.message.value, encodePromptMsg);
      break;
    case 'answer':
      to.message(66, message.message.value, encodeAnswerMsg);
      break;
    case 'control':
      to.message(67, message.message.value, encodeControlMsg);
      break;
    case 'watch':
      to.message(68, message.message.value, encodeWatchMsg);
      break;
    case 'unwatch':
      to.message(69, message.message.value, encodeUnwatchMsg);
      break;
    case 'leave':
      to.message(70, message.message.value, encodeLeaveMsg);
      break;
    case 'enter':
      to.message(71, message.message.value, encodeEnterMsg);
      break;
  }
  if (message.requestId !== 0) to.number(100, message.requestId);
}

function decodeClientMessage(from: Reader): ClientMessage {
  const message: Draft<ClientMessage> = { requestId: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.message = { case: 'send', value: from.message(decodeSendMsg) };
        break;
      case 18:
        message.message = { case: 'stream', value: from.message(decodeStreamMsg) };
        break;
      case 26:
        message.message = { case: 'ping', value: from.message(decodePingMsg) };
        break;
      case 34:
        message.message = { case: 'sessions', value: from.message(decodeSessionsMsg) };
        break;
      case 42:
        message.message = { case: 'kill', value: from.message(decodeKillMsg) };
        break;
      case 50:
        message.message = { case: 'getConfig', value: from.message(decodeGetConfigMsg) };
        break;
      case 58:
        message.message = { case: 'setConfig', value: from.message(decodeSetConfigMsg) };
        break;
      case 66:
        message.message = { case: 'reload', value: from.message(decodeReloadMsg) };
        break;
      case 74:
        message.message = { case: 'subscribeEvents', value: from.message(decodeSubscribeEventsMsg) };
        break;
      case 82:
        message.message = { case: 'replyToAsk', value: from.message(decodeReplyToAskMsg) };
        break;
      case 90:
        message.message = { case: 'getStats', value: from.message(decodeGetStatsMsg) };
        break;
      case 122:
        message.message = { case: 'compact', value: from.message(decodeCompactMsg) };
        break;
      case 130:
        message.message = { case: 'subscribeEvent', value: from.message(decodeSubscribeEventMsg) };
        break;
      case 138:
        message.message = { case: 'unsubscribeEvent', value: from.message(decodeUnsubscribeEventMsg) };
        break;
      case 146:
        message.message = { case: 'listSubscriptions', value: from.message(decodeListSubscriptionsMsg) };
        break;
      case 154:
        message.message = { case: 'publishEvent', value: from.message(decodePublishEventMsg) };
        break;
      case 162:
        message.message = { case: 'listAgents', value: from.message(decodeListAgentsMsg) };
        break;
      case 170:
        message.message = { case: 'upsertAgent', value: from.message(decodeUpsertAgentMsg) };
        break;
      case 178:
        message.message = { case: 'deleteAgent', value: from.message(decodeDeleteAgentMsg) };
        break;
      case 186:
        message.message = { case: 'listMcps', value: from.message(decodeListMcpsMsg) };
        break;
      case 194:
        message.message = { case: 'upsertMcp', value: from.message(decodeUpsertMcpMsg) };
        break;
      case 202:
        message.message = { case: 'deleteMcp', value: from.message(decodeDeleteMcpMsg) };
        break;
      case 210:
        message.message = { case: 'replyToPermission', value: from.message(decodeReplyToPermissionMsg) };
        break;
      case 218:
        message.message = { case: 'hello', value: from.message(decodeHelloMsg) };
        break;
      case 226:
        message.message = { case: 'generateTitle', value: from.message(decodeGenerateTitleMsg) };
        break;
      case 514:
        message.message = { case: 'open', value: from.message(decodeOpenMsg) };
        break;
      case 522:
        message.message = { case: 'prompt', value: from.message(decodePromptMsg) };
        break;
      case 530:
        message.message = { case: 'answer', value: from.message(decodeAnswerMsg) };
        break;
      case 538:
        message.message = { case: 'control', value: from.message(decodeControlMsg) };
        break;
      case 546:
        message.message = { case: 'watch', value: from.message(decodeWatchMsg) };
        break;
      case 554:
        message.message = { case: 'unwatch', value: from.message(decodeUnwatchMsg) };
        break;
      case 562:
        message.message = { case: 'leave', value: from.message(decodeLeaveMsg) };
        break;
      case 570:
        message.message = { case: 'enter', value: from.message(decodeEnterMsg) };
        break;
      case 800:
        message.requestId = from.uint32();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type ServerMessageCase =
  | { readonly case: 'response'; readonly value: ResponseMsg }
  | { readonly case: 'stream'; readonly value: StreamEvent }
  | { readonly case: 'error'; readonly value: ErrorMsg }
  | { readonly case: 'pong'; readonly value: PongMsg }
  | { readonly case: 'sessions'; readonly value: SessionsList }
  | { readonly case: 'config'; readonly value: ConfigMsg }
  | { readonly case: 'agentEvent'; readonly value: AgentEventMsg }
  | { readonly case: 'stats'; readonly value: StatsMsg }
  | { readonly case: 'compact'; readonly value: CompactReply }
  | { readonly case: 'subscription'; readonly value: SubscriptionInfo }
  | { readonly case: 'subscriptions'; readonly value: SubscriptionList }
  | { readonly case: 'agents'; readonly value: AgentList }
  | { readonly case: 'mcps'; readonly value: McpList }
  | { readonly case: 'hello'; readonly value: HelloReply }
  | { readonly case: 'title'; readonly value: TitleReply }
  | { readonly case: 'open'; readonly value: OpenReply }
  | { readonly case: 'coreEvents'; readonly value: CoreEvents }
  | { readonly case: 'answer'; readonly value: AnswerReply }
  | { readonly case: 'watchEnd'; readonly value: WatchEnd };

export interface ServerMessage {
  readonly message?: ServerMessageCase;
  readonly requestId: number;
}

function encodeServerMessage(message: ServerMessage, to: Writer): void {
  switch (message.message?.case) {
    case 'response':
      to.message(1, message.message.value, encodeResponseMsg);
      break;
    case 'stream':
      to.message(2, message.message.value, encodeStreamEvent);
      break;
    case 'error':
      to.message(3, message.message.value, encodeErrorMsg);
      break;
    case 'pong':
      to.message(4, message.message.value, encodePongMsg);
      break;
    case 'sessions':
      to.message(5, message.message.value, encodeSessionsList);
      break;
    case 'config':
      to.message(6, message.message.value, encodeConfigMsg);
      break;
    case 'agentEvent':
      to.message(7, message.message.value, encodeAgentEventMsg);
      break;
    case 'stats':
      to.message(8, message.message.value, encodeStatsMsg);
      break;
    case 'compact':
      to.message(11, message.message.value, encodeCompactReply);
      break;
    case 'subscription':
      to.message(12, message.message.value, encodeSubscriptionInfo);
      break;
    case 'subscriptions':
      to.message(13, message.message.value, encodeSubscriptionList);
      break;
    case 'agents':
      to.message(14, message.message.value, encodeAgentList);
      break;
    case 'mcps':
      to.message(15, message.message.value, encodeMcpList);
      break;
    case 'hello':
      to.message(16, message.message.value, encodeHelloReply);
      break;
    case 'title':
      to.message(17, message.message.value, encodeTitleReply);
      break;
    case 'open':
      to.message(64, message.message.value, encodeOpenReply);
      break;
    case 'coreEvents':
      to.message(65, message.message.value, encodeCoreEvents);
      break;
    case 'answer':
      to.message(66, message.message.value, encodeAnswerReply);
      break;
    case 'watchEnd':
      to.message(67, message.message.value, encodeWatchEnd);
      break;
  }
  if (message.requestId !== 0) to.number(100, message.requestId);
}

function decodeServerMessage(from: Reader): ServerMessage {
  const message: Draft<ServerMessage> = { requestId: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.message = { case: 'response', value: from.message(decodeResponseMsg) };
        break;
      case 18:
        message.message = { case: 'stream', value: from.message(decodeStreamEvent) };
        break;
      case 26:
        message.message = { case: 'error', value: from.message(decodeErrorMsg) };
        break;
      case 34:
        message.message = { case: 'pong', value: from.message(decodePongMsg) };
        break;
      case 42:
        message.message = { case: 'sessions', value: from.message(decodeSessionsList) };
        break;
      case 50:
        message.message = { case: 'config', value: from.message(decodeConfigMsg) };
        break;
      case 58:
        message.message = { case: 'agentEvent', value: from.message(decodeAgentEventMsg) };
        break;
      case 66:
        message.message = { case: 'stats', value: from.message(decodeStatsMsg) };
        break;
      case 90:
        message.message = { case: 'compact', value: from.message(decodeCompactReply) };
        break;
      case 98:
        message.message = { case: 'subscription', value: from.message(decodeSubscriptionInfo) };
        break;
      case 106:
        message.message = { case: 'subscriptions', value: from.message(decodeSubscriptionList) };
        break;
      case 114:
        message.message = { case: 'agents', value: from.message(decodeAgentList) };
        break;
      case 122:
        message.message = { case: 'mcps', value: from.message(decodeMcpList) };
        break;
      case 130:
        message.message = { case: 'hello', value: from.message(decodeHelloReply) };
        break;
      case 138:
        message.message = { case: 'title', value: from.message(decodeTitleReply) };
        break;
      case 514:
        message.message = { case: 'open', value: from.message(decodeOpenReply) };
        break;
      case 522:
        message.message = { case: 'coreEvents', value: from.message(decodeCoreEvents) };
        break;
      case 530:
        message.message = { case: 'answer', value: from.message(decodeAnswerReply) };
        break;
      case 538:
        message.message = { case: 'watchEnd', value: from.message(decodeWatchEnd) };
        break;
      case 800:
        message.requestId = from.uint32();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface HelloMsg {
  /** Of this protocol: 2. */
  readonly version: number;
  /** The program and its version, such as `crab/1.0.0`. */
  readonly client: string;
  /** What the client understands beyond the version, such as `core-events`. */
  readonly capabilities: readonly string[];
  /** Where the connection itself does not tell who it is. */
  readonly token?: string;
}

function encodeHelloMsg(message: HelloMsg, to: Writer): void {
  if (message.version !== 0) to.number(1, message.version);
  if (message.client !== '') to.string(2, message.client);
  for (const item of message.capabilities) to.string(3, item);
  if (message.token !== undefined) to.string(4, message.token);
}

function decodeHelloMsg(from: Reader): HelloMsg {
  const message: Draft<HelloMsg> = { version: 0, client: '', capabilities: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.version = from.uint32();
        break;
      case 18:
        message.client = from.string();
        break;
      case 26:
        message.capabilities.push(from.string());
        break;
      case 34:
        message.token = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface HelloReply {
  readonly version: number;
  readonly server: string;
  readonly capabilities: readonly string[];
  /** Whose daemon it is: the folder that it keeps everything in, and the user id that it runs under. */
  readonly home: string;
  readonly uid?: number;
  readonly pid: number;
  /** To clients that name `basis`: what the daemon stands on, each as NAME=DIGEST. A variable of its environment by its name, a settings file by its path. Whoever has the same digests would come to the same in a process of their own. */
  readonly basis: readonly string[];
}

function encodeHelloReply(message: HelloReply, to: Writer): void {
  if (message.version !== 0) to.number(1, message.version);
  if (message.server !== '') to.string(2, message.server);
  for (const item of message.capabilities) to.string(3, item);
  if (message.home !== '') to.string(4, message.home);
  if (message.uid !== undefined) to.number(5, message.uid);
  if (message.pid !== 0) to.number(6, message.pid);
  for (const item of message.basis) to.string(7, item);
}

function decodeHelloReply(from: Reader): HelloReply {
  const message: Draft<HelloReply> = {
    version: 0,
    server: '',
    capabilities: [],
    home: '',
    pid: 0,
    basis: [],
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.version = from.uint32();
        break;
      case 18:
        message.server = from.string();
        break;
      case 26:
        message.capabilities.push(from.string());
        break;
      case 34:
        message.home = from.string();
        break;
      case 40:
        message.uid = from.uint32();
        break;
      case 48:
        message.pid = from.uint32();
        break;
      case 58:
        message.basis.push(from.string());
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface SendMsg {
  readonly agent: string;
  readonly content: string;
  /** `user` where it is absent. */
  readonly sender?: string;
  /** For this run alone; absolute. */
  readonly cwd?: string;
  /** The agent that answers in this turn in place of the conversation's own. */
  readonly guest?: string;
}

function encodeSendMsg(message: SendMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.content !== '') to.string(2, message.content);
  if (message.sender !== undefined) to.string(4, message.sender);
  if (message.cwd !== undefined) to.string(5, message.cwd);
  if (message.guest !== undefined) to.string(6, message.guest);
}

function decodeSendMsg(from: Reader): SendMsg {
  const message: Draft<SendMsg> = { agent: '', content: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.content = from.string();
        break;
      case 34:
        message.sender = from.string();
        break;
      case 42:
        message.cwd = from.string();
        break;
      case 50:
        message.guest = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface StreamMsg {
  readonly agent: string;
  readonly content: string;
  readonly sender?: string;
  readonly cwd?: string;
  readonly guest?: string;
}

function encodeStreamMsg(message: StreamMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.content !== '') to.string(2, message.content);
  if (message.sender !== undefined) to.string(4, message.sender);
  if (message.cwd !== undefined) to.string(5, message.cwd);
  if (message.guest !== undefined) to.string(6, message.guest);
}

function decodeStreamMsg(from: Reader): StreamMsg {
  const message: Draft<StreamMsg> = { agent: '', content: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.content = from.string();
        break;
      case 34:
        message.sender = from.string();
        break;
      case 42:
        message.cwd = from.string();
        break;
      case 50:
        message.guest = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ResponseMsg {
  readonly agent: string;
  readonly content: string;
  /** Empty when the run succeeded. */
  readonly error: string;
  /** As in `ErrorMsg`; 0 when the run succeeded. */
  readonly code: number;
  readonly usage?: TokenUsage;
  /** As in `ErrorMsg`; absent when the run succeeded. */
  readonly name?: string;
  readonly hint?: string;
}

function encodeResponseMsg(message: ResponseMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.content !== '') to.string(2, message.content);
  if (message.error !== '') to.string(3, message.error);
  if (message.code !== 0) to.number(4, message.code);
  if (message.usage !== undefined) to.message(5, message.usage, encodeTokenUsage);
  if (message.name !== undefined) to.string(6, message.name);
  if (message.hint !== undefined) to.string(7, message.hint);
}

function decodeResponseMsg(from: Reader): ResponseMsg {
  const message: Draft<ResponseMsg> = { agent: '', content: '', error: '', code: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.content = from.string();
        break;
      case 26:
        message.error = from.string();
        break;
      case 32:
        message.code = from.uint32();
        break;
      case 42:
        message.usage = from.message(decodeTokenUsage);
        break;
      case 50:
        message.name = from.string();
        break;
      case 58:
        message.hint = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type StreamEventCase =
  | { readonly case: 'start'; readonly value: StreamStart }
  | { readonly case: 'chunk'; readonly value: StreamChunk }
  | { readonly case: 'thinking'; readonly value: StreamThinking }
  | { readonly case: 'toolStart'; readonly value: ToolStartEvent }
  | { readonly case: 'toolResult'; readonly value: ToolResultEvent }
  | { readonly case: 'toolsComplete'; readonly value: ToolsCompleteEvent }
  | { readonly case: 'askUser'; readonly value: AskUserEvent }
  | { readonly case: 'end'; readonly value: StreamEnd }
  | { readonly case: 'contextUsage'; readonly value: ContextUsageEvent }
  /** Only to clients whose Hello names `permissions`. */
  | { readonly case: 'permissionRequest'; readonly value: PermissionRequestEvent };

export interface StreamEvent {
  readonly event?: StreamEventCase;
}

function encodeStreamEvent(message: StreamEvent, to: Writer): void {
  switch (message.event?.case) {
    case 'start':
      to.message(1, message.event.value, encodeStreamStart);
      break;
    case 'chunk':
      to.message(2, message.event.value, encodeStreamChunk);
      break;
    case 'thinking':
      to.message(3, message.event.value, encodeStreamThinking);
      break;
    case 'toolStart':
      to.message(4, message.event.value, encodeToolStartEvent);
      break;
    case 'toolResult':
      to.message(5, message.event.value, encodeToolResultEvent);
      break;
    case 'toolsComplete':
      to.message(6, message.event.value, encodeToolsCompleteEvent);
      break;
    case 'askUser':
      to.message(7, message.event.value, encodeAskUserEvent);
      break;
    case 'end':
      to.message(8, message.event.value, encodeStreamEnd);
      break;
    case 'contextUsage':
      to.message(9, message.event.value, encodeContextUsageEvent);
      break;
    case 'permissionRequest':
      to.message(10, message.event.value, encodePermissionRequestEvent);
      break;
  }
}

function decodeStreamEvent(from: Reader): StreamEvent {
  const message: Draft<StreamEvent> = {};
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.event = { case: 'start', value: from.message(decodeStreamStart) };
        break;
      case 18:
        message.event = { case: 'chunk', value: from.message(decodeStreamChunk) };
        break;
      case 26:
        message.event = { case: 'thinking', value: from.message(decodeStreamThinking) };
        break;
      case 34:
        message.event = { case: 'toolStart', value: from.message(decodeToolStartEvent) };
        break;
      case 42:
        message.event = { case: 'toolResult', value: from.message(decodeToolResultEvent) };
        break;
      case 50:
        message.event = { case: 'toolsComplete', value: from.message(decodeToolsCompleteEvent) };
        break;
      case 58:
        message.event = { case: 'askUser', value: from.message(decodeAskUserEvent) };
        break;
      case 66:
        message.event = { case: 'end', value: from.message(decodeStreamEnd) };
        break;
      case 74:
        message.event = { case: 'contextUsage', value: from.message(decodeContextUsageEvent) };
        break;
      case 82:
        message.event = { case: 'permissionRequest', value: from.message(decodePermissionRequestEvent) };
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface StreamStart {
  readonly agent: string;
}

function encodeStreamStart(message: StreamStart, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
}

function decodeStreamStart(from: Reader): StreamStart {
  const message: Draft<StreamStart> = { agent: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface StreamChunk {
  readonly content: string;
}

function encodeStreamChunk(message: StreamChunk, to: Writer): void {
  if (message.content !== '') to.string(1, message.content);
}

function decodeStreamChunk(from: Reader): StreamChunk {
  const message: Draft<StreamChunk> = { content: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.content = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface StreamThinking {
  readonly content: string;
}

function encodeStreamThinking(message: StreamThinking, to: Writer): void {
  if (message.content !== '') to.string(1, message.content);
}

function decodeStreamThinking(from: Reader): StreamThinking {
  const message: Draft<StreamThinking> = { content: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.content = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ToolStartEvent {
  readonly calls: readonly ToolCall[];
}

function encodeToolStartEvent(message: ToolStartEvent, to: Writer): void {
  for (const item of message.calls) to.message(1, item, encodeToolCall);
}

function decodeToolStartEvent(from: Reader): ToolStartEvent {
  const message: Draft<ToolStartEvent> = { calls: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.calls.push(from.message(decodeToolCall));
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** A JSON object. */
  readonly arguments: string;
}

function encodeToolCall(message: ToolCall, to: Writer): void {
  if (message.id !== '') to.string(1, message.id);
  if (message.name !== '') to.string(2, message.name);
  if (message.arguments !== '') to.string(3, message.arguments);
}

function decodeToolCall(from: Reader): ToolCall {
  const message: Draft<ToolCall> = { id: '', name: '', arguments: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.id = from.string();
        break;
      case 18:
        message.name = from.string();
        break;
      case 26:
        message.arguments = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Results come in the order in which the calls end. */
export interface ToolResultEvent {
  readonly callId: string;
  readonly output: string;
  readonly durationMs: number;
  readonly isError: boolean;
}

function encodeToolResultEvent(message: ToolResultEvent, to: Writer): void {
  if (message.callId !== '') to.string(1, message.callId);
  if (message.output !== '') to.string(2, message.output);
  if (message.durationMs !== 0) to.number(3, message.durationMs);
  if (message.isError) to.number(4, message.isError ? 1 : 0);
}

function decodeToolResultEvent(from: Reader): ToolResultEvent {
  const message: Draft<ToolResultEvent> = { callId: '', output: '', durationMs: 0, isError: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.callId = from.string();
        break;
      case 18:
        message.output = from.string();
        break;
      case 24:
        message.durationMs = from.number();
        break;
      case 32:
        message.isError = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type ToolsCompleteEvent = Readonly<Record<never, never>>;

function encodeToolsCompleteEvent(): void {}

function decodeToolsCompleteEvent(from: Reader): ToolsCompleteEvent {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export interface AskUserEvent {
  readonly questions: readonly UserQuestion[];
}

function encodeAskUserEvent(message: AskUserEvent, to: Writer): void {
  for (const item of message.questions) to.message(1, item, encodeUserQuestion);
}

function decodeAskUserEvent(from: Reader): AskUserEvent {
  const message: Draft<AskUserEvent> = { questions: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.questions.push(from.message(decodeUserQuestion));
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface UserQuestion {
  readonly question: string;
  readonly options: readonly QuestionOption[];
  readonly multiSelect: boolean;
}

function encodeUserQuestion(message: UserQuestion, to: Writer): void {
  if (message.question !== '') to.string(1, message.question);
  for (const item of message.options) to.message(2, item, encodeQuestionOption);
  if (message.multiSelect) to.number(3, message.multiSelect ? 1 : 0);
}

function decodeUserQuestion(from: Reader): UserQuestion {
  const message: Draft<UserQuestion> = { question: '', options: [], multiSelect: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.question = from.string();
        break;
      case 18:
        message.options.push(from.message(decodeQuestionOption));
        break;
      case 24:
        message.multiSelect = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface QuestionOption {
  readonly label: string;
  readonly description: string;
}

function encodeQuestionOption(message: QuestionOption, to: Writer): void {
  if (message.label !== '') to.string(1, message.label);
  if (message.description !== '') to.string(2, message.description);
}

function decodeQuestionOption(from: Reader): QuestionOption {
  const message: Draft<QuestionOption> = { label: '', description: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.label = from.string();
        break;
      case 18:
        message.description = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** The last event of a stream. */
export interface StreamEnd {
  readonly agent: string;
  /** Empty when the run succeeded. */
  readonly error: string;
  /** As in `ErrorMsg`; 0 when the run succeeded. */
  readonly code: number;
  /** As in `ErrorMsg`; absent when the run succeeded. */
  readonly name?: string;
  readonly hint?: string;
}

function encodeStreamEnd(message: StreamEnd, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.error !== '') to.string(2, message.error);
  if (message.code !== 0) to.number(3, message.code);
  if (message.name !== undefined) to.string(4, message.name);
  if (message.hint !== undefined) to.string(5, message.hint);
}

function decodeStreamEnd(from: Reader): StreamEnd {
  const message: Draft<StreamEnd> = { agent: '', error: '', code: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.error = from.string();
        break;
      case 24:
        message.code = from.uint32();
        break;
      case 34:
        message.name = from.string();
        break;
      case 42:
        message.hint = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ContextUsageEvent {
  readonly usage?: TokenUsage;
}

function encodeContextUsageEvent(message: ContextUsageEvent, to: Writer): void {
  if (message.usage !== undefined) to.message(1, message.usage, encodeTokenUsage);
}

function decodeContextUsageEvent(from: Reader): ContextUsageEvent {
  const message: Draft<ContextUsageEvent> = {};
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.usage = from.message(decodeTokenUsage);
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface TokenUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
  readonly cacheHitTokens?: number;
  readonly cacheMissTokens?: number;
  readonly reasoningTokens?: number;
}

function encodeTokenUsage(message: TokenUsage, to: Writer): void {
  if (message.promptTokens !== 0) to.number(1, message.promptTokens);
  if (message.completionTokens !== 0) to.number(2, message.completionTokens);
  if (message.totalTokens !== 0) to.number(3, message.totalTokens);
  if (message.cacheHitTokens !== undefined) to.number(4, message.cacheHitTokens);
  if (message.cacheMissTokens !== undefined) to.number(5, message.cacheMissTokens);
  if (message.reasoningTokens !== undefined) to.number(6, message.reasoningTokens);
}

function decodeTokenUsage(from: Reader): TokenUsage {
  const message: Draft<TokenUsage> = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.promptTokens = from.number();
        break;
      case 16:
        message.completionTokens = from.number();
        break;
      case 24:
        message.totalTokens = from.number();
        break;
      case 32:
        message.cacheHitTokens = from.number();
        break;
      case 40:
        message.cacheMissTokens = from.number();
        break;
      case 48:
        message.reasoningTokens = from.number();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface PermissionRequestEvent {
  readonly id: string;
  readonly toolName: string;
  /** The call in a line, for people. */
  readonly inputSummary: string;
  /** A JSON object. */
  readonly toolInput: string;
  readonly reason: string;
}

function encodePermissionRequestEvent(message: PermissionRequestEvent, to: Writer): void {
  if (message.id !== '') to.string(1, message.id);
  if (message.toolName !== '') to.string(2, message.toolName);
  if (message.inputSummary !== '') to.string(3, message.inputSummary);
  if (message.toolInput !== '') to.string(4, message.toolInput);
  if (message.reason !== '') to.string(5, message.reason);
}

function decodePermissionRequestEvent(from: Reader): PermissionRequestEvent {
  const message: Draft<PermissionRequestEvent> = {
    id: '',
    toolName: '',
    inputSummary: '',
    toolInput: '',
    reason: '',
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.id = from.string();
        break;
      case 18:
        message.toolName = from.string();
        break;
      case 26:
        message.inputSummary = from.string();
        break;
      case 34:
        message.toolInput = from.string();
        break;
      case 42:
        message.reason = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ReplyToPermissionMsg {
  readonly agent: string;
  readonly sender: string;
  readonly id: string;
  readonly allowed: boolean;
  /** Told to the model. */
  readonly feedback?: string;
  /** The same call is not asked about again in this session. */
  readonly remember: boolean;
}

function encodeReplyToPermissionMsg(message: ReplyToPermissionMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.id !== '') to.string(3, message.id);
  if (message.allowed) to.number(4, message.allowed ? 1 : 0);
  if (message.feedback !== undefined) to.string(5, message.feedback);
  if (message.remember) to.number(6, message.remember ? 1 : 0);
}

function decodeReplyToPermissionMsg(from: Reader): ReplyToPermissionMsg {
  const message: Draft<ReplyToPermissionMsg> = {
    agent: '',
    sender: '',
    id: '',
    allowed: false,
    remember: false,
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.id = from.string();
        break;
      case 32:
        message.allowed = from.bool();
        break;
      case 42:
        message.feedback = from.string();
        break;
      case 48:
        message.remember = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ReplyToAskMsg {
  readonly agent: string;
  readonly sender: string;
  /** The label of an option, or words of one's own; for several questions a JSON array of strings. */
  readonly content: string;
}

function encodeReplyToAskMsg(message: ReplyToAskMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.content !== '') to.string(3, message.content);
}

function decodeReplyToAskMsg(from: Reader): ReplyToAskMsg {
  const message: Draft<ReplyToAskMsg> = { agent: '', sender: '', content: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.content = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface KillMsg {
  readonly agent: string;
  readonly sender: string;
  /** Only this run, also while it waits for its turn. */
  readonly run?: string;
}

function encodeKillMsg(message: KillMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.run !== undefined) to.string(3, message.run);
}

function decodeKillMsg(from: Reader): KillMsg {
  const message: Draft<KillMsg> = { agent: '', sender: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.run = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface CompactMsg {
  readonly agent: string;
  readonly sender: string;
  readonly focus?: string;
}

function encodeCompactMsg(message: CompactMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.focus !== undefined) to.string(3, message.focus);
}

function decodeCompactMsg(from: Reader): CompactMsg {
  const message: Draft<CompactMsg> = { agent: '', sender: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.focus = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface CompactReply {
  /** What the model sees from here on in the place of what was said; empty when there was nothing to compact. */
  readonly summary: string;
}

function encodeCompactReply(message: CompactReply, to: Writer): void {
  if (message.summary !== '') to.string(1, message.summary);
}

function decodeCompactReply(from: Reader): CompactReply {
  const message: Draft<CompactReply> = { summary: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.summary = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface GenerateTitleMsg {
  readonly agent: string;
  readonly sender: string;
}

function encodeGenerateTitleMsg(message: GenerateTitleMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
}

function decodeGenerateTitleMsg(from: Reader): GenerateTitleMsg {
  const message: Draft<GenerateTitleMsg> = { agent: '', sender: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface TitleReply {
  readonly title: string;
}

function encodeTitleReply(message: TitleReply, to: Writer): void {
  if (message.title !== '') to.string(1, message.title);
}

function decodeTitleReply(from: Reader): TitleReply {
  const message: Draft<TitleReply> = { title: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.title = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type PingMsg = Readonly<Record<never, never>>;

function encodePingMsg(): void {}

function decodePingMsg(from: Reader): PingMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export type PongMsg = Readonly<Record<never, never>>;

function encodePongMsg(): void {}

function decodePongMsg(from: Reader): PongMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

/** The codes of HTTP: 400 bad request, 401 who are you, 403 not yours, 404 not found, 409 busy, 413 too large, 426 another version is spoken here, 429 too many, 500 a failure of its own or of a run, 503 it is stopping. */
export interface ErrorMsg {
  readonly code: number;
  readonly message: string;
  /** Which of Crab's errors it is, such as `session-held`, and what to do about it. */
  readonly name?: string;
  readonly hint?: string;
}

function encodeErrorMsg(message: ErrorMsg, to: Writer): void {
  if (message.code !== 0) to.number(1, message.code);
  if (message.message !== '') to.string(2, message.message);
  if (message.name !== undefined) to.string(3, message.name);
  if (message.hint !== undefined) to.string(4, message.hint);
}

function decodeErrorMsg(from: Reader): ErrorMsg {
  const message: Draft<ErrorMsg> = { code: 0, message: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.code = from.uint32();
        break;
      case 18:
        message.message = from.string();
        break;
      case 26:
        message.name = from.string();
        break;
      case 34:
        message.hint = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type SessionsMsg = Readonly<Record<never, never>>;

function encodeSessionsMsg(): void {}

function decodeSessionsMsg(from: Reader): SessionsMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export interface SessionsList {
  readonly sessions: readonly ActiveConversationInfo[];
}

function encodeSessionsList(message: SessionsList, to: Writer): void {
  for (const item of message.sessions) to.message(1, item, encodeActiveConversationInfo);
}

function decodeSessionsList(from: Reader): SessionsList {
  const message: Draft<SessionsList> = { sessions: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.sessions.push(from.message(decodeActiveConversationInfo));
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ActiveConversationInfo {
  readonly agent: string;
  readonly sender: string;
  readonly cwd: string;
  /** A run is in flight. */
  readonly running: boolean;
  /** Prompts that wait behind it. */
  readonly queued: number;
  /** Questions that nobody has answered. */
  readonly questions: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastActive: number;
  /** Clients that follow it. */
  readonly watchers: number;
  readonly session: string;
  readonly title?: string;
  readonly messages: number;
  /** Commands and prompts that go on, or are due, behind its runs; it stays in memory for them. */
  readonly background: number;
}

function encodeActiveConversationInfo(message: ActiveConversationInfo, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.cwd !== '') to.string(3, message.cwd);
  if (message.running) to.number(4, message.running ? 1 : 0);
  if (message.queued !== 0) to.number(5, message.queued);
  if (message.questions !== 0) to.number(6, message.questions);
  if (message.createdAt !== 0) to.number(7, message.createdAt);
  if (message.lastActive !== 0) to.number(8, message.lastActive);
  if (message.watchers !== 0) to.number(9, message.watchers);
  if (message.session !== '') to.string(10, message.session);
  if (message.title !== undefined) to.string(11, message.title);
  if (message.messages !== 0) to.number(12, message.messages);
  if (message.background !== 0) to.number(13, message.background);
}

function decodeActiveConversationInfo(from: Reader): ActiveConversationInfo {
  const message: Draft<ActiveConversationInfo> = {
    agent: '',
    sender: '',
    cwd: '',
    running: false,
    queued: 0,
    questions: 0,
    createdAt: 0,
    lastActive: 0,
    watchers: 0,
    session: '',
    messages: 0,
    background: 0,
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.cwd = from.string();
        break;
      case 32:
        message.running = from.bool();
        break;
      case 40:
        message.queued = from.uint32();
        break;
      case 48:
        message.questions = from.uint32();
        break;
      case 56:
        message.createdAt = from.number();
        break;
      case 64:
        message.lastActive = from.number();
        break;
      case 72:
        message.watchers = from.uint32();
        break;
      case 82:
        message.session = from.string();
        break;
      case 90:
        message.title = from.string();
        break;
      case 96:
        message.messages = from.uint32();
        break;
      case 104:
        message.background = from.uint32();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type GetConfigMsg = Readonly<Record<never, never>>;

function encodeGetConfigMsg(): void {}

function decodeGetConfigMsg(from: Reader): GetConfigMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export interface SetConfigMsg {
  /** A JSON object, in the shape of config.toml. */
  readonly config: string;
}

function encodeSetConfigMsg(message: SetConfigMsg, to: Writer): void {
  if (message.config !== '') to.string(1, message.config);
}

function decodeSetConfigMsg(from: Reader): SetConfigMsg {
  const message: Draft<SetConfigMsg> = { config: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.config = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ConfigMsg {
  readonly config: string;
}

function encodeConfigMsg(message: ConfigMsg, to: Writer): void {
  if (message.config !== '') to.string(1, message.config);
}

function decodeConfigMsg(from: Reader): ConfigMsg {
  const message: Draft<ConfigMsg> = { config: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.config = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type ReloadMsg = Readonly<Record<never, never>>;

function encodeReloadMsg(): void {}

function decodeReloadMsg(from: Reader): ReloadMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export type GetStatsMsg = Readonly<Record<never, never>>;

function encodeGetStatsMsg(): void {}

function decodeGetStatsMsg(from: Reader): GetStatsMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export interface StatsMsg {
  readonly version: string;
  readonly pid: number;
  readonly uptimeMs: number;
  /** Bytes that the process holds. */
  readonly rss: number;
  readonly clients: number;
  /** In memory. */
  readonly conversations: number;
  /** In flight. */
  readonly runs: number;
  /** Since the start. */
  readonly totalRuns: number;
  readonly subscriptions: number;
  readonly agents: number;
}

function encodeStatsMsg(message: StatsMsg, to: Writer): void {
  if (message.version !== '') to.string(1, message.version);
  if (message.pid !== 0) to.number(2, message.pid);
  if (message.uptimeMs !== 0) to.number(3, message.uptimeMs);
  if (message.rss !== 0) to.number(4, message.rss);
  if (message.clients !== 0) to.number(5, message.clients);
  if (message.conversations !== 0) to.number(6, message.conversations);
  if (message.runs !== 0) to.number(7, message.runs);
  if (message.totalRuns !== 0) to.number(8, message.totalRuns);
  if (message.subscriptions !== 0) to.number(9, message.subscriptions);
  if (message.agents !== 0) to.number(10, message.agents);
}

function decodeStatsMsg(from: Reader): StatsMsg {
  const message: Draft<StatsMsg> = {
    version: '',
    pid: 0,
    uptimeMs: 0,
    rss: 0,
    clients: 0,
    conversations: 0,
    runs: 0,
    totalRuns: 0,
    subscriptions: 0,
    agents: 0,
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.version = from.string();
        break;
      case 16:
        message.pid = from.uint32();
        break;
      case 24:
        message.uptimeMs = from.number();
        break;
      case 32:
        message.rss = from.number();
        break;
      case 40:
        message.clients = from.uint32();
        break;
      case 48:
        message.conversations = from.uint32();
        break;
      case 56:
        message.runs = from.uint32();
        break;
      case 64:
        message.totalRuns = from.number();
        break;
      case 72:
        message.subscriptions = from.uint32();
        break;
      case 80:
        message.agents = from.uint32();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface SubscribeEventsMsg {
  /** Only what these say; all where they are empty. */
  readonly agents: readonly string[];
  readonly senders: readonly string[];
  readonly kinds: readonly number[];
}

function encodeSubscribeEventsMsg(message: SubscribeEventsMsg, to: Writer): void {
  for (const item of message.agents) to.string(1, item);
  for (const item of message.senders) to.string(2, item);
  for (const item of message.kinds) to.number(3, item);
}

function decodeSubscribeEventsMsg(from: Reader): SubscribeEventsMsg {
  const message: Draft<SubscribeEventsMsg> = { agents: [], senders: [], kinds: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agents.push(from.string());
        break;
      case 18:
        message.senders.push(from.string());
        break;
      case 24:
        message.kinds.push(from.uint32());
        break;
      case 26:
        from.packed(message.kinds);
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export const AgentEventKind = {
  TEXT_DELTA: 0,
  THINKING_DELTA: 1,
  TOOL_START: 2,
  TOOL_RESULT: 3,
  TOOLS_COMPLETE: 4,
  DONE: 5,
} as const;

export interface AgentEventMsg {
  readonly kind: number;
  readonly agent: string;
  readonly sender: string;
  readonly content: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly toolIsError: boolean;
  readonly toolName: string;
}

function encodeAgentEventMsg(message: AgentEventMsg, to: Writer): void {
  if (message.kind !== 0) to.number(1, message.kind);
  if (message.agent !== '') to.string(2, message.agent);
  if (message.sender !== '') to.string(3, message.sender);
  if (message.content !== '') to.string(4, message.content);
  if (message.timestamp !== 0) to.number(5, message.timestamp);
  if (message.toolIsError) to.number(6, message.toolIsError ? 1 : 0);
  if (message.toolName !== '') to.string(7, message.toolName);
}

function decodeAgentEventMsg(from: Reader): AgentEventMsg {
  const message: Draft<AgentEventMsg> = {
    kind: 0,
    agent: '',
    sender: '',
    content: '',
    timestamp: 0,
    toolIsError: false,
    toolName: '',
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.kind = from.uint32();
        break;
      case 18:
        message.agent = from.string();
        break;
      case 26:
        message.sender = from.string();
        break;
      case 34:
        message.content = from.string();
        break;
      case 40:
        message.timestamp = from.number();
        break;
      case 48:
        message.toolIsError = from.bool();
        break;
      case 58:
        message.toolName = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type ListAgentsMsg = Readonly<Record<never, never>>;

function encodeListAgentsMsg(): void {}

function decodeListAgentsMsg(from: Reader): ListAgentsMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export interface AgentList {
  readonly agents: readonly AgentInfo[];
}

function encodeAgentList(message: AgentList, to: Writer): void {
  for (const item of message.agents) to.message(1, item, encodeAgentInfo);
}

function decodeAgentList(from: Reader): AgentList {
  const message: Draft<AgentList> = { agents: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agents.push(from.message(decodeAgentInfo));
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface AgentInfo {
  readonly name: string;
  readonly description: string;
  readonly model: string;
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  readonly mcps: readonly string[];
  /** It came with Crab. */
  readonly builtin: boolean;
  readonly prompt: string;
}

function encodeAgentInfo(message: AgentInfo, to: Writer): void {
  if (message.name !== '') to.string(1, message.name);
  if (message.description !== '') to.string(2, message.description);
  if (message.model !== '') to.string(3, message.model);
  for (const item of message.tools) to.string(4, item);
  for (const item of message.skills) to.string(5, item);
  for (const item of message.mcps) to.string(6, item);
  if (message.builtin) to.number(7, message.builtin ? 1 : 0);
  if (message.prompt !== '') to.string(8, message.prompt);
}

function decodeAgentInfo(from: Reader): AgentInfo {
  const message: Draft<AgentInfo> = {
    name: '',
    description: '',
    model: '',
    tools: [],
    skills: [],
    mcps: [],
    builtin: false,
    prompt: '',
  };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.name = from.string();
        break;
      case 18:
        message.description = from.string();
        break;
      case 26:
        message.model = from.string();
        break;
      case 34:
        message.tools.push(from.string());
        break;
      case 42:
        message.skills.push(from.string());
        break;
      case 50:
        message.mcps.push(from.string());
        break;
      case 56:
        message.builtin = from.bool();
        break;
      case 66:
        message.prompt = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface UpsertAgentMsg {
  readonly name: string;
  /** A JSON object, in the shape of agents/NAME.toml. */
  readonly config: string;
}

function encodeUpsertAgentMsg(message: UpsertAgentMsg, to: Writer): void {
  if (message.name !== '') to.string(1, message.name);
  if (message.config !== '') to.string(2, message.config);
}

function decodeUpsertAgentMsg(from: Reader): UpsertAgentMsg {
  const message: Draft<UpsertAgentMsg> = { name: '', config: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.name = from.string();
        break;
      case 18:
        message.config = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface DeleteAgentMsg {
  readonly name: string;
}

function encodeDeleteAgentMsg(message: DeleteAgentMsg, to: Writer): void {
  if (message.name !== '') to.string(1, message.name);
}

function decodeDeleteAgentMsg(from: Reader): DeleteAgentMsg {
  const message: Draft<DeleteAgentMsg> = { name: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.name = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface ListMcpsMsg {
  readonly agent: string;
}

function encodeListMcpsMsg(message: ListMcpsMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
}

function decodeListMcpsMsg(from: Reader): ListMcpsMsg {
  const message: Draft<ListMcpsMsg> = { agent: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface McpList {
  readonly mcps: readonly McpInfo[];
}

function encodeMcpList(message: McpList, to: Writer): void {
  for (const item of message.mcps) to.message(1, item, encodeMcpInfo);
}

function decodeMcpList(from: Reader): McpList {
  const message: Draft<McpList> = { mcps: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.mcps.push(from.message(decodeMcpInfo));
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface McpInfo {
  readonly name: string;
  /** A JSON object, in the shape of a server in agents/NAME.toml; secrets are left out. */
  readonly config: string;
}

function encodeMcpInfo(message: McpInfo, to: Writer): void {
  if (message.name !== '') to.string(1, message.name);
  if (message.config !== '') to.string(2, message.config);
}

function decodeMcpInfo(from: Reader): McpInfo {
  const message: Draft<McpInfo> = { name: '', config: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.name = from.string();
        break;
      case 18:
        message.config = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface UpsertMcpMsg {
  readonly agent: string;
  readonly name: string;
  readonly config: string;
}

function encodeUpsertMcpMsg(message: UpsertMcpMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.name !== '') to.string(2, message.name);
  if (message.config !== '') to.string(3, message.config);
}

function decodeUpsertMcpMsg(from: Reader): UpsertMcpMsg {
  const message: Draft<UpsertMcpMsg> = { agent: '', name: '', config: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.name = from.string();
        break;
      case 26:
        message.config = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface DeleteMcpMsg {
  readonly agent: string;
  readonly name: string;
}

function encodeDeleteMcpMsg(message: DeleteMcpMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.name !== '') to.string(2, message.name);
}

function decodeDeleteMcpMsg(from: Reader): DeleteMcpMsg {
  const message: Draft<DeleteMcpMsg> = { agent: '', name: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.name = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface SubscribeEventMsg {
  /** Such as `agent:crab:done` or `rss:fetch`; it matches exactly. */
  readonly source: string;
  readonly targetAgent: string;
  readonly once: boolean;
}

function encodeSubscribeEventMsg(message: SubscribeEventMsg, to: Writer): void {
  if (message.source !== '') to.string(1, message.source);
  if (message.targetAgent !== '') to.string(2, message.targetAgent);
  if (message.once) to.number(3, message.once ? 1 : 0);
}

function decodeSubscribeEventMsg(from: Reader): SubscribeEventMsg {
  const message: Draft<SubscribeEventMsg> = { source: '', targetAgent: '', once: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.source = from.string();
        break;
      case 18:
        message.targetAgent = from.string();
        break;
      case 24:
        message.once = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface SubscriptionInfo {
  readonly id: number;
  readonly source: string;
  readonly targetAgent: string;
  readonly once: boolean;
}

function encodeSubscriptionInfo(message: SubscriptionInfo, to: Writer): void {
  if (message.id !== 0) to.number(1, message.id);
  if (message.source !== '') to.string(2, message.source);
  if (message.targetAgent !== '') to.string(3, message.targetAgent);
  if (message.once) to.number(4, message.once ? 1 : 0);
}

function decodeSubscriptionInfo(from: Reader): SubscriptionInfo {
  const message: Draft<SubscriptionInfo> = { id: 0, source: '', targetAgent: '', once: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.id = from.number();
        break;
      case 18:
        message.source = from.string();
        break;
      case 26:
        message.targetAgent = from.string();
        break;
      case 32:
        message.once = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface UnsubscribeEventMsg {
  readonly id: number;
}

function encodeUnsubscribeEventMsg(message: UnsubscribeEventMsg, to: Writer): void {
  if (message.id !== 0) to.number(1, message.id);
}

function decodeUnsubscribeEventMsg(from: Reader): UnsubscribeEventMsg {
  const message: Draft<UnsubscribeEventMsg> = { id: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.id = from.number();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export type ListSubscriptionsMsg = Readonly<Record<never, never>>;

function encodeListSubscriptionsMsg(): void {}

function decodeListSubscriptionsMsg(from: Reader): ListSubscriptionsMsg {
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);
  return {};
}

export interface SubscriptionList {
  readonly subscriptions: readonly SubscriptionInfo[];
}

function encodeSubscriptionList(message: SubscriptionList, to: Writer): void {
  for (const item of message.subscriptions) to.message(1, item, encodeSubscriptionInfo);
}

function decodeSubscriptionList(from: Reader): SubscriptionList {
  const message: Draft<SubscriptionList> = { subscriptions: [] };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.subscriptions.push(from.message(decodeSubscriptionInfo));
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface PublishEventMsg {
  readonly source: string;
  readonly payload: string;
  /** How many events have led to this one; 0 for one from outside. */
  readonly hops: number;
}

function encodePublishEventMsg(message: PublishEventMsg, to: Writer): void {
  if (message.source !== '') to.string(1, message.source);
  if (message.payload !== '') to.string(2, message.payload);
  if (message.hops !== 0) to.number(3, message.hops);
}

function decodePublishEventMsg(from: Reader): PublishEventMsg {
  const message: Draft<PublishEventMsg> = { source: '', payload: '', hops: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.source = from.string();
        break;
      case 18:
        message.payload = from.string();
        break;
      case 24:
        message.hops = from.uint32();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Opens a conversation. `request` is an OpenRequest. */
export interface OpenMsg {
  readonly request: string;
}

function encodeOpenMsg(message: OpenMsg, to: Writer): void {
  if (message.request !== '') to.string(1, message.request);
}

function decodeOpenMsg(from: Reader): OpenMsg {
  const message: Draft<OpenMsg> = { request: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.request = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** `reply` is an OpenReply. */
export interface OpenReply {
  readonly reply: string;
}

function encodeOpenReply(message: OpenReply, to: Writer): void {
  if (message.reply !== '') to.string(1, message.reply);
}

function decodeOpenReply(from: Reader): OpenReply {
  const message: Draft<OpenReply> = { reply: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.reply = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Opens a conversation as the daemon's own settings have it, for a client that has no declaration of its own: nothing of the client's machine goes along. Answered with `open`. */
export interface EnterMsg {
  readonly agent: string;
  /** Absent: one of its own for the session. */
  readonly sender?: string;
  /** A folder on the daemon's machine; absolute. Absent: that of the session, else the home folder of the daemon's user. */
  readonly cwd?: string;
  /** A SessionChoice. Absent: the session that agent and sender are at, or a new one where no sender is named. */
  readonly session?: string;
  readonly name?: string;
  /** An array of CommandInfo: what the client carries out itself. */
  readonly commands?: string;
  /** The client can answer questions; without it what would be asked is refused. */
  readonly asks: boolean;
}

function encodeEnterMsg(message: EnterMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== undefined) to.string(2, message.sender);
  if (message.cwd !== undefined) to.string(3, message.cwd);
  if (message.session !== undefined) to.string(4, message.session);
  if (message.name !== undefined) to.string(5, message.name);
  if (message.commands !== undefined) to.string(6, message.commands);
  if (message.asks) to.number(7, message.asks ? 1 : 0);
}

function decodeEnterMsg(from: Reader): EnterMsg {
  const message: Draft<EnterMsg> = { agent: '', asks: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.cwd = from.string();
        break;
      case 34:
        message.session = from.string();
        break;
      case 42:
        message.name = from.string();
        break;
      case 50:
        message.commands = from.string();
        break;
      case 56:
        message.asks = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Runs one line of input; answered with `core_events` until one is a `runEnd`. */
export interface PromptMsg {
  readonly agent: string;
  readonly sender: string;
  /** A Prompt. */
  readonly prompt: string;
  /** The name of the run for a `kill`, chosen by the client. */
  readonly run?: string;
  /** Begins nothing: what the run of that name says is told again from this number on, to a client that comes back. */
  readonly fromSeq?: number;
}

function encodePromptMsg(message: PromptMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.prompt !== '') to.string(3, message.prompt);
  if (message.run !== undefined) to.string(4, message.run);
  if (message.fromSeq !== undefined) to.number(5, message.fromSeq);
}

function decodePromptMsg(from: Reader): PromptMsg {
  const message: Draft<PromptMsg> = { agent: '', sender: '', prompt: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.prompt = from.string();
        break;
      case 34:
        message.run = from.string();
        break;
      case 40:
        message.fromSeq = from.number();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface AnswerMsg {
  readonly agent: string;
  readonly sender: string;
  readonly questionId: string;
  /** An Answer. */
  readonly answer: string;
}

function encodeAnswerMsg(message: AnswerMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.questionId !== '') to.string(3, message.questionId);
  if (message.answer !== '') to.string(4, message.answer);
}

function decodeAnswerMsg(from: Reader): AnswerMsg {
  const message: Draft<AnswerMsg> = { agent: '', sender: '', questionId: '', answer: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.questionId = from.string();
        break;
      case 34:
        message.answer = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface AnswerReply {
  /** False: somebody else was first, or nobody asks any more. */
  readonly accepted: boolean;
}

function encodeAnswerReply(message: AnswerReply, to: Writer): void {
  if (message.accepted) to.number(1, message.accepted ? 1 : 0);
}

function decodeAnswerReply(from: Reader): AnswerReply {
  const message: Draft<AnswerReply> = { accepted: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.accepted = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Answered with `pong`. `control` is a Control. */
export interface ControlMsg {
  readonly agent: string;
  readonly sender: string;
  readonly control: string;
}

function encodeControlMsg(message: ControlMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.control !== '') to.string(3, message.control);
}

function decodeControlMsg(from: Reader): ControlMsg {
  const message: Draft<ControlMsg> = { agent: '', sender: '', control: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 26:
        message.control = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Follows a conversation: answered with `core_events` of all its runs, whoever began them, from `from_seq` on. */
export interface WatchMsg {
  readonly agent: string;
  readonly sender: string;
  /** Absent: from here on. Of what is not kept any more a `gap` tells. */
  readonly fromSeq?: number;
  /** Where from_seq is absent: from the beginning of the run in flight, if there is one. */
  readonly inFlight?: boolean;
}

function encodeWatchMsg(message: WatchMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
  if (message.fromSeq !== undefined) to.number(3, message.fromSeq);
  if (message.inFlight !== undefined) to.number(4, message.inFlight ? 1 : 0);
}

function decodeWatchMsg(from: Reader): WatchMsg {
  const message: Draft<WatchMsg> = { agent: '', sender: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      case 24:
        message.fromSeq = from.number();
        break;
      case 32:
        message.inFlight = from.bool();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** Ends the watch, or the prompt's events, that was asked for under this id; the run goes on. */
export interface UnwatchMsg {
  readonly watchId: number;
}

function encodeUnwatchMsg(message: UnwatchMsg, to: Writer): void {
  if (message.watchId !== 0) to.number(1, message.watchId);
}

function decodeUnwatchMsg(from: Reader): UnwatchMsg {
  const message: Draft<UnwatchMsg> = { watchId: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.watchId = from.uint32();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** This client is done with the conversation; answered with `pong`. A run in flight goes on. When nobody else has it open, it leaves the memory behind that, and what works in its background ends. */
export interface LeaveMsg {
  readonly agent: string;
  readonly sender: string;
}

function encodeLeaveMsg(message: LeaveMsg, to: Writer): void {
  if (message.agent !== '') to.string(1, message.agent);
  if (message.sender !== '') to.string(2, message.sender);
}

function decodeLeaveMsg(from: Reader): LeaveMsg {
  const message: Draft<LeaveMsg> = { agent: '', sender: '' };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 10:
        message.agent = from.string();
        break;
      case 18:
        message.sender = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface WatchEnd {
  /** The next event's number, for the watch that goes on from here. */
  readonly nextSeq: number;
}

function encodeWatchEnd(message: WatchEnd, to: Writer): void {
  if (message.nextSeq !== 0) to.number(1, message.nextSeq);
}

function decodeWatchEnd(from: Reader): WatchEnd {
  const message: Draft<WatchEnd> = { nextSeq: 0 };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.nextSeq = from.number();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

export interface CoreEvents {
  /** The number of the first of them in its conversation; numbers have no holes. */
  readonly firstSeq: number;
  /** An array of Event. */
  readonly events: string;
  /** Events before these are missing here: this client was too slow, or came too late. */
  readonly gap: boolean;
  /** The run that said them, by the name that its client gave it. */
  readonly run?: string;
}

function encodeCoreEvents(message: CoreEvents, to: Writer): void {
  if (message.firstSeq !== 0) to.number(1, message.firstSeq);
  if (message.events !== '') to.string(2, message.events);
  if (message.gap) to.number(3, message.gap ? 1 : 0);
  if (message.run !== undefined) to.string(4, message.run);
}

function decodeCoreEvents(from: Reader): CoreEvents {
  const message: Draft<CoreEvents> = { firstSeq: 0, events: '', gap: false };
  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {
    switch (tag) {
      case 8:
        message.firstSeq = from.number();
        break;
      case 18:
        message.events = from.string();
        break;
      case 24:
        message.gap = from.bool();
        break;
      case 34:
        message.run = from.string();
        break;
      default:
        from.skip(tag);
    }
  }
  return message;
}

/** The bytes of one message, with `before` bytes left free in front of them. */
export function writeClientMessage(message: ClientMessage, before = 0): Uint8Array<ArrayBuffer> {
  const to = new Writer();
  encodeClientMessage(message, to);
  return to.finish(before);
}

/** Throws `WireError` for what is not well-formed. Fields that are not known are left out. */
export function readClientMessage(bytes: Uint8Array): ClientMessage {
  return decodeClientMessage(new Reader(bytes));
}

/** The bytes of one message, with `before` bytes left free in front of them. */
export function writeServerMessage(message: ServerMessage, before = 0): Uint8Array<ArrayBuffer> {
  const to = new Writer();
  encodeServerMessage(message, to);
  return to.finish(before);
}

/** Throws `WireError` for what is not well-formed. Fields that are not known are left out. */
export function readServerMessage(bytes: Uint8Array): ServerMessage {
  return decodeServerMessage(new Reader(bytes));
}
