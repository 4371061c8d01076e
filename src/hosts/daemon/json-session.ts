// One connection of the JSON socket, mapped onto the same conversations as the binary form. What is said in a session
// that the client attached to comes as one `Event` each, whoever asked for it.

import type { SessionChoice } from '../../core/conversation.ts';
import type { OpenRequest } from '../../core/platform.ts';
import type { Answer } from '../../core/question.ts';
import type { Connection } from '../../protocol/connection.ts';
import { errorMessage, RequestFailure } from '../../protocol/failure.ts';
import type { Peer, Server } from '../../protocol/server.ts';
import type { Conversations, Live } from './conversations.ts';
import type { Opener } from './daemon-server.ts';
import type { JsonReply, JsonRequest } from './json-messages.ts';

export interface JsonOptions {
  readonly server: Server;
  readonly conversations: Conversations;
  readonly name: string;
  /** What a session may do that is opened without a declaration of its own. */
  declare(cwd: string | undefined, how: Pick<Opener, 'canAsk' | 'session'>): Promise<OpenRequest>;
}

type Client = Connection<JsonReply, JsonRequest>;
type Of<Type extends JsonRequest['type']> = JsonRequest & { readonly type: Type };

/** Resolves when the client is gone. Never rejects. */
export async function serveJson(connection: Client, options: JsonOptions): Promise<void> {
  const session = new JsonSession(connection, options);
  try {
    for await (const received of connection.received) {
      if (received.kind === 'message') await session.take(received.message);
      else {
        const code = received.kind === 'broken' ? received.code : 400;
        await connection.send({ type: 'Error', code, message: received.reason });
        if (received.kind === 'broken') break;
      }
    }
  } catch {
    // The other end is gone: so is everybody who could be told.
  }
  session.end();
  connection.close();
}

interface Attached {
  readonly live: Live;
  readonly leave: AbortController;
}

class JsonSession {
  readonly #connection: Client;
  readonly #options: JsonOptions;
  readonly #attached = new Map<string, Attached>();
  #peer: Peer;

  constructor(connection: Client, options: JsonOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#peer = { name: options.name, capabilities: new Set() };
  }

  async take(request: JsonRequest): Promise<void> {
    let reply: JsonReply | undefined;
    try {
      reply = await this.#answer(request);
    } catch (error) {
      const { code, message } = errorMessage(error);
      reply = { type: 'Error', code, message };
    }
    if (reply !== undefined) await this.#connection.send(reply);
  }

  end(): void {
    for (const { leave } of this.#attached.values()) leave.abort();
  }

  async #answer(request: JsonRequest): Promise<JsonReply | undefined> {
    switch (request.type) {
      case 'Ping':
        return PONG;
      case 'ListSessions':
        return { type: 'Sessions', list: this.#options.conversations.list().map(sessionOf) };
      case 'Attach':
        return this.#attach(request);
      case 'Detach':
        this.#of(request).leave.abort();
        this.#attached.delete(request.session_id);
        return PONG;
      case 'KillSession':
        await this.#options.conversations.end(this.#find(request.session_id));
        return PONG;
      case 'UserInput':
        return this.#begin(request);
      case 'Answer':
        return this.#reply(request);
    }
  }

  async #attach({ session_id: id, working_dir: cwd, answers }: Of<'Attach'>): Promise<JsonReply> {
    if (answers === true) this.#peer = { ...this.#peer, capabilities: new Set(['permissions']) };
    const live = (id === undefined ? undefined : this.#open(id)) ?? (await this.#opened(id, cwd, answers));
    const { id: session } = live.session;
    if (!this.#attached.has(session)) {
      const leave = new AbortController();
      this.#attached.set(session, { live, leave });
      // From the next event on: an input that follows at once is heard from its beginning.
      void this.#follow(session, live, live.log.next, leave.signal);
    }
    return { type: 'Attached', session_id: session };
  }

  async #opened(id: string | undefined, cwd: string | undefined, answers = false): Promise<Live> {
    const { conversations, declare } = this.#options;
    const session: SessionChoice = id === undefined ? { kind: 'new' } : { kind: 'resume', id };
    const request = await declare(cwd, { canAsk: answers, session });
    return conversations.open({
      agent: request.agent,
      cwd: request.cwd,
      session,
      declaration: request.declaration,
      commands: [],
    });
  }

  async #follow(session: string, live: Live, fromSeq: number, signal: AbortSignal): Promise<void> {
    const { server } = this.#options;
    const call = { peer: this.#peer, signal };
    try {
      for await (const said of server.watch({ ...live.address, fromSeq }, call)) {
        if ('nextSeq' in said) break;
        for (const [at, event] of JSON.parse(said.events).entries())
          await this.#connection.send({
            type: 'Event',
            session_id: session,
            event,
            ...(at === 0 && said.gap && { gap: true }),
          });
      }
    } catch (error) {
      const { code, message } = errorMessage(error);
      await this.#connection.send({ type: 'Error', code, message }).catch(() => {});
    }
    if (this.#attached.get(session)?.leave.signal === signal) this.#attached.delete(session);
  }

  #begin({ session_id: id, content }: Of<'UserInput'>): undefined {
    const { live } = this.#of({ session_id: id });
    this.#options.conversations.begin(live.address, { text: content });
  }

  async #reply({
    session_id: id,
    question_id,
    allowed,
    feedback,
    answers,
  }: Of<'Answer'>): Promise<JsonReply> {
    const { address } = this.#find(id);
    const answer: Answer =
      answers === undefined
        ? { kind: 'permission', allowed: allowed === true, ...(feedback !== undefined && { feedback }) }
        : { kind: 'choice', answers };
    if (await this.#options.conversations.answer(address, question_id, answer)) return PONG;
    throw new RequestFailure(409, 'Somebody else has answered, or nobody asks any more.');
  }

  #of({ session_id: id }: { readonly session_id: string }): Attached {
    const attached = this.#attached.get(id);
    if (attached === undefined) throw new RequestFailure(404, `Attach to the session ${id} first.`);
    return attached;
  }

  #find(id: string): Live {
    const live = this.#attached.get(id)?.live ?? this.#open(id);
    if (live === undefined) throw new RequestFailure(404, `The session ${id} is not open here.`);
    return live;
  }

  #open(id: string): Live | undefined {
    return this.#options.conversations.list().find(({ session }) => session.id === id);
  }
}

const PONG: JsonReply = { type: 'Pong' };

function sessionOf({ session, createdAt, lastActive, watchers, runs }: Live) {
  return {
    session_id: session.id,
    working_dir: session.cwd,
    created_at: createdAt,
    last_active: lastActive,
    attached: watchers > 0,
    running: runs.length > 0,
  };
}
