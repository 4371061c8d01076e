// A client that finds the way back when its connection is lost. What was asked once and not answered fails, since nobody
// knows what became of it; what is listened to goes on where it was, by the numbers that events have: nothing is heard
// twice and nothing is missing, or a gap says so.

import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import { type Client, connect, type Reply, type ServerConnection, type Value } from './client.ts';
import { RequestFailure } from './failure.ts';
import type {
  ClientMessageCase,
  CoreEvents,
  EnterMsg,
  HelloMsg,
  HelloReply,
  ServerMessageCase,
} from './messages.ts';
import { readOpenReply } from './read-core.ts';

export interface LastingOptions {
  /** Makes a connection, now and whenever one was lost. Throws why there is none. */
  dial(): Promise<ServerConnection>;
  readonly hello: HelloMsg;
  /** Tries in a row, after which a lost connection is given up; 0 never comes back. */
  readonly retries: number;
  /** Milliseconds between tries, the first one; each is twice the one before, up to 10 s. */
  readonly retryMs: number;
  sleep(ms: number): Promise<void>;
  /** Told when a connection was lost, with the reason, and when there is one again. */
  changed?(lost: Error | undefined): void;
}

export interface LastingClient extends Client {
  /** Who serves. */
  readonly server: HelloReply;
}

const LONGEST_PAUSE_MS = 10_000;

type Case = ClientMessageCase['case'];
type Greeted = Awaited<ReturnType<typeof connect>>;

/** Throws why there is no connection, or `RequestFailure` where this client is refused. */
export async function connectLasting(options: LastingOptions): Promise<LastingClient> {
  return new Lasting(options, await greet(options));
}

async function greet({ dial, hello }: LastingOptions): Promise<Greeted> {
  return connect(await dial(), hello);
}

class Lasting implements LastingClient {
  readonly closed: Promise<void>;
  readonly #options: LastingOptions;
  /** Conversations that were opened by their names: they are opened again, as they were. */
  readonly #entered = new Map<string, EnterMsg>();
  /** What ends the wait of a prompt for a connection, by the name of its run. */
  readonly #waiting = new Map<string, (why: Error) => void>();
  #now: Greeted;
  #returning: Promise<void> | undefined;
  #failure: Error | undefined;
  #over: () => void = () => {};

  constructor(options: LastingOptions, greeted: Greeted) {
    this.#options = options;
    this.#now = greeted;
    this.closed = new Promise((resolve) => {
      this.#over = resolve;
    });
  }

  get server(): HelloReply {
    return this.#now.server;
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  close(): void {
    this.#fail(new RequestFailure(503, 'This client is closed.'));
  }

  #fail(why: Error): void {
    this.#failure ??= why;
    this.#now.client.close();
    this.#over();
  }

  async request<Name extends Case, Answer extends ServerMessageCase['case']>(
    name: Name,
    value: Value<Name>,
    answer: Answer,
  ): Promise<Reply<Answer>> {
    if (name === 'leave') this.#entered.delete(key(value as Value<'leave'>));
    if (name === 'kill') this.#giveUp(value as Value<'kill'>);
    // Whoever lost the connection has left.
    const { failure: lost } = this.#now.client;
    if (name === 'leave' && lost !== undefined) throw lost;
    const client = await this.#connected();
    const reply = client.request(name, value, answer);
    if (name === 'enter') this.#keep(value as EnterMsg, (await reply) as Reply<'open'>);
    return reply;
  }

  /** A run that nobody waits for any more is killed when there is a connection again; until then nobody waits either. */
  #giveUp({ run = '' }: Value<'kill'>): void {
    const text = 'The connection is lost; what was asked is stopped there when it is back.';
    this.#waiting.get(run)?.(new CrabError('interrupted', text));
  }

  /** A sender of the session's own is at no other session: it is found by its id. */
  #keep(asked: EnterMsg, { reply }: Reply<'open'>): void {
    const { address, session } = readOpenReply(reply);
    const { session: _, ...rest } = asked;
    const isOwn = asked.sender === undefined && address.sender.endsWith(`:${session.id}`);
    const again: EnterMsg = { ...rest, ...address };
    const found = JSON.stringify({ kind: 'resume', id: session.id });
    const chosen = asked.session !== undefined || isOwn;
    this.#entered.set(key(address), chosen ? { ...again, session: found } : again);
  }

  async *stream<Name extends Case>(name: Name, value: Value<Name>): AsyncGenerator<ServerMessageCase, void> {
    const resumption = resumptionOf({ case: name, value } as ClientMessageCase);
    const run = name === 'prompt' ? (value as Value<'prompt'>).run : undefined;
    for (let message = value; ; ) {
      const client = await this.#connectedFor(run);
      const { pid } = this.#now.server;
      try {
        for await (const said of client.stream(name, message)) {
          const heard = resumption?.hear(said) ?? said;
          if (heard !== 'known') yield heard;
        }
        return;
      } catch (error) {
        const isLost = client.failure !== undefined && this.#failure === undefined;
        if (!isLost || resumption === undefined || this.#options.retries === 0) throw error;
        await this.#connectedFor(run);
        message = resumption.again(this.#now.server.pid === pid) as Value<Name>;
      }
    }
  }

  /** As below, and no longer than until somebody kills the run. */
  async #connectedFor(run: string | undefined): Promise<Client> {
    if (run === undefined || this.#now.client.failure === undefined) return this.#connected();
    const { promise: givenUp, reject } = Promise.withResolvers<never>();
    this.#waiting.set(run, reject);
    try {
      return await Promise.race([this.#connected(), givenUp]);
    } finally {
      this.#waiting.delete(run);
    }
  }

  /** Comes back where the connection was lost. */
  async #connected(): Promise<Client> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#now.client.failure === undefined) return this.#now.client;
    this.#returning ??= this.#comeBack().finally(() => {
      this.#returning = undefined;
    });
    await this.#returning;
    return this.#now.client;
  }

  async #comeBack(): Promise<void> {
    const { retries, retryMs, sleep, changed } = this.#options;
    const lost = this.#now.client.failure ?? new RequestFailure(503, 'The connection was lost.');
    changed?.(lost);
    let last = lost;
    for (let tries = 0; ; tries++) {
      if (this.#failure !== undefined) throw this.#failure;
      if (tries >= retries) throw last;
      try {
        await this.#greetAgain();
        changed?.(undefined);
        return;
      } catch (error) {
        // Whoever is refused is refused the next time too.
        if (error instanceof RequestFailure && error.code < 500) {
          this.#fail(error);
          throw error;
        }
        last = error instanceof Error ? error : lost;
        await sleep(Math.min(LONGEST_PAUSE_MS, retryMs * 2 ** tries));
      }
    }
  }

  async #greetAgain(): Promise<void> {
    const greeted = await greet(this.#options);
    if (this.#failure !== undefined) return greeted.client.close();
    // What cannot be opened any more is told of to whoever needs it.
    for (const message of this.#entered.values())
      await greeted.client.request('enter', message, 'open').catch(() => {});
    this.#now = greeted;
  }
}

function key({ agent, sender }: { readonly agent: string; readonly sender: string }): string {
  return JSON.stringify([agent, sender]);
}

/** How a stream goes on behind a lost connection. */
interface Resumption {
  /** What was said, or what of it is new. */
  hear(said: ServerMessageCase): ServerMessageCase | 'known';
  /** The message to ask with; `isSame`: it is the process that was asked before. */
  again(isSame: boolean): ClientMessageCase['value'];
}

/** Undefined where a second asking would do something a second time. */
function resumptionOf(message: ClientMessageCase): Resumption | undefined {
  switch (message.case) {
    case 'subscribeEvents':
      return { hear: (said) => said, again: () => message.value };
    case 'watch': {
      const { fromSeq, ...value } = message.value;
      const place = new Place(fromSeq);
      return {
        hear: (said) => place.hear(said),
        again(isSame) {
          const next = isSame ? place.lost() : place.restarted();
          return next === undefined ? message.value : { ...value, fromSeq: next };
        },
      };
    }
    case 'prompt': {
      if (message.value.run === undefined) return undefined;
      const place = new Place(message.value.fromSeq);
      return {
        hear: (said) => place.hear(said),
        again(isSame) {
          if (isSame) return { ...message.value, fromSeq: place.lost() ?? 0 };
          throw new CrabError('daemon-failed', 'The daemon was restarted, and the run ended with it.', {
            hint: 'What was said until then is kept: the next prompt goes on from there.',
          });
        },
      };
    }
    default:
      return undefined;
  }
}

/** Where a listener is. Events are counted when the connection was lost: until then nobody needs to know. */
class Place {
  #last: CoreEvents | undefined;
  #next: number | undefined;
  /** What is told of numbers before this one was heard already. */
  #known: number | undefined;
  #isGap = false;

  constructor(from: number | undefined) {
    this.#next = from;
    this.#known = from;
  }

  /** The number of the first event that was not heard; undefined where none was, and none was asked for. */
  lost(): number | undefined {
    if (this.#last !== undefined) this.#next = this.#last.firstSeq + eventsOf(this.#last).length;
    this.#last = undefined;
    this.#known = this.#next;
    this.#isGap = this.#next === undefined;
    return this.#next;
  }

  /** A daemon that was restarted has begun a new numbering. */
  restarted(): number {
    this.#last = undefined;
    this.#next = 0;
    this.#known = undefined;
    this.#isGap = true;
    return 0;
  }

  hear(said: ServerMessageCase): ServerMessageCase | 'known' {
    if (said.case !== 'coreEvents') return said;
    const heard = this.#unheard(said.value);
    if (heard === undefined) return 'known';
    this.#last = heard;
    this.#isGap = false;
    return { case: 'coreEvents', value: heard };
  }

  /** A batch is told whole: of one that was heard in part only the rest is new. */
  #unheard(said: CoreEvents): CoreEvents | undefined {
    const gap = said.gap || this.#isGap;
    const missing = (this.#known ?? 0) - said.firstSeq;
    if (missing <= 0) {
      this.#known = undefined;
      return gap ? { ...said, gap } : said;
    }
    const rest = eventsOf(said).slice(missing);
    if (rest.length === 0) return undefined;
    return { ...said, gap, firstSeq: said.firstSeq + missing, events: JSON.stringify(rest) };
  }
}

function eventsOf({ events }: CoreEvents): readonly Event[] {
  return JSON.parse(events) as readonly Event[];
}
