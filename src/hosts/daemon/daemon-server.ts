// What the daemon answers to each message. Conversations, agents, the bus and the settings are handed in; here is only
// which of them a message is for.

import { isAbsolute } from 'node:path';
import type { CommandInfo } from '../../core/command.ts';
import type { Address, SessionChoice } from '../../core/conversation.ts';
import type { Event } from '../../core/event.ts';
import type { Control } from '../../core/extension.ts';
import type { Clock } from '../../core/host.ts';
import type { OpenRequest, Prompt } from '../../core/platform.ts';
import type { Answer, ChoiceQuestion, Question } from '../../core/question.ts';
import { RequestFailure, statusOf } from '../../protocol/failure.ts';
import type {
  ActiveConversationInfo,
  AgentEventMsg,
  AgentInfo,
  CoreEvents,
  HelloMsg,
  McpInfo,
  ResponseMsg,
  StreamEvent,
  StreamMsg,
  SubscribeEventsMsg,
  UpsertMcpMsg,
  WatchEnd,
} from '../../protocol/messages.ts';
import { VERSION as PROTOCOL } from '../../protocol/serve.ts';
import type { Call, Peer, Server } from '../../protocol/server.ts';
import { agentEvent, endError, endFields, StreamMapping, tokens } from '../../protocol/stream-events.ts';
import type { Bus } from './bus.ts';
import type { Conversations, Live, Run } from './conversations.ts';
import { Feed } from './feed.ts';
import { joinNotices } from './join.ts';

/** The agents that the daemon knows, as files that people own. Methods throw `RequestFailure`. */
export interface Agents {
  list(): Promise<readonly AgentInfo[]>;
  /** `config` is JSON. */
  upsert(name: string, config: string): Promise<AgentInfo>;
  delete(name: string): Promise<void>;
  listMcps(agent: string): Promise<readonly McpInfo[]>;
  upsertMcp(message: UpsertMcpMsg): Promise<void>;
  deleteMcp(agent: string, name: string): Promise<void>;
}

/** For whom a conversation is opened. */
export interface Opener {
  readonly canAsk: boolean;
  /** As in `Peer`. */
  readonly isLimited: boolean;
  /** Where no folder is named it goes on in that of this session. Default: the one that the pair is at. */
  readonly session?: SessionChoice;
}

export interface DaemonServerOptions {
  readonly version: string;
  readonly home: string;
  readonly uid: number | undefined;
  readonly pid: number;
  /** As in `HelloReply`, as it is at this moment; absent where nobody compares. */
  readonly basis?: () => readonly string[];
  /** A conversation may send itself a prompt later, also when nobody looks at it. */
  readonly wakes?: boolean;
  readonly clock: Clock;
  readonly conversations: Conversations;
  readonly bus: Bus;
  readonly agents: Agents;
  /** What a conversation may do that a client opens by its names alone. */
  declare(address: Address, cwd: string | undefined, who: Opener): Promise<OpenRequest>;
  /** Values that came over the wire, or `RequestFailure` 400 that names what is wrong. */
  readonly read: {
    openRequest(json: string): OpenRequest;
    session(json: string): SessionChoice;
    commands(json: string): readonly CommandInfo[];
    prompt(json: string): Prompt;
    answer(json: string): Answer;
    control(json: string): Control;
  };
  /** JSON; secrets are left out. */
  config(): Promise<string>;
  setConfig(json: string): Promise<void>;
  reload(): Promise<void>;
  rss(): number;
  clients(): number;
}

const DEFAULT_SENDER = 'user';

export const CAPABILITIES = ['core-events', 'permissions'] as const;

export class DaemonServer implements Server {
  readonly #options: DaemonServerOptions;
  readonly #startedAt: number;
  readonly #feed = new Feed<{ readonly event: AgentEventMsg }>();
  readonly #mappings = new WeakMap<object, StreamMapping>();
  /** Runs of tasks, by their conversations. */
  readonly #overheard = new Map<string, object>();
  readonly #held = new WeakMap<Peer, Map<Live, (how: 'done' | 'lost') => void>>();
  #totalRuns = 0;

  constructor(options: DaemonServerOptions) {
    this.#options = options;
    this.#startedAt = options.clock.monotonic();
  }

  /** For `ConversationsOptions.heard`. */
  heard(address: Address, events: readonly Event[], run: Run): void {
    if (run.end !== undefined) {
      this.#totalRuns++;
      // A command is no work of an agent's.
      if (run.end.outcome !== 'command')
        void this.#options.bus
          .publish(`agent:${run.speaker ?? address.agent}:done`, run.end.text, run.hops)
          .catch(() => {});
    }
    this.#tell(address, events, run);
  }

  /** What is said in a conversation that no client has open. */
  overheard(address: Address, events: readonly Event[]): void {
    const key = `${address.agent}\n${address.sender}`;
    const run = this.#overheard.get(key) ?? {};
    if (events.at(-1)?.type === 'runEnd') this.#overheard.delete(key);
    else this.#overheard.set(key, run);
    this.#tell(address, events, run);
  }

  #tell(address: Address, events: readonly Event[], run: object): void {
    if (this.#feed.isIdle) return;
    let mapping = this.#mappings.get(run);
    if (mapping === undefined) {
      mapping = new StreamMapping();
      this.#mappings.set(run, mapping);
    }
    const at = this.#options.clock.now();
    for (const event of events)
      for (const said of mapping.of(event)) {
        const toolName = event.type === 'toolResult' ? event.message.toolName : undefined;
        const flat = agentEvent(said, address, at, toolName);
        if (flat !== undefined) this.#feed.put({ event: flat });
      }
  }

  async hello({ capabilities }: HelloMsg) {
    const { version, home, uid, pid, basis, wakes } = this.#options;
    return {
      version: PROTOCOL,
      server: `crab/${version}`,
      capabilities: [...CAPABILITIES, ...(basis ? ['basis'] : []), ...(wakes ? ['wakeups'] : [])],
      home,
      ...(uid !== undefined && { uid }),
      pid,
      basis: capabilities.includes('basis') ? (basis?.() ?? []) : [],
    };
  }

  async ping() {}

  async #started(message: StreamMsg, peer: Peer) {
    const { agent, content, sender = DEFAULT_SENDER, cwd, guest } = message;
    const { conversations } = this.#options;
    const address = { agent, sender };
    if (cwd !== undefined && !isAbsolute(cwd))
      throw new RequestFailure(400, `The folder ${cwd} must be an absolute path.`);
    await this.#recalled(address, cwd, peer);
    const prompt: Prompt = {
      text: content,
      ...(cwd !== undefined && { cwd }),
      ...(guest !== undefined && { guest }),
    };
    const from = conversations.get(address).log.next;
    return { ...conversations.begin(address, prompt), from };
  }

  /** One that has left the memory comes back. Who is limited joins none that was opened for more than they may. */
  async #recalled(address: Address, cwd: string | undefined, peer: Peer): Promise<void> {
    const { conversations, declare } = this.#options;
    const isLimited = peer.isLimited === true;
    if (conversations.find(address) !== undefined && !isLimited) return;
    const asked = await declare(address, cwd, { canAsk: true, isLimited });
    const live = conversations.find(address) ?? (await conversations.open(asked));
    if (isLimited && live.request !== asked) joinNotices(asked, live.request);
  }

  async send(message: StreamMsg, { peer, signal }: Call): Promise<ResponseMsg> {
    const { live, run, from } = await this.#started(message, peer);
    for await (const _ of this.#follow(live, from, run, signal));
    const { end } = run;
    if (end === undefined) throw new RequestFailure(500, 'The client left before the run was over.');
    return { agent: message.agent, content: end.text, ...endFields(end), usage: tokens(end.usage) };
  }

  async *stream(message: StreamMsg, { peer, signal }: Call): AsyncGenerator<StreamEvent, void> {
    const { live, run, from } = await this.#started(message, peer);
    const mapping = new StreamMapping();
    for await (const { events } of this.#answerable(live, peer, this.#follow(live, from, run, signal)))
      for (const event of JSON.parse(events) as readonly Event[])
        for (const said of mapping.of(event)) {
          if (said.case === 'permissionRequest' && !peer.capabilities.has('permissions')) continue;
          yield {
            event: said.case === 'end' ? { ...said, value: { ...said.value, agent: message.agent } } : said,
          };
        }
  }

  async sessions() {
    const { conversations } = this.#options;
    return {
      sessions: conversations
        .list()
        .map((live) => ({ ...infoOf(live), background: conversations.background(live) })),
    };
  }

  async kill(message: Address & { readonly run?: string }) {
    this.#options.conversations.kill(addressed(message), message.run);
  }

  async getConfig() {
    return { config: await this.#options.config() };
  }

  async setConfig({ config }: { readonly config: string }) {
    await this.#options.setConfig(config);
  }

  async reload() {
    await this.#options.reload();
  }

  async *subscribeEvents(
    { agents, senders, kinds }: SubscribeEventsMsg,
    { signal }: Call,
  ): AsyncGenerator<AgentEventMsg, void> {
    const among = <Item>(all: readonly Item[], one: Item) => all.length === 0 || all.includes(one);
    for await (const { event } of this.#feed.read(signal))
      if (among(agents, event.agent) && among(senders, event.sender) && among(kinds, event.kind)) yield event;
  }

  async replyToAsk(message: Address & { readonly content: string }) {
    const address = addressed(message);
    const question = this.#open(address, (one): one is ChoiceQuestion => one.kind === 'choice');
    const answer: Answer = { kind: 'choice', answers: answersOf(message.content, question) };
    await this.#answer(address, question.id, answer);
  }

  async replyToPermission(reply: Parameters<Server['replyToPermission']>[0]) {
    const { id, allowed, feedback, remember } = reply;
    const answer: Answer = {
      kind: 'permission',
      allowed,
      ...(feedback !== undefined && { feedback }),
      ...(remember && { remember: 'session' }),
    };
    await this.#answer(addressed(reply), id, answer);
  }

  #open<Kind extends Question>(address: Address, is: (question: Question) => question is Kind): Kind {
    const open = this.#options.conversations.get(address).questions.values();
    const found = [...open].map(({ question }) => question).find(is);
    if (found !== undefined) return found;
    throw new RequestFailure(404, `Nothing is asked in ${address.agent}/${address.sender}.`);
  }

  async #answer(address: Address, id: string, answer: Answer): Promise<void> {
    if (await this.#options.conversations.answer(address, id, answer)) return;
    throw new RequestFailure(409, 'Somebody else has answered, or nobody asks any more.');
  }

  async getStats() {
    const { version, pid, clock, rss, clients, conversations, bus, agents } = this.#options;
    const all = conversations.list();
    return {
      version,
      pid,
      uptimeMs: Math.round(clock.monotonic() - this.#startedAt),
      rss: rss(),
      clients: clients(),
      conversations: all.length,
      runs: all.filter(({ runs }) => runs.length > 0).length,
      totalRuns: this.#totalRuns,
      subscriptions: bus.list().length,
      agents: (await agents.list()).length,
    };
  }

  /** Empty when there is nothing to compact. */
  async compact(message: Address & { readonly focus?: string }, call: Call) {
    let summary = '';
    await this.#line(addressed(message), `/compact ${message.focus ?? ''}`.trim(), call, (event) => {
      if (event.type === 'compactEnd') summary = event.summary ?? '';
    });
    return { summary };
  }

  async generateTitle(message: Address, call: Call) {
    return { title: await this.#line(addressed(message), '/title', call) };
  }

  /** What a command of the conversation has to say. */
  async #line(
    address: Address,
    text: string,
    { peer, signal }: Call,
    heard: (event: Event) => void = () => {},
  ): Promise<string> {
    const { conversations } = this.#options;
    await this.#recalled(address, undefined, peer);
    const from = conversations.get(address).log.next;
    const { live, run } = conversations.begin(address, { text });
    for await (const { events } of this.#follow(live, from, run, signal))
      for (const event of JSON.parse(events) as readonly Event[]) heard(event);
    const error = run.end === undefined ? undefined : endError(run.end);
    if (error !== undefined) throw new RequestFailure(statusOf(error), error.message);
    return run.end?.text ?? '';
  }

  subscribeEvent(message: Parameters<Server['subscribeEvent']>[0]) {
    return this.#options.bus.subscribe(message);
  }

  async unsubscribeEvent({ id }: { readonly id: number }) {
    await this.#options.bus.unsubscribe(id);
  }

  async listSubscriptions() {
    return { subscriptions: this.#options.bus.list() };
  }

  async publishEvent({ source, payload, hops }: Parameters<Server['publishEvent']>[0]) {
    await this.#options.bus.publish(source, payload, hops);
  }

  async listAgents() {
    return { agents: await this.#options.agents.list() };
  }

  upsertAgent({ name, config }: { readonly name: string; readonly config: string }) {
    return this.#options.agents.upsert(name, config);
  }

  async deleteAgent({ name }: { readonly name: string }) {
    await this.#options.agents.delete(name);
  }

  async listMcps({ agent }: { readonly agent: string }) {
    return { mcps: await this.#options.agents.listMcps(agent) };
  }

  async upsertMcp(message: UpsertMcpMsg) {
    await this.#options.agents.upsertMcp(message);
  }

  async deleteMcp({ agent, name }: { readonly agent: string; readonly name: string }) {
    await this.#options.agents.deleteMcp(agent, name);
  }

  async open({ request }: { readonly request: string }, { peer, signal }: Call) {
    return this.#opened(this.#options.read.openRequest(request), peer, signal);
  }

  async enter(message: Parameters<Server['enter']>[0], { peer, signal }: Call) {
    const { agent, sender, cwd, session, name, commands, asks } = message;
    const { read, declare } = this.#options;
    const kind = sender === undefined ? 'new' : 'head';
    const chosen: SessionChoice = session === undefined ? { kind } : read.session(session);
    const who = { canAsk: asks, isLimited: peer.isLimited === true, session: chosen };
    const declared = await declare({ agent, sender: sender ?? '' }, cwd, who);
    const asked: OpenRequest = {
      agent,
      cwd: declared.cwd,
      declaration: declared.declaration,
      session: chosen,
      commands: commands === undefined ? [] : read.commands(commands),
      ...(sender !== undefined && { sender }),
      ...(name !== undefined && { name }),
    };
    return this.#opened(asked, peer, signal);
  }

  async #opened(asked: OpenRequest, peer: Peer, signal: AbortSignal) {
    const { conversations } = this.#options;
    let live = await conversations.open(asked);
    // One that was let go of while the answer was on its way is opened once more.
    while (conversations.find(live.address) !== live) live = await conversations.open(asked);
    const { reply } = live;
    const isJoined = live.request !== asked;
    const notices = isJoined ? joinNotices(asked, live.request) : reply.notices;
    this.#hold(live, peer, signal);
    if (isJoined && asked.name !== undefined)
      await conversations.control(live.address, { kind: 'setName', name: asked.name });
    return { reply: JSON.stringify({ ...reply, notices }) };
  }

  /** Until the client leaves it, or is gone: its signal aborts then. */
  #hold(live: Live, peer: Peer, signal: AbortSignal): void {
    let held = this.#held.get(peer);
    if (held === undefined) {
      held = new Map();
      this.#held.set(peer, held);
    }
    if (held.has(live)) return;
    const release = (how: 'done' | 'lost') => {
      signal.removeEventListener('abort', lose);
      if (!held.delete(live)) return;
      live.holders--;
      // Behind a network the client may be there still, and come back to hear the rest.
      if (live.holders === 0 && (how === 'done' || peer.isNear === true)) live.left = how;
    };
    const lose = () => {
      release('lost');
      void this.#options.conversations.letGo(live);
    };
    held.set(live, release);
    live.holders++;
    live.left = undefined;
    signal.addEventListener('abort', lose, { once: true });
    if (signal.aborted) lose();
  }

  async *prompt(
    message: Parameters<Server['prompt']>[0],
    { peer, signal }: Call,
  ): AsyncGenerator<CoreEvents, void> {
    const { conversations, read } = this.#options;
    const address = { agent: message.agent, sender: message.sender };
    if (message.fromSeq !== undefined) return yield* this.#goOn(message, message.fromSeq, { peer, signal });
    if (conversations.find(address) !== undefined) await this.#recalled(address, undefined, peer);
    const from = conversations.get(address).log.next;
    const { live, run } = conversations.begin(address, read.prompt(message.prompt), {
      ...(message.run !== undefined && { name: message.run }),
    });
    yield* this.#answerable(live, peer, this.#follow(live, from, run, signal));
  }

  async *#goOn(
    { agent, sender, run: name = '' }: Parameters<Server['prompt']>[0],
    fromSeq: number,
    { peer, signal }: Call,
  ): AsyncGenerator<CoreEvents, void> {
    const live = this.#options.conversations.get({ agent, sender });
    const run = live.runCalled(name);
    if (run === undefined) throw new RequestFailure(404, `No run ${JSON.stringify(name)} is known here.`);
    yield* this.#answerable(live, peer, this.#follow(live, fromSeq, run, signal));
  }

  /** While these are read, a question finds somebody there. */
  async *#answerable<Item>(live: Live, peer: Peer, items: AsyncIterable<Item>): AsyncGenerator<Item, void> {
    const counts = peer.capabilities.has('permissions') ? 1 : 0;
    live.answerers += counts;
    try {
      yield* items;
    } finally {
      live.answerers -= counts;
    }
  }

  async answer({ agent, sender, questionId, answer }: Parameters<Server['answer']>[0]) {
    const { conversations, read } = this.#options;
    return { accepted: await conversations.answer({ agent, sender }, questionId, read.answer(answer)) };
  }

  async control({ agent, sender, control }: Parameters<Server['control']>[0]) {
    const { conversations, read } = this.#options;
    await conversations.control({ agent, sender }, read.control(control));
  }

  /** Answered when what nobody uses any more has left the memory. */
  async leave({ agent, sender }: Address, { peer }: Call) {
    const { conversations } = this.#options;
    const live = conversations.find({ agent, sender });
    const release = live && this.#held.get(peer)?.get(live);
    if (live === undefined || release === undefined) return;
    release('done');
    await conversations.letGo(live);
  }

  async *watch(
    message: Parameters<Server['watch']>[0],
    { peer, signal }: Call,
  ): AsyncGenerator<CoreEvents | WatchEnd, void> {
    const { fromSeq, inFlight } = message;
    const live = this.#options.conversations.get(addressed(message));
    const begun = inFlight === true ? live.runs.find(({ first }) => first !== undefined)?.first : undefined;
    const events = this.#follow(live, fromSeq ?? begun ?? live.log.next, undefined, signal);
    yield* this.#answerable(live, peer, events);
    if (!signal.aborted) yield { nextSeq: live.log.next };
  }

  /** From number `from` on: everything, or what one run says until it is over. Ends when nothing more will be said, or the signal aborts. */
  async *#follow(
    live: Live,
    from: number,
    run: Run | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<CoreEvents, void> {
    let next = from;
    let isTold = false;
    let gap = false;
    live.watchers++;
    try {
      while (!signal.aborted) {
        const reading = live.log.read(next);
        if (reading === undefined) {
          if (run?.end !== undefined || live.log.isClosed) break;
          await live.log.wait(next, signal);
          continue;
        }
        const { first, count, json, run: number, name } = reading.events;
        next = first + count;
        gap ||= reading.gap;
        if (run !== undefined && number !== run.number) continue;
        isTold = run?.end !== undefined && json.includes('"type":"runEnd"');
        yield { firstSeq: first, events: json, gap, ...(name !== undefined && { run: name }) };
        gap = false;
        if (isTold) return;
      }
      // Its end is not in the log any more, but known.
      if (run?.end !== undefined && !signal.aborted)
        yield { firstSeq: next, events: JSON.stringify([run.end]), gap: true };
    } finally {
      live.watchers--;
      void this.#options.conversations.letGo(live);
    }
  }
}

/** The pair that a message is for: who names no sender there named none when it was spoken to, either. */
function addressed({ agent, sender }: Address): Address {
  return { agent, sender: sender === '' ? DEFAULT_SENDER : sender };
}

function infoOf({
  address,
  session,
  runs,
  questions,
  createdAt,
  lastActive,
  watchers,
}: Live): Omit<ActiveConversationInfo, 'background'> {
  return {
    ...address,
    cwd: session.cwd,
    running: runs.length > 0,
    queued: Math.max(0, runs.length - 1),
    questions: questions.size,
    createdAt,
    lastActive,
    watchers,
    session: session.id,
    ...(session.name !== undefined && { title: session.name }),
    messages: session.messages,
  };
}

/** One answer in words, or an array of them as JSON where several questions were asked. */
function answersOf(content: string, { questions }: ChoiceQuestion): readonly string[] {
  if (questions.length === 1) return [content];
  let given: unknown;
  try {
    given = JSON.parse(content);
  } catch {
    given = undefined;
  }
  if (Array.isArray(given) && given.length === questions.length) return given.map(String);
  throw new RequestFailure(
    400,
    `${questions.length} questions are asked: answer with a JSON array of as many strings.`,
  );
}
