// A daemon in this process with a platform that says what its prompts tell it to: real sockets and files in a home of
// its own, and no model.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect as connectSocket, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionInfo } from '../../src/core/conversation.ts';
import type { Event, RunEnd } from '../../src/core/event.ts';
import type { OpenRequest, Platform } from '../../src/core/platform.ts';
import type { Answer } from '../../src/core/question.ts';
import { NO_USAGE } from '../../src/core/usage.ts';
import { createDaemon, type Daemon, type DaemonOptions } from '../../src/hosts/daemon/daemon.ts';
import { clientEnd } from '../../src/hosts/daemon/socket-connection.ts';
import { type Client, connect } from '../../src/protocol/client.ts';
import { realClock } from './tool-context.ts';

export const END: RunEnd = {
  type: 'runEnd',
  outcome: 'done',
  text: 'done',
  turns: 1,
  usage: NO_USAGE,
  durationMs: 1,
  apiMs: 1,
  denials: [],
};

/** They take what is said at its word. */
export const PLAIN_READERS: DaemonOptions['read'] = {
  openRequest: JSON.parse,
  session: JSON.parse,
  commands: JSON.parse,
  prompt: JSON.parse,
  answer: JSON.parse,
  control: JSON.parse,
};

export interface ScriptedPlatform extends Platform {
  readonly opened: OpenRequest[];
  readonly left: string[];
  /** By sender. */
  readonly jobs: Map<string, number>;
  isClosed: boolean;
}

/**
 * Says the prompt back letter by letter. `wait` waits to be stopped, `ask` asks whether it may, `/new` goes on to another
 * session, and `flood N` says N pieces of 64 KiB. `name` is said in front of every answer.
 */
export function scriptedPlatform(name = ''): ScriptedPlatform {
  const answers = new Map<string, (answer: Answer) => void>();
  const sessions = new Map<string, SessionInfo>();
  let count = 0;
  const platform: ScriptedPlatform = {
    opened: [],
    left: [],
    jobs: new Map(),
    isClosed: false,
    async open(request) {
      platform.opened.push(request);
      const { session } = request;
      const id = session.kind === 'resume' || session.kind === 'new' ? session.id : undefined;
      const session_ = { id: id ?? `S${platform.opened.length}`, cwd: request.cwd, messages: 0 };
      const address = { agent: request.agent, sender: request.sender ?? `cli:${session_.id}` };
      sessions.set(address.sender, session_);
      return { address, session: session_, commands: [], notices: [] };
    },
    async *prompt({ sender }, { text }, signal) {
      if (text === 'ask') yield* asked(`q${++count}`);
      else if (text === 'wait') await aborted(signal);
      else if (text === '/new') sessions.set(sender, { id: `${sender} new`, cwd: '/', messages: 0 });
      else if (text.startsWith('flood ')) yield* flood(Number(text.slice(6)));
      else for (const letter of text) yield [{ type: 'contentDelta', index: 0, delta: letter }];
      yield [
        signal.aborted
          ? { ...END, outcome: 'cancelled', text: '' }
          : { ...END, text: `${name}${text} to ${sender}` },
      ];
    },
    async answer(_, id, answer) {
      const settle = answers.get(id);
      answers.delete(id);
      settle?.(answer);
      return settle !== undefined;
    },
    async control() {},
    async leave({ sender }) {
      platform.left.push(sender);
    },
    session: ({ sender }) => sessions.get(sender),
    runningJobs: ({ sender }) => platform.jobs.get(sender) ?? 0,
    async close() {
      platform.isClosed = true;
    },
  };
  async function* asked(id: string): AsyncGenerator<readonly Event[]> {
    const answered = new Promise<Answer>((resolve) => answers.set(id, resolve));
    const display = { kind: 'command', command: 'ls' } as const;
    const call = { callId: 'c', tool: 'bash', input: { command: 'ls' }, display, reason: 'it asks' };
    yield [{ type: 'question', question: { kind: 'permission', id, ...call } }];
    const answer = await answered;
    yield [{ type: 'questionAnswered', id, allowed: answer.kind === 'permission' && answer.allowed }];
  }
  return platform;
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

async function* flood(pieces: number): AsyncGenerator<readonly Event[]> {
  const delta = 'x'.repeat(64 * 1024);
  for (let at = 0; at < pieces; at++) {
    yield [{ type: 'contentDelta', index: 0, delta }];
    // As a model does: the rest of the process has its turn between two pieces.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export interface SmallDaemon extends AsyncDisposable {
  readonly home: string;
  readonly daemon: Daemon;
  /** The newest last. */
  readonly platforms: ScriptedPlatform[];
  readonly logged: string[];
  client(): Promise<Client>;
  socket(which?: 'socket' | 'jsonSocket'): Socket;
  token(): Promise<string>;
}

export async function smallDaemon(options: Partial<DaemonOptions> = {}): Promise<SmallDaemon> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'crab-small-')));
  const platforms: ScriptedPlatform[] = [];
  const logged: string[] = [];
  const none = async () => {};
  const daemon = await createDaemon({
    version: '1',
    home,
    uid: process.getuid?.(),
    pid: process.pid,
    clock: realClock,
    async build() {
      const platform = scriptedPlatform(platforms.length === 0 ? '' : `${platforms.length + 1}: `);
      platforms.push(platform);
      return {
        platform,
        agents: {
          list: async () => [],
          listMcps: async () => [],
          upsert: () => Promise.reject(new Error('not here')),
          ...{ delete: none, upsertMcp: none, deleteMcp: none },
        },
        declare: async (address, cwd = '/') => ({
          ...address,
          cwd,
          session: { kind: 'head' },
          declaration: { agent: { name: address.agent } } as OpenRequest['declaration'],
          commands: [],
        }),
        config: async () => '{}',
        basis: [],
      };
    },
    lock: async () => () => {},
    read: PLAIN_READERS,
    setConfig: none,
    rss: () => 1,
    log: (text) => void logged.push(text),
    listen: {},
    ...options,
  });
  const clients: Client[] = [];
  const sockets: Socket[] = [];
  const socket = (which: 'socket' | 'jsonSocket' = 'socket') => {
    const opened = connectSocket(daemon.folder[which]);
    opened.on('error', () => {});
    sockets.push(opened);
    return opened;
  };
  return {
    home,
    daemon,
    platforms,
    logged,
    socket,
    async client() {
      const hello = { version: 2, client: 'test', capabilities: ['core-events', 'permissions'] };
      const { client } = await connect(clientEnd(socket()), hello);
      clients.push(client);
      return client;
    },
    token: async () => (await readFile(daemon.folder.token, 'utf8')).trim(),
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.close();
      for (const one of sockets) one.destroy();
      await daemon.stop();
      if (options.home === undefined) await rm(home, { recursive: true });
    },
  };
}

/** What a socket says until it is closed. */
export async function everything(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk);
  } catch {
    // It was cut off.
  }
  return Buffer.concat(chunks);
}
