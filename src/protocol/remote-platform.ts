// A Platform at the other end of a connection. A channel that holds it cannot tell it from one in its own process.

import type { Address } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { Clock } from '../core/host.ts';
import type { OpenRequest, Platform, Prompt } from '../core/platform.ts';
import { runEnd } from '../core/run-end.ts';
import type { Client } from './client.ts';
import { refusalOf } from './failure.ts';
import type { EnterMsg } from './messages.ts';
import { readEvents, readOpenReply } from './read-core.ts';

export interface RemotePlatform extends Platform {
  /**
   * What the runs of others say in a conversation that is open, that in flight from its beginning. Ends when the signal
   * aborts, and with an error when the connection does.
   */
  follow(address: Address, signal: AbortSignal): AsyncIterable<readonly Event[]>;
  /** Stops the run in flight of a conversation, whoever began it; one that has just ended is no failure. */
  stop(address: Address): Promise<void>;
}

export interface RemotePlatformOptions {
  /** How a conversation is opened in a Crab elsewhere, which declares it; absent where a declaration is handed over. */
  readonly entrance?: Omit<EnterMsg, 'commands'>;
  /** What a person is told of a failure. Default: in the words of a daemon of this machine. */
  refused?(error: unknown): CrabError;
  /** Bounds how long one that does not answer is waited for when this end leaves. */
  readonly clock?: Pick<Clock, 'sleep'>;
}

const LEAVE_MS = 2000;

/** `runName` names each run, unlike any other of that conversation. */
export function remotePlatform(
  client: Client,
  runName: () => string,
  { entrance, refused = ofDaemon, clock }: RemotePlatformOptions = {},
): RemotePlatform {
  const own = new Set<string>();
  const held: Address[] = [];
  async function told<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      throw refused(error);
    }
  }
  return {
    async open(request) {
      const opened = readOpenReply((await told(opening(client, request, entrance))).reply);
      held.push(opened.address);
      return opened;
    },
    prompt(address, prompt, signal) {
      const name = runName();
      own.add(name);
      return run(client, { name, refused }, address, prompt, signal);
    },
    async *follow(address, signal) {
      try {
        yield* follow(client, own, address, signal);
      } catch (error) {
        throw refused(error);
      }
    },
    async stop({ agent, sender }) {
      await told(client.request('kill', { agent, sender }, 'pong'));
    },
    async answer({ agent, sender }, questionId, answer) {
      const message = { agent, sender, questionId, answer: JSON.stringify(answer) };
      return (await told(client.request('answer', message, 'answer'))).accepted;
    },
    async control({ agent, sender }, control) {
      await told(client.request('control', { agent, sender, control: JSON.stringify(control) }, 'pong'));
    },
    async leave({ agent, sender }) {
      await told(client.request('leave', { agent, sender }, 'pong'));
    },
    async close() {
      // Whoever opens the session next must not find it held.
      const leaving = held.map(({ agent, sender }) => client.request('leave', { agent, sender }, 'pong'));
      const left = new AbortController();
      const late = clock?.sleep(LEAVE_MS, left.signal).catch(() => {}) ?? client.closed;
      if (client.failure === undefined)
        await Promise.race([Promise.allSettled(leaving), client.closed, late]);
      left.abort();
      client.close();
      await client.closed;
    },
  };
}

function ofDaemon(error: unknown): CrabError {
  return refusalOf(error, 'The daemon');
}

function opening(client: Client, request: OpenRequest, entrance: RemotePlatformOptions['entrance']) {
  if (entrance === undefined) return client.request('open', { request: JSON.stringify(request) }, 'open');
  return client.request('enter', { ...entrance, commands: JSON.stringify(request.commands) }, 'open');
}

async function* run(
  client: Client,
  { name, refused }: { readonly name: string; readonly refused: (error: unknown) => CrabError },
  { agent, sender }: Address,
  prompt: Prompt,
  signal: AbortSignal,
): AsyncGenerator<readonly Event[], void> {
  if (signal.aborted) {
    yield [
      runEnd('cancelled', {
        error: new CrabError('interrupted', 'The prompt was taken back before it was sent.'),
      }),
    ];
    return;
  }
  // The run belongs to the conversation and not to this connection: to stop it somebody must say so.
  const kill = () => void client.request('kill', { agent, sender, run: name }, 'pong').catch(() => {});
  signal.addEventListener('abort', kill, { once: true });
  // Half of a surrogate pair has no form in UTF-8.
  const text = prompt.text.toWellFormed();
  const message = { agent, sender, prompt: JSON.stringify({ ...prompt, text }), run: name };
  try {
    for await (const answer of client.stream('prompt', message)) {
      if (answer.case !== 'coreEvents') continue;
      const events = readEvents(answer.value.events);
      yield events;
      if (events.at(-1)?.type === 'runEnd') return;
    }
  } catch (error) {
    // The run may go on where it is; what it came to is not known here.
    const told = refused(error);
    yield [runEnd(told.code === 'interrupted' ? 'cancelled' : 'failed', { error: told })];
  } finally {
    signal.removeEventListener('abort', kill);
  }
}

async function* follow(
  client: Client,
  own: ReadonlySet<string>,
  { agent, sender }: Address,
  signal: AbortSignal,
): AsyncGenerator<readonly Event[], void> {
  const answers = client.stream('watch', { agent, sender, inFlight: true })[Symbol.asyncIterator]();
  const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
  const leave = () => resolve(undefined);
  signal.addEventListener('abort', leave);
  if (signal.aborted) leave();
  try {
    for (;;) {
      const next = await Promise.race([answers.next(), aborted]);
      if (next === undefined || next.done === true) return;
      const { value: answer } = next;
      if (answer.case !== 'coreEvents' || own.has(answer.value.run ?? '')) continue;
      yield readEvents(answer.value.events);
    }
  } finally {
    signal.removeEventListener('abort', leave);
    // It may wait for an answer that never comes: nobody waits for its end.
    void answers.return?.(undefined).catch(() => {});
  }
}
