// The conversations that a daemon has open. A run belongs to its conversation and to no client: it goes on when all of
// them are gone, and any of them may follow it, answer for it, or stop it.

import type { Address, SessionInfo } from '../../core/conversation.ts';
import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Event, RunEnd } from '../../core/event.ts';
import type { Control } from '../../core/extension.ts';
import type { Clock } from '../../core/host.ts';
import type { OpenReply, OpenRequest, Platform, Prompt } from '../../core/platform.ts';
import type { Answer, Question } from '../../core/question.ts';
import { runEnd } from '../../core/run-end.ts';
import { stoppedBy } from '../../faces/exit-code.ts';
import { EventLog } from './event-log.ts';

export interface ConversationLimits {
  /** Conversations without a run that stay in memory. */
  readonly maxIdle: number;
  /** Milliseconds without a run, after which a conversation leaves the memory. */
  readonly idleMs: number;
  /** Milliseconds that a question waits when no client is there who could answer it. */
  readonly questionMs: number;
}

export interface ConversationsOptions {
  readonly platform: Platform;
  readonly clock: Clock;
  /** As they are at this moment. */
  limits(): ConversationLimits;
  /** How much goes on, or is due, behind the runs of a conversation, and would end with it. */
  background(address: Address): number;
  /** A conversation that nobody uses could not be closed. */
  failed(error: unknown): void;
  /** One more is in memory. */
  loaded(): void;
  /** Told of everything, for those who watch all conversations. */
  heard(address: Address, events: readonly Event[], run: Run): void;
}

export interface Run {
  /** Counted from 1 in its conversation. */
  readonly number: number;
  /** The client's own name for it. */
  readonly name: string | undefined;
  /** How many events have led to it, one to the other. */
  readonly hops: number;
  readonly stop: AbortController;
  /** The number of its first event, once there is one. */
  first: number | undefined;
  /** Whose words it brings, once it has begun: those of a guest where there is one. */
  speaker: string | undefined;
  /** Set when it is over. */
  end: RunEnd | undefined;
}

export interface RunOptions {
  readonly name?: string;
  /** Default: 0. */
  readonly hops?: number;
}

export interface OpenQuestion {
  readonly question: Question;
  /** Aborted when it is answered, or when its run is over. */
  readonly settled: AbortController;
}

export class Live {
  readonly address: Address;
  readonly log = new EventLog();
  readonly createdAt: number;
  /** Those that are open, by their ids. */
  readonly questions = new Map<string, OpenQuestion>();
  /** In flight, and behind it those that wait for their turn. */
  readonly runs: Run[] = [];
  /** What it may do, as whoever opened it has declared. */
  readonly request: OpenRequest;
  readonly #opened: OpenReply;
  readonly #atNow: () => SessionInfo | undefined;
  #session: SessionInfo;
  lastActive: number;
  watchers = 0;
  /** Clients of Crab's own that have it open. */
  holders = 0;
  /**
   * None of them will come back: it leaves the memory, so that any process can open its session. Those who are `done` have
   * no use for what works in its background either; of those who are `lost` nobody knows.
   */
  left: 'done' | 'lost' | undefined;
  /** Those who follow it and could answer a question. */
  answerers = 0;
  runCount = 0;
  /** How many events have led to the run in flight, or to the last one, and to what works behind it. */
  hops = 0;
  /** Those that clients gave a name, the newest last; also some that are over, for a client that comes back. */
  readonly #named = new Map<string, Run>();

  /** `atNow` tells the session that it is at; undefined when the platform does not know at the moment. */
  constructor(request: OpenRequest, opened: OpenReply, atNow: () => SessionInfo | undefined, now: number) {
    this.request = request;
    this.#opened = opened;
    this.#atNow = atNow;
    this.#session = opened.session;
    this.address = opened.address;
    this.createdAt = now;
    this.lastActive = now;
  }

  /** A line may have taken it to another one than it was opened with. */
  get session(): SessionInfo {
    this.#session = this.#atNow() ?? this.#session;
    return this.#session;
  }

  get reply(): OpenReply {
    return { ...this.#opened, session: this.session };
  }

  /** Undefined also for one that is over and forgotten. */
  runCalled(name: string): Run | undefined {
    return this.#named.get(name);
  }

  remember(run: Run): void {
    if (run.name === undefined) return;
    this.#named.set(run.name, run);
    for (const [name, { end }] of this.#named) {
      if (this.#named.size <= REMEMBERED) return;
      if (end !== undefined) this.#named.delete(name);
    }
  }
}

/** Runs that are over and still known by their names. */
const REMEMBERED = 64;

export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #all = new Map<string, Live>();
  readonly #opening = new Map<string, Promise<Live>>();
  /** Of what is leaving the memory: its file can be opened again when they have resolved. */
  readonly #leaving = new Map<Live, Promise<void>>();
  #isClosed = false;

  constructor(options: ConversationsOptions) {
    this.#options = options;
  }

  list(): readonly Live[] {
    return [...this.#all.values()];
  }

  get size(): number {
    return this.#all.size;
  }

  /** Throws `session-unknown` where nobody has opened it. */
  get(address: Address): Live {
    const live = this.#all.get(key(address));
    if (live !== undefined) return live;
    throw new CrabError(
      'session-unknown',
      `The conversation ${address.agent}/${address.sender} is not open here.`,
      {
        hint: 'Send to it, which opens it, or open its session; `crab rpc sessions` lists those that are open.',
      },
    );
  }

  find(address: Address): Live | undefined {
    return this.#all.get(key(address));
  }

  /**
   * A session that somebody uses here already is joined: whoever opened it has declared what it may do. One that nobody
   * uses is opened anew, so that what this request declares holds.
   */
  async open(request: OpenRequest): Promise<Live> {
    if (this.#isClosed) throw new CrabError('daemon-failed', 'The daemon is stopping.');
    const known = await this.#joined(request);
    if (known !== undefined) return known;
    const pair =
      request.sender === undefined ? undefined : key({ agent: request.agent, sender: request.sender });
    const begun = pair === undefined ? undefined : this.#opening.get(pair);
    if (begun !== undefined) return begun;
    const opening = this.#openedOrJoined(request);
    if (pair === undefined) return opening;
    this.#opening.set(pair, opening);
    try {
      return await opening;
    } finally {
      this.#opening.delete(pair);
    }
  }

  async #opened(request: OpenRequest): Promise<Live> {
    await Promise.allSettled(this.#leaving.values());
    const { platform, clock } = this.#options;
    const reply = await platform.open(request);
    const live = new Live(request, reply, () => platform.session?.(reply.address), clock.now());
    this.#all.set(key(live.address), live);
    this.#options.loaded();
    return live;
  }

  async #joined(request: OpenRequest): Promise<Live | undefined> {
    const { agent, sender, session } = request;
    if (sender !== undefined) {
      const known = this.#all.get(key({ agent, sender }));
      if (known !== undefined) return known;
    }
    if ('fork' in session && session.fork === true) return undefined;
    const meant = this.list().filter((live) => isMeant(live, request));
    const unused = meant.filter(
      // Which of a folder's sessions is the newest is known when none of them is held here.
      (live) => !this.#isUsed(live) && (session.kind === 'continue' || !isAlike(live.request, request)),
    );
    await Promise.all(unused.map((live) => this.unload(live)));
    if (session.kind === 'continue') return newest(meant.filter((live) => this.#isUsed(live)));
    // The beginning of an id may name others that are not open here: what is there is known when it is opened.
    const whole = session.kind === 'resume' ? session.id.toUpperCase() : undefined;
    return this.list().find(
      (live) => meant.includes(live) && (whole === undefined || live.session.id === whole),
    );
  }

  /** A session that is held is held by this process where it is open here. */
  async #openedOrJoined(request: OpenRequest): Promise<Live> {
    try {
      return await this.#opened(request);
    } catch (error) {
      const isHeld = error instanceof CrabError && error.code === 'session-held';
      const meant = isHeld ? this.list().filter((live) => isMeant(live, request)) : [];
      const [only, ...others] = meant;
      if (only === undefined || others.length > 0) throw error;
      return only;
    }
  }

  /** Begins a run, or puts it behind those that wait. It is in the log from its first event on. */
  begin(
    address: Address,
    prompt: Prompt,
    { name, hops = 0 }: RunOptions = {},
  ): { readonly live: Live; readonly run: Run } {
    const live = this.get(address);
    const run: Run = {
      number: ++live.runCount,
      name,
      hops,
      stop: new AbortController(),
      first: undefined,
      speaker: undefined,
      end: undefined,
    };
    live.runs.push(run);
    live.remember(run);
    live.lastActive = this.#options.clock.now();
    void this.#carryOut(live, prompt, run);
    return { live, run };
  }

  async #carryOut(live: Live, prompt: Prompt, run: Run): Promise<void> {
    const { platform, clock } = this.#options;
    try {
      for await (const events of platform.prompt(live.address, prompt, run.stop.signal))
        this.#told(
          live,
          events.map((event) => (event.type === 'runEnd' ? endOf(event, run) : event)),
          run,
        );
    } catch (error) {
      // No client may be left waiting for an end, whatever a platform does.
      if (run.end === undefined) this.#told(live, [runEnd('failed', { error: asCrabError(error) })], run);
    }
    live.lastActive = clock.now();
    await this.letGo(live);
  }

  /** Of what nobody will come back to. Never rejects. */
  async letGo(live: Live): Promise<void> {
    if (live.left === undefined || this.#isUsed(live)) return;
    await this.unload(live).catch((error: unknown) => this.#options.failed(error));
  }

  /** Something of it, or somebody, would be missed. */
  #isUsed(live: Live): boolean {
    const { runs, watchers, holders, left } = live;
    const isFollowed = runs.length > 0 || watchers > 0 || holders > 0;
    return isFollowed || (left !== 'done' && this.background(live) > 0);
  }

  background({ address }: Live): number {
    return this.#all.has(key(address)) ? this.#options.background(address) : 0;
  }

  #told(live: Live, events: readonly Event[], run: Run): void {
    if (run.first === undefined) {
      run.first = live.log.next;
      live.hops = run.hops;
    }
    for (const event of events) this.#note(live, event, run);
    if (run.end !== undefined) live.runs.splice(live.runs.indexOf(run), 1);
    live.log.append(events, run.number, run.name);
    this.#options.heard(live.address, events, run);
  }

  #note(live: Live, event: Event, run: Run): void {
    if (event.type === 'question') {
      const open = { question: event.question, settled: new AbortController() };
      live.questions.set(event.question.id, open);
      void this.#expire(live, open);
    } else if (event.type === 'questionAnswered') settle(live, event.id);
    else if (event.type === 'runEnd') {
      run.end = event;
      // Only the run in flight asks.
      for (const id of live.questions.keys()) settle(live, id);
    } else if (event.type === 'runStart') run.speaker = event.guest ?? event.agent;
  }

  /** A question that nobody is there to answer is refused after a while: a run must not wait for ever. */
  async #expire(live: Live, { question, settled }: OpenQuestion): Promise<void> {
    const { clock, limits, platform } = this.#options;
    const { questionMs } = limits();
    do {
      try {
        await clock.sleep(questionMs, settled.signal);
      } catch {
        return;
      }
    } while (live.answerers > 0);
    const feedback = `nobody was there to answer for ${Math.round(questionMs / 1000)} s`;
    const answer: Answer =
      question.kind === 'permission'
        ? { kind: 'permission', allowed: false, feedback }
        : { kind: 'choice', answers: question.questions.map(() => `(${feedback})`) };
    await platform.answer(live.address, question.id, answer);
  }

  /** Without a name: the run in flight, if any. With one: that run, also while it waits. */
  kill(address: Address, name?: string): void {
    const { runs } = this.get(address);
    const run = name === undefined ? runs[0] : runs.find((one) => one.name === name);
    run?.stop.abort(new CrabError('interrupted', 'The run was stopped.'));
  }

  /** Stops all its runs and lets go of it; what is on disk stays. */
  async end(live: Live): Promise<void> {
    for (const { stop } of live.runs) stop.abort(new CrabError('interrupted', 'The conversation was ended.'));
    await this.unload(live);
  }

  answer(address: Address, questionId: string, answer: Answer): Promise<boolean> {
    this.get(address);
    return this.#options.platform.answer(address, questionId, answer);
  }

  async control(address: Address, control: Control): Promise<void> {
    this.get(address);
    await this.#options.platform.control(address, control);
  }

  /** Lets go of what has been idle for too long, and of the idlest when there are too many. For a timer. */
  async unloadIdle(): Promise<void> {
    const { clock, limits } = this.#options;
    const { idleMs, maxIdle } = limits();
    const now = clock.now();
    // What works in the background is idle from its end on: somebody may want to hear of that.
    for (const live of this.list()) if (this.background(live) > 0) live.lastActive = now;
    const old = this.list()
      .filter((live) => !this.#isUsed(live))
      .sort((one, other) => other.lastActive - one.lastActive)
      .filter(
        ({ left, lastActive }, place) => left !== undefined || place >= maxIdle || now - lastActive >= idleMs,
      );
    const results = await Promise.allSettled(old.map((live) => this.unload(live)));
    for (const result of results) if (result.status === 'rejected') this.#options.failed(result.reason);
  }

  /** Its session goes on when it is spoken to again. Resolves when any process can open it. */
  unload(live: Live): Promise<void> {
    const begun = this.#leaving.get(live);
    if (begun !== undefined || !this.#all.delete(key(live.address))) return begun ?? Promise.resolve();
    const leaving = this.#options.platform.leave(live.address, { goesOn: true }).finally(() => {
      this.#leaving.delete(live);
      live.log.close();
    });
    this.#leaving.set(live, leaving);
    return leaving;
  }

  /** Stops every run, or waits for them, and closes the platform. */
  async close(how: 'stop' | 'finish'): Promise<void> {
    this.#isClosed = true;
    if (how === 'stop')
      for (const { runs } of this.list())
        for (const run of runs) run.stop.abort(new CrabError('terminated', 'The daemon was stopped.'));
    while (this.list().some(({ runs }) => runs.length > 0)) {
      const [busy] = this.list().filter(({ runs }) => runs.length > 0);
      await busy?.log.wait(busy.log.next, new AbortController().signal);
    }
    for (const { log } of this.list()) log.close();
    await this.#options.platform.close();
  }
}

/** A run says that it was cancelled, and not by whom: with the daemon it ends for another reason than by a client. */
function endOf(end: RunEnd, { stop }: Run): RunEnd {
  const reason: unknown = stop.signal.reason;
  return reason instanceof CrabError && reason.code === 'terminated' ? stoppedBy(end, reason) : end;
}

/** Whether a request for a session could be for this one. */
function isMeant(live: Live, { agent, cwd, session }: OpenRequest): boolean {
  const { address, log } = live;
  const { id, path, name, cwd: folder } = live.session;
  switch (session.kind) {
    case 'resume':
      return id.startsWith(session.id.toUpperCase()) || name === session.id;
    case 'file':
      return path === session.path;
    case 'continue':
      // What nothing was said in yet has no file.
      return address.agent === agent && folder === cwd && path !== undefined && log.next > 0;
    default:
      return false;
  }
}

function isAlike(one: OpenRequest, other: OpenRequest): boolean {
  if (one.cwd !== other.cwd || other.name !== undefined) return false;
  return JSON.stringify(one.declaration) === JSON.stringify(other.declaration);
}

/** Ids sort by age. */
function newest(lives: readonly Live[]): Live | undefined {
  return [...lives].sort((one, other) => (one.session.id < other.session.id ? 1 : -1))[0];
}

function settle(live: Live, questionId: string): void {
  live.questions.get(questionId)?.settled.abort();
  live.questions.delete(questionId);
}

function key({ agent, sender }: Address): string {
  return JSON.stringify([agent, sender]);
}
