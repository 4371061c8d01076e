// The Platform in this process: opens conversations on tapes and runs lines on them. Mechanism only: what to compact,
// which instructions to load, what a person may be asked is decided at the edge and arrives in the declaration.

import type { Address, SessionChoice } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { OpenReply, OpenRequest, Platform } from '../core/platform.ts';
import type { Tape, Tapes } from '../core/tape.ts';
import { createUserShell } from '../parts/shell/user-shell.ts';
import { type Catalogue, gather } from './catalogue.ts';
import { Conversation } from './conversation.ts';
import type { RuntimeHost } from './host.ts';
import { runLine } from './line.ts';

interface Opened {
  readonly conversation: Conversation;
  readonly catalogue: Catalogue;
}

export function createPlatform(host: RuntimeHost): Platform {
  const opened = new Map<string, Opened>();
  const userShell = createUserShell();

  function find(address: Address): Opened {
    const found = opened.get(key(address));
    if (found === undefined)
      throw new CrabError('internal', `The conversation ${address.agent}/${address.sender} is not open.`);
    return found;
  }

  return {
    async open(request) {
      const catalogue = await gather(host.extensions, request.declaration, request.commands);
      const tape = await openTape(host, request);
      const address = addressOf(tape, request);
      if (opened.has(key(address))) {
        await tape.close();
        throw new CrabError('session-held', `The conversation ${address.sender} is already open here.`);
      }
      const mended = await recovered(host, tape);
      const { declaration, cwd } = request;
      const newTape = () => newTapeFor(host, { ...request, sender: address.sender });
      const tapes = tapesFor(host, request);
      const conversation = new Conversation({ host, declaration, cwd, tape, address, newTape, tapes });
      opened.set(key(address), { conversation, catalogue });
      return reply(conversation, catalogue, mended);
    },
    prompt(address, prompt, signal) {
      return runLine({ host, userShell, ...find(address), prompt, signal });
    },
    answer: async (address, questionId, answer) => find(address).conversation.answer(questionId, answer),
    async control(address, control) {
      const { conversation, catalogue } = find(address);
      await conversation.control(control);
      // A run in flight does it at its next step; else there is nothing to wait for.
      if (control.kind === 'compact' && !conversation.isBusy)
        await compactNow({ host, conversation, catalogue });
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      const results = await Promise.allSettled(all.map(({ conversation }) => conversation.close()));
      host.ledger.flush();
      await host.histories?.close();
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
  };
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
  const release = await conversation.takeTurn(signal);
  const emit = (event: Event) => {
    for (const extension of catalogue.extensions)
      extension.onEvents?.([event], conversation.identity).catch(() => {});
  };
  try {
    if (!conversation.compaction.isAsked) return;
    const focus = conversation.compaction.take();
    const { compact } = await import('./compaction.ts');
    await compact({ host, conversation, tools: catalogue.toolsByName, focus, signal, emit, spent: () => {} });
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
  const { agent, cwd, name, id } = request;
  const sender = (own: string) => request.sender ?? `cli:${own}`;
  return tapesFor(host, request).create({
    agent,
    sender,
    cwd,
    ...(id !== undefined && { id }),
    ...(name !== undefined && { name }),
  });
}

async function openTape(host: RuntimeHost, request: OpenRequest): Promise<Tape> {
  const { session, agent, cwd, name } = request;
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
