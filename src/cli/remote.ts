// `--remote`: the work is done by a Crab elsewhere, under its own settings. What goes there is what the person said with
// this command (prompts, files that are attached, whom to ask, which session) and nothing else: no folder, no settings, no
// rules and no instructions of this machine, which would mean something else there. A flag that is about them is refused.

import { readFileSync } from 'node:fs';
import { DEFAULT_AGENT } from '../core/agent.ts';
import type { CommandInfo } from '../core/command.ts';
import type { SessionChoice } from '../core/conversation.ts';
import { CrabError, ERRORS, errnoOf, messageOf } from '../core/errors.ts';
import type { Event } from '../core/event.ts';
import type { Control } from '../core/extension.ts';
import type { OpenRequest } from '../core/platform.ts';
import { runEnd } from '../core/run-end.ts';
import { SANDBOX_OFF } from '../core/sandbox.ts';
import type { RemoteSettings, Settings } from '../core/settings.ts';
import { Outbox } from '../engine/outbox.ts';
import { route, suggestions } from '../engine/route.ts';
import { ClientError, remoteConnection } from '../hosts/remote/remote-client.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import type { ServerConnection } from '../protocol/client.ts';
import { RequestFailure, refusalOf } from '../protocol/failure.ts';
import { connectLasting, type LastingClient } from '../protocol/lasting-client.ts';
import type { EnterMsg } from '../protocol/messages.ts';
import { type RemotePlatform, remotePlatform } from '../protocol/remote-platform.ts';
import { VERSION as PROTOCOL } from '../protocol/serve.ts';
import type { Arguments } from './arguments.ts';
import { systemClock } from './clock.ts';
import { FLAGS, type FlagName } from './flags.ts';
import type { Environment } from './home.ts';
import { remoteToken, tokenIn } from './remote-token.ts';
import { sessionChoice } from './request.ts';
import { VERSION } from './version.ts';
import type { Workplace, WorkplaceOptions } from './workplace.ts';

/** What can be said to the other side, or is about this one's terminal and pipes. */
const MEANT: ReadonlySet<FlagName> = new Set([
  ...(['remote', 'remote-cwd', 'remote-token-file', 'config', 'profile'] as const),
  ...(['print', 'prompt', 'attach', 'agent', 'guest', 'timeout', 'verbose'] as const),
  ...(['continue', 'resume', 'session', 'fork', 'session-id', 'no-session', 'name'] as const),
  ...(['model', 'effort', 'fast', 'permission-mode'] as const),
  ...(['output-format', 'input-format', 'include-partial-messages', 'replay-user-messages'] as const),
]);

/** Milliseconds behind a lost connection, and tries where nobody waits at a terminal: about a minute. */
const RETRY_MS = 250;
const RETRIES = 11;

interface Far {
  /** As the person named it. */
  readonly name: string;
  readonly settings: RemoteSettings;
}

/** Throws `CrabError` (`usage`, `auth-missing`, `remote-failed`, `remote-refused`, …). */
export async function remoteWorkplace(options: WorkplaceOptions): Promise<Workplace> {
  const { args, env, settings, isInteractive, warn } = options;
  const odd = FLAGS.find(({ name }) => args.has(name) && !MEANT.has(name));
  if (odd !== undefined)
    throw new CrabError('usage', `--${odd.name} and --remote cannot be used together.`, {
      hint: 'The settings of the other side say what holds there.',
    });
  const far = farOf(args.value('remote') ?? '', settings);
  const entrance = entranceOf(args, far, isInteractive);
  const token = await tokenOf(far, args, env);
  const changes = new Changes(far.name);
  const client = await connectLasting({
    dial: dialTo(far.settings.url, token, settings),
    hello: {
      version: PROTOCOL,
      client: `crab/${VERSION}`,
      capabilities: ['core-events', ...(isInteractive ? ['permissions'] : [])],
    },
    retries: isInteractive ? Number.POSITIVE_INFINITY : RETRIES,
    retryMs: RETRY_MS,
    sleep: (ms) => systemClock.sleep(ms),
    changed: (lost) => changes.tell(lost, isInteractive ? undefined : warn),
  }).catch((error: unknown) => {
    throw refused(far.name, error);
  });
  const platform = platformOver(client, args, entrance, far.name);
  const notHere = () =>
    new CrabError('usage', '--resume needs an id here: the sessions are on the other side.');
  return {
    platform,
    follow: (address, signal) => changes.amid(platform.follow(address, signal)),
    stopOthers: platform.stop,
    request: () => requestFor(entrance, far.name, isInteractive),
    remote: far.name,
    guests: () => guestsOf(client),
    files: createLocalFiles(),
    clock: systemClock,
    prepare() {},
    tapes: async () => {
      throw notHere();
    },
    modelName: async (name) => name,
    recorded: async (open) => open,
    killAll() {},
    close: platform.close,
  };
}

/** Whose token is for some agents is not told which there are; a conversation goes without them. */
async function guestsOf(client: LastingClient): Promise<readonly string[]> {
  const reply = await client.request('listAgents', {}, 'agents').catch(() => undefined);
  return reply?.agents.map(({ name }) => name) ?? [];
}

function farOf(given: string, { remotes = {} }: Settings): Far {
  if (/^wss?:\/\//i.test(given)) return { name: given, settings: { url: given } };
  const known = Object.hasOwn(remotes, given) ? remotes[given] : undefined;
  if (known !== undefined) return { name: given, settings: known };
  if (given.includes('://'))
    throw new CrabError('usage', `${given} is no address of a Crab.`, {
      hint: 'It begins with wss://, or with ws:// on this machine.',
    });
  const near = suggestions(given, Object.keys(remotes));
  throw new CrabError('usage', `There is no [remotes.${given}] in the settings, and it is no address.`, {
    hint: near.length > 0 ? `Did you mean ${near.join(' or ')}?` : 'Write wss://HOST:PORT.',
  });
}

async function tokenOf({ name, settings }: Far, args: Arguments, env: Environment): Promise<string> {
  const file = args.value('remote-token-file');
  if (file !== undefined) return tokenIn(file);
  if (name !== settings.url) return remoteToken(name, settings, env);
  const token = env['CRAB_REMOTE_TOKEN']?.trim();
  if (token) return token;
  throw new CrabError('auth-missing', `There is no token for ${name}.`, {
    hint: 'Give --remote-token-file, or set CRAB_REMOTE_TOKEN.',
  });
}

function entranceOf(args: Arguments, { settings }: Far, asks: boolean): Omit<EnterMsg, 'commands'> {
  const session = sessionChoice(args);
  if (session.kind === 'file')
    throw new CrabError('usage', '--session names a file of this machine.', {
      hint: 'Name a session of the other side by its id: --resume ID.',
    });
  const cwd = args.value('remote-cwd') ?? settings.cwd;
  const name = args.value('name');
  return {
    agent: args.value('agent') ?? settings.agent ?? DEFAULT_AGENT,
    ...(!isUsual(session) && { session: JSON.stringify(session) }),
    ...(cwd !== undefined && { cwd }),
    ...(name !== undefined && { name }),
    asks,
  };
}

/** Whoever may choose no session is at the one that they have, and everybody else at a new one. */
function isUsual(session: SessionChoice): boolean {
  return session.kind === 'new' && session.id === undefined;
}

function dialTo(url: string, token: string, { network }: Settings): () => Promise<ServerConnection> {
  return async () => {
    const ca = network.caFile === undefined ? undefined : readFileSync(network.caFile, 'utf8');
    const options = { client: `crab/${VERSION}`, ...(ca !== undefined && { ca }) };
    try {
      return await remoteConnection(url, { mode: 'header', token }, options);
    } catch (error) {
      // Trying again helps against what is unreachable or full, and against nothing else.
      if (error instanceof ClientError && error.status !== undefined && error.status < 500)
        throw new RequestFailure(error.status, error.message, { cause: error });
      if (error instanceof ClientError && error.code === 'unreachable') throw await unreachable(url, error);
      throw error;
    }
  };
}

/** What the other side refused, or why it cannot be reached, as its person is told. */
function refused(name: string, error: unknown): CrabError {
  if (error instanceof CrabError && error.code !== 'daemon-failed') return error;
  const message = messageOf(error);
  if (error instanceof ClientError && error.code === 'address') return new CrabError('usage', message);
  if (error instanceof CrabError) {
    const { hint } = error;
    const isOfTable = hint === ERRORS['daemon-failed'].hint;
    return new CrabError('remote-failed', message, { cause: error, ...(!isOfTable && { hint }) });
  }
  if (!(error instanceof RequestFailure)) return new CrabError('remote-failed', message, { cause: error });
  if (error.code === 401) return new CrabError('remote-refused', message, { cause: error });
  // What answered before there was a connection may be no Crab at all.
  if (error.cause instanceof ClientError) return new CrabError('remote-failed', message, { cause: error });
  return refusalOf(error, name, 'remote-failed');
}

async function unreachable(url: string, { cause, message }: ClientError): Promise<CrabError> {
  const { networkFailure, isUnknownAuthority } = await import('../parts/llm/network-failure.ts');
  const code = errnoOf(cause);
  if (!(cause instanceof Error) || code === undefined)
    return new CrabError('remote-failed', message, { cause });
  const failure = networkFailure(cause, { url: new URL(url) });
  if (isUnknownAuthority(failure))
    return new CrabError('remote-failed', failure.message, {
      cause,
      hint: 'Name its certificate, or that of who signed it, as ca_file of [network] in the settings.',
    });
  const hint = /^(?:ECONNRESET|EPROTO)$/.test(code) ? schemeHint(url) : failure.hint;
  const isOfTable = hint === ERRORS.network.hint;
  return new CrabError('remote-failed', failure.message, { cause, ...(!isOfTable && { hint }) });
}

/** Whoever speaks TLS to one who does not, or the other way round, is hung up on without a word. */
function schemeHint(url: string): string {
  return /^wss:/i.test(url)
    ? 'If no TLS is spoken there, the address begins with ws://.'
    : 'If TLS is spoken there, the address begins with wss://.';
}

/** What the command line says beside the declaration, which is the other side's, is set when the conversation is open. */
function platformOver(
  client: LastingClient,
  args: Arguments,
  entrance: Omit<EnterMsg, 'commands'>,
  who: string,
): RemotePlatform {
  let count = 0;
  const name = `${process.pid.toString(36)}-${Date.now().toString(36)}`;
  const platform = remotePlatform(client, () => `${name}-${++count}`, {
    entrance,
    refused: (error) => refused(who, error),
    clock: systemClock,
  });
  let own: readonly CommandInfo[] = [];
  return {
    ...platform,
    async open(request) {
      own = request.commands;
      const reply = await platform.open(request);
      for (const control of controlsOf(args)) await platform.control(reply.address, control);
      return reply;
    },
    prompt: (address, prompt, signal) =>
      commandOf(prompt.text, own) ?? platform.prompt(address, prompt, signal),
  };
}

/** What a command of the channel's own comes to: nobody has to be asked to leave, and nobody may be there. */
function commandOf(text: string, own: readonly CommandInfo[]): AsyncIterable<readonly Event[]> | undefined {
  const to = route(text, new Set(own.flatMap(({ name, aliases }) => [name, ...aliases])));
  if (to.to !== 'command') return undefined;
  const name = own.find((each) => each.name === to.name || each.aliases.includes(to.name))?.name ?? to.name;
  const effect = { kind: 'channel', name, args: to.args } as const;
  return only([{ type: 'commandResult', name, effect }, runEnd('command', {})]);
}

async function* only(events: readonly Event[]): AsyncGenerator<readonly Event[], void> {
  yield events;
}

function controlsOf(args: Arguments): readonly Control[] {
  const [model, effort, mode] = [args.value('model'), args.value('effort'), args.value('permission-mode')];
  return [
    ...(model === undefined ? [] : [{ kind: 'setModel', model } as const]),
    ...(effort === undefined ? [] : [{ kind: 'setEffort', effort } as const]),
    ...(args.has('fast') ? [{ kind: 'setFast', fast: true } as const] : []),
    ...(mode === undefined ? [] : [{ kind: 'setMode', mode } as const]),
  ];
}

/** What a channel is told of the conversation before it is open. Its declaration goes nowhere. */
function requestFor(
  { agent, name }: Omit<EnterMsg, 'commands'>,
  where: string,
  canAsk: boolean,
): OpenRequest {
  return {
    agent,
    cwd: where,
    session: { kind: 'new' },
    ...(name !== undefined && { name }),
    commands: [],
    declaration: {
      agent: { name: agent },
      mode: 'default',
      rules: [],
      directories: [],
      sandbox: SANDBOX_OFF,
      withoutTools: [],
      limits: {},
      instructions: { given: false, append: [], files: [], environment: [] },
      canAsk,
    },
  };
}

/** Tells of a connection that is lost, and of one that is there again. */
class Changes {
  readonly #name: string;
  readonly #listeners = new Set<Outbox<Event>>();

  constructor(name: string) {
    this.#name = name;
  }

  tell(lost: Error | undefined, warn: ((text: string) => void) | undefined): void {
    const text =
      lost === undefined
        ? `${this.#name} is there again.`
        : `The connection to ${this.#name} was lost; it is tried again.`;
    warn?.(text);
    for (const outbox of this.#listeners)
      outbox.push([{ type: 'notice', level: lost === undefined ? 'info' : 'warning', text }]);
  }

  /** Puts what there is to tell between the events. */
  async *amid(batches: AsyncIterable<readonly Event[]>): AsyncGenerator<readonly Event[], void> {
    const outbox = new Outbox<Event>({ onAbandon: () => {}, onLost: () => [] });
    this.#listeners.add(outbox);
    const reading = (async () => {
      for await (const events of batches) outbox.push(events);
    })().finally(() => outbox.end());
    reading.catch(() => {});
    try {
      yield* outbox;
      await reading;
    } finally {
      this.#listeners.delete(outbox);
    }
  }
}
