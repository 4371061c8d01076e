// The client library: the protocol with a method for each message, for programs that are no part of Crab. It needs nothing
// but a way to connect, and finds the way back when a connection is lost.

import type { SessionChoice } from '../core/conversation.ts';
import type { Event } from '../core/event.ts';
import type { Control } from '../core/extension.ts';
import type { OpenReply, OpenRequest, Prompt } from '../core/platform.ts';
import type { Answer } from '../core/question.ts';
import type { Reply, ServerConnection, Value } from '../protocol/client.ts';
import { connectLasting, type LastingClient } from '../protocol/lasting-client.ts';
import type {
  ActiveConversationInfo,
  AgentEventMsg,
  AgentInfo,
  ClientMessageCase,
  EnterMsg,
  HelloReply,
  McpInfo,
  PublishEventMsg,
  ReplyToPermissionMsg,
  ResponseMsg,
  SendMsg,
  ServerMessageCase,
  StatsMsg,
  StreamEventCase,
  SubscribeEventMsg,
  SubscribeEventsMsg,
  SubscriptionInfo,
  UpsertMcpMsg,
} from '../protocol/messages.ts';
import { VERSION } from '../protocol/serve.ts';

export interface CrabOptions {
  /** What a connection that does not prove who it is must show. */
  readonly token?: string;
  /** The program and its version. Default: `crab-client`. */
  readonly name?: string;
  /** Default: all that this library understands. */
  readonly capabilities?: readonly string[];
  /** Milliseconds between tries to come back, the first one; each is twice the one before, up to 10 s. Default 250. */
  readonly retryMs?: number;
  /** Tries in a row, after which a lost connection is given up. Default 10; 0 never comes back. */
  readonly retries?: number;
  readonly sleep?: (ms: number) => Promise<void>;
}

/** Of `enter`. */
export interface Entrance extends Omit<Partial<EnterMsg>, 'agent' | 'session' | 'commands'> {
  readonly agent: string;
  /** Default: the session that agent and sender are at, or a new one where no sender is named. */
  readonly session?: SessionChoice;
}

export interface Conversation {
  readonly agent: string;
  readonly sender: string;
}

/** An event of a conversation and its number there. */
export interface Heard {
  readonly seq: number;
  readonly event: Event;
  /** Others before it are missing. */
  readonly gap: boolean;
  /** The run that said it, by the name that its client gave it. */
  readonly run?: string;
}

type Name = ClientMessageCase['case'];

const CAPABILITIES = ['core-events', 'permissions'];

export class Crab {
  readonly #client: LastingClient;
  #runs = 0;

  private constructor(client: LastingClient) {
    this.#client = client;
  }

  /** `dial` makes a connection, now and whenever one was lost. Throws why there is none. */
  static async over(dial: () => Promise<ServerConnection>, options: CrabOptions = {}): Promise<Crab> {
    const { name = 'crab-client', capabilities = CAPABILITIES, token } = options;
    const { retries = 10, retryMs = 250, sleep = pause } = options;
    const hello = { version: VERSION, client: name, capabilities, ...(token !== undefined && { token }) };
    return new Crab(await connectLasting({ dial, hello, retries, retryMs, sleep }));
  }

  /** Who serves. */
  get server(): HelloReply {
    return this.#client.server;
  }

  close(): void {
    this.#client.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Any message with one answer, by its name. Throws `RequestFailure` or `CrabError`. */
  request<Of extends Name, Answer extends ServerMessageCase['case']>(
    name: Of,
    value: Value<Of>,
    answer: Answer,
  ): Promise<Reply<Answer>> {
    return this.#client.request(name, value, answer);
  }

  /** Runs the agent to the end of its answer. */
  send(message: SendMsg): Promise<ResponseMsg> {
    return this.request('send', message, 'response');
  }

  /** Runs the agent; the last event is `end`. A lost connection ends it with an error, and the run goes on. */
  async *stream(message: SendMsg): AsyncGenerator<StreamEventCase, void> {
    for await (const said of this.#client.stream('stream', message)) {
      if (said.case !== 'stream' || said.value.event === undefined) continue;
      yield said.value.event;
      if (said.value.event.case === 'end') return;
    }
  }

  async ping(): Promise<void> {
    await this.request('ping', {}, 'pong');
  }

  /** Stops the run in flight, or that of this name. */
  async kill({ agent, sender }: Conversation, run?: string): Promise<void> {
    await this.request('kill', { agent, sender, ...(run !== undefined && { run }) }, 'pong');
  }

  async sessions(): Promise<readonly ActiveConversationInfo[]> {
    return (await this.request('sessions', {}, 'sessions')).sessions;
  }

  async getConfig(): Promise<unknown> {
    return JSON.parse((await this.request('getConfig', {}, 'config')).config);
  }

  async setConfig(config: Readonly<Record<string, unknown>>): Promise<void> {
    await this.request('setConfig', { config: JSON.stringify(config) }, 'pong');
  }

  async reload(): Promise<void> {
    await this.request('reload', {}, 'pong');
  }

  stats(): Promise<StatsMsg> {
    return this.request('getStats', {}, 'stats');
  }

  /** The summary. */
  async compact({ agent, sender }: Conversation, focus?: string): Promise<string> {
    const message = { agent, sender, ...(focus !== undefined && { focus }) };
    return (await this.request('compact', message, 'compact')).summary;
  }

  async generateTitle({ agent, sender }: Conversation): Promise<string> {
    return (await this.request('generateTitle', { agent, sender }, 'title')).title;
  }

  /** `content`: the label of an option or words of one's own, one for each question. */
  async replyToAsk({ agent, sender }: Conversation, ...content: readonly string[]): Promise<void> {
    const text = content.length === 1 ? (content[0] ?? '') : JSON.stringify(content);
    await this.request('replyToAsk', { agent, sender, content: text }, 'pong');
  }

  async replyToPermission(reply: Partial<ReplyToPermissionMsg> & Conversation & { readonly id: string }) {
    await this.request('replyToPermission', { allowed: false, remember: false, ...reply }, 'pong');
  }

  /** What all agents do, or those that the filter names, until the loop is left. Comes back after a lost connection. */
  async *watchAgents(filter: Partial<SubscribeEventsMsg> = {}): AsyncGenerator<AgentEventMsg, void> {
    const message = { agents: [], senders: [], kinds: [], ...filter };
    for await (const said of this.#client.stream('subscribeEvents', message))
      if (said.case === 'agentEvent') yield said.value;
  }

  subscribe(message: SubscribeEventMsg): Promise<SubscriptionInfo> {
    return this.request('subscribeEvent', message, 'subscription');
  }

  async unsubscribe(id: number): Promise<void> {
    await this.request('unsubscribeEvent', { id }, 'pong');
  }

  async subscriptions(): Promise<readonly SubscriptionInfo[]> {
    return (await this.request('listSubscriptions', {}, 'subscriptions')).subscriptions;
  }

  async publish(event: Omit<PublishEventMsg, 'hops'>): Promise<void> {
    await this.request('publishEvent', { hops: 0, ...event }, 'pong');
  }

  async agents(): Promise<readonly AgentInfo[]> {
    return (await this.request('listAgents', {}, 'agents')).agents;
  }

  async upsertAgent(name: string, config: Readonly<Record<string, unknown>>): Promise<void> {
    await this.request('upsertAgent', { name, config: JSON.stringify(config) }, 'agents');
  }

  async deleteAgent(name: string): Promise<void> {
    await this.request('deleteAgent', { name }, 'pong');
  }

  async mcps(agent: string): Promise<readonly McpInfo[]> {
    return (await this.request('listMcps', { agent }, 'mcps')).mcps;
  }

  async upsertMcp(message: UpsertMcpMsg): Promise<void> {
    await this.request('upsertMcp', message, 'pong');
  }

  async deleteMcp(agent: string, name: string): Promise<void> {
    await this.request('deleteMcp', { agent, name }, 'pong');
  }

  /** Opens a conversation, or joins it. */
  async open(request: OpenRequest): Promise<OpenReply> {
    const { reply } = await this.request('open', { request: JSON.stringify(request) }, 'open');
    return JSON.parse(reply);
  }

  /**
   * Opens a conversation under the daemon's own settings, or joins it: nothing of this machine goes along. After a lost
   * connection it is opened again as it was, also by a daemon that was restarted.
   */
  async enter({ session, ...message }: Entrance): Promise<OpenReply> {
    const chosen = session !== undefined && { session: JSON.stringify(session) };
    const { reply } = await this.request('enter', { asks: true, ...message, ...chosen }, 'open');
    return JSON.parse(reply);
  }

  /**
   * Runs one line of input in a conversation that is open; the last event is `runEnd`. After a lost connection it goes on
   * where it was.
   */
  async *prompt({ agent, sender }: Conversation, prompt: Prompt): AsyncGenerator<Heard, void> {
    const run = `${this.server.pid}-${Math.random().toString(36).slice(2)}-${++this.#runs}`;
    const message = { agent, sender, prompt: JSON.stringify(prompt), run };
    for await (const said of this.#client.stream('prompt', message)) {
      if (said.case !== 'coreEvents') continue;
      for (const heard of heardIn(said.value)) {
        yield heard;
        if (heard.event.type === 'runEnd') return;
      }
    }
  }

  /** False: somebody else was first, or nobody asks any more. */
  async answer({ agent, sender }: Conversation, questionId: string, answer: Answer): Promise<boolean> {
    const message = { agent, sender, questionId, answer: JSON.stringify(answer) };
    return (await this.request('answer', message, 'answer')).accepted;
  }

  async control({ agent, sender }: Conversation, control: Control): Promise<void> {
    await this.request('control', { agent, sender, control: JSON.stringify(control) }, 'pong');
  }

  async leave({ agent, sender }: Conversation): Promise<void> {
    await this.request('leave', { agent, sender }, 'pong');
  }

  /**
   * Everything that is said in a conversation, whoever makes it say it, from number `from` on (default: from now on), until
   * the loop is left. After a lost connection it goes on where it was; from a daemon that was restarted in the meantime it
   * hears a new numbering from its beginning, marked by a gap.
   */
  async *watch({ agent, sender }: Conversation, from?: number): AsyncGenerator<Heard, void> {
    const message = { agent, sender, ...(from !== undefined && { fromSeq: from }) };
    for await (const said of this.#client.stream('watch', message)) {
      if (said.case === 'watchEnd') return;
      if (said.case === 'coreEvents') yield* heardIn(said.value);
    }
  }
}

function heardIn({ firstSeq, events, gap, run }: Reply<'coreEvents'>): readonly Heard[] {
  return (JSON.parse(events) as readonly Event[]).map((event, index) => ({
    seq: firstSeq + index,
    event,
    gap: gap && index === 0,
    ...(run !== undefined && { run }),
  }));
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
