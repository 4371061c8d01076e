// The Platform in this process: opens conversations on tapes and runs lines on them. Mechanism only: what to compact,
// which instructions to load, what a person may be asked is decided at the edge and arrives in the declaration.

import type { Address, SessionChoice } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { OpenReply, OpenRequest, Platform } from '../core/platform.ts';
import type { Tape, Tapes } from '../core/tape.ts';
import type { UserShell } from '../parts/shell/user-shell.ts';
import { type Catalogue, gather } from './catalogue.ts';
import { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';
import { jobNews } from './job-news.ts';
import { runLine } from './line.ts';
import { offeredTools } from './offered-tools.ts';
import type { Surroundings } from './subrun.ts';

interface Opened {
  readonly conversation: Conversation;
  readonly catalogue: Catalogue;
}

export function createPlatform(host: RuntimeHost): Platform {
  const opened = new Map<string, Opened>();
  const userShell = lazyUserShell(host.shell);

  function find(address: Address): Opened {
    const found = opened.get(key(address));
    if (found === undefined)
      throw new CrabError('internal', `The conversation ${address.agent}/${address.sender} is not open.`);
    return found;
  }

  /** A session whose own pair has gone on to another one is opened beside it, by names of its own. */
  function freeAddress(address: Address, { sender }: OpenRequest): Address {
    if (sender !== undefined || !opened.has(key(address))) return address;
    return { ...address, sender: `cli:${host.newId()}` };
  }

  async function open(request: OpenRequest, parent?: Conversation): Promise<OpenReply> {
    const catalogue = await gather(host.extensions, request.declaration, request.commands);
    const tape = await openTape(host, request);
    const address = freeAddress(addressOf(tape, request), request);
    if (opened.has(key(address))) {
      await tape.close();
      throw new CrabError('session-held', `The conversation ${address.sender} is already open here.`);
    }
    const mended = await recovered(host, tape);
    const { declaration, cwd } = request;
    const newTape = () => newTapeFor(host, { ...request, sender: address.sender });
    const tapes = tapesFor(host, request);
    const moveHead = (id: string) => tapes.moveHead(address, id);
    const isAtHead = request.session.kind === 'head';
    const goesOn = isAtHead || (request.session.kind === 'resume' && request.session.goesOn === true);
    const conversation = new Conversation({
      ...{ host, declaration, cwd, tape, address, newTape, tapes, goesOn },
      ...(isAtHead && { moveHead }),
      ...(parent !== undefined && { parent }),
    });
    const told = await sandboxNotices(conversation);
    opened.set(key(address), { conversation, catalogue });
    const notices = conversation.newNotices([...mended, ...told, ...catalogue.notices]);
    return reply(conversation, catalogue, notices);
  }

  const platform: Platform = {
    open: (request) => open(request),
    prompt(address, prompt, signal) {
      return runLine({ host, userShell, ...find(address), prompt, signal, surroundings });
    },
    answer: async (address, questionId, answer) =>
      find(address).conversation.questions.answer(questionId, answer),
    async control(address, control) {
      const { conversation, catalogue } = find(address);
      await conversation.control(control);
      // A run in flight does it at its next step; else there is nothing to wait for.
      if (control.kind === 'compact' && !conversation.turns.isBusy)
        await compactNow({ host, conversation, catalogue });
    },
    async leave(address, { goesOn = false } = {}) {
      const leaving = find(address);
      const { conversation } = leaving;
      const release = await conversation.turns.take(new AbortController().signal);
      opened.delete(key(address));
      try {
        if (goesOn) {
          await jobNews(host, conversation);
          await conversation.keepMode();
        }
        await closed(leaving);
      } finally {
        release();
      }
    },
    session: (address) => opened.get(key(address))?.conversation.info,
    runningJobs(address) {
      const jobs = opened.get(key(address))?.conversation.jobs.list() ?? [];
      return jobs.filter(({ state }) => state === 'running').length;
    },
    async close() {
      // Those that carry out a task are closed by whoever waits for it.
      const all = [...opened.values()].filter(({ conversation }) => conversation.depth === 0);
      const results = await Promise.allSettled(all.map(closed));
      opened.clear();
      host.ledger.flush();
      await host.histories?.close();
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
  const surroundings: Surroundings = { ...platform, open };
  return platform;
}

/** What extensions opened reads from the conversation's folders, so it ends first. */
async function closed({ conversation, catalogue }: Opened): Promise<void> {
  const { identity } = conversation;
  const results = await Promise.allSettled(
    catalogue.extensions.map((extension) => extension.close?.(identity)),
  );
  await conversation.close();
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Whoever demands a sandbox hears at once that there is none; whoever does without is told each time. */
async function sandboxNotices(conversation: Conversation): Promise<readonly string[]> {
  const { sandbox } = conversation;
  if (sandbox.policy.mode === 'off') return ['The sandbox is off: commands run with all your rights.'];
  if (sandbox.policy.mode === 'preferred') return [];
  const { backend, missing } = await sandbox.state();
  if (backend !== undefined) return [];
  await conversation.close();
  const reasons = missing.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  const why = reasons === '' ? 'this system has none' : reasons;
  throw new CrabError(
    'sandbox-missing',
    `A sandbox is required, and nothing can confine programs here: ${why}.`,
  );
}

async function recovered({ histories }: RuntimeHost, tape: Tape): Promise<readonly string[]> {
  try {
    return (await histories?.recover(tape)) ?? [];
  } catch (error) {
    await tape.close();
    throw error;
  }
}

/** Its events are for the extensions: nobody listens between two prompts. */
async function compactNow({
  host,
  conversation,
  catalogue,
}: Opened & { readonly host: RuntimeHost }): Promise<void> {
  const { signal } = new AbortController();
  const release = await conversation.turns.take(signal);
  const emit = (event: Event) => {
    for (const extension of catalogue.extensions)
      extension.onEvents?.([event], conversation.identity).catch(() => {});
  };
  try {
    if (!conversation.compaction.isAsked) return;
    const focus = conversation.compaction.take();
    const { compact } = await import('./compaction.ts');
    const offered = offeredTools({ conversation, catalogue });
    await compact({ host, conversation, offered, focus, signal, emit, spent: () => {} });
  } finally {
    release();
  }
}

function key({ agent, sender }: Address): string {
  return `${agent}\n${sender}`;
}

function reply(conversation: Conversation, catalogue: Catalogue, mended: readonly string[]): OpenReply {
  return {
    address: conversation.address,
    session: conversation.info,
    commands: catalogue.commands,
    notices: [...conversation.notices, ...mended],
  };
}

function addressOf(tape: Tape, request: OpenRequest): Address {
  const { id, agent, sender } = tape.header;
  return { agent: agent ?? request.agent, sender: request.sender ?? sender ?? `cli:${id}` };
}

function tapesFor(host: RuntimeHost, { session }: OpenRequest): Tapes {
  return session.kind === 'memory' ? host.memoryTapes : host.tapes;
}

function newTapeFor(host: RuntimeHost, request: OpenRequest & { readonly id?: string }): Promise<Tape> {
  const { agent, cwd, name, id, session } = request;
  const sender = (own: string) => request.sender ?? `cli:${own}`;
  const parentSession = session.kind === 'new' ? session.parentSession : undefined;
  return tapesFor(host, request).create({
    agent,
    sender,
    cwd,
    ...(id !== undefined && { id }),
    ...(parentSession !== undefined && { parentSession }),
    ...(name !== undefined && { name }),
  });
}

async function openTape(host: RuntimeHost, request: OpenRequest): Promise<Tape> {
  const { session, agent, cwd, name } = request;
  if (session.kind === 'head') return headTape(host, request);
  const path = await pathOf(host, session, agent, cwd);
  if (path === undefined) {
    const id = session.kind === 'new' ? session.id : undefined;
    return newTapeFor(host, { ...request, ...(id !== undefined && { id }) });
  }
  if ('fork' in session && session.fork === true) return forkedTape(host, request, path);
  const tape = await host.tapes.open(path);
  if (name !== undefined) await tape.append([{ type: 'session_info', name }]).synced;
  return tape;
}

/** The head is moved to a new session when it is made: until its first prompt there is no file, and the next open makes another. */
async function headTape(host: RuntimeHost, request: OpenRequest): Promise<Tape> {
  const { agent, sender } = request;
  if (sender === undefined)
    throw new CrabError('usage', 'A session that a sender is at needs the name of the sender.');
  const id = await host.tapes.head({ agent, sender });
  const path = id === undefined ? undefined : await host.tapes.find(id).catch(() => undefined);
  if (path !== undefined) return host.tapes.open(path);
  const tape = await newTapeFor(host, request);
  await host.tapes.moveHead({ agent, sender }, tape.header.id);
  return tape;
}

async function forkedTape(host: RuntimeHost, request: OpenRequest, path: string): Promise<Tape> {
  const { agent, cwd, name } = request;
  const sender = (own: string) => request.sender ?? `cli:${own}`;
  const { fork } = await import('../parts/tape/branching.ts');
  const source = await host.tapes.read(path);
  return fork(host.tapes, source, { agent, cwd, sender, ...(name !== undefined && { name }) });
}

async function pathOf(
  host: RuntimeHost,
  session: SessionChoice,
  agent: string,
  cwd: string,
): Promise<string | undefined> {
  switch (session.kind) {
    case 'new':
    case 'head':
    case 'memory':
      return undefined;
    case 'file':
      return session.path;
    case 'resume':
      return host.tapes.find(session.id);
    case 'continue': {
      const latest = session.fork === true ? undefined : await host.tapes.latest(agent, cwd);
      if (latest !== undefined) return latest;
      // All that there are belong to live processes: opening one says to which, and a fork may be of any.
      const [newest] = await host.tapes.list({ agent, cwd, limit: 1 });
      if (newest !== undefined) return newest.path;
      throw new CrabError('session-unknown', `There is no session in ${cwd} to continue.`, {
        hint: 'Leave out --continue to start one.',
      });
    }
  }
}

function lazyUserShell(options: RuntimeHost['shell']): UserShell {
  let shell: UserShell | undefined;
  return async (line, exec, signal) => {
    shell ??= (await import('../parts/shell/user-shell.ts')).createUserShell(options);
    return shell(line, exec, signal);
  };
}
