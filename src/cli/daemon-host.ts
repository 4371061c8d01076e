// What the daemon answers with under one state of the settings: the same host, declaration and rules that a command line
// would have in the folder of the conversation, with nobody's flags.

import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { DEFAULT_AGENT } from '../core/agent.ts';
import type { Address, SessionChoice } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { OpenRequest } from '../core/platform.ts';
import type { DaemonSettings } from '../core/settings.ts';
import type { Tapes } from '../core/tape.ts';
import { createAgentStore } from '../hosts/daemon/agent-store.ts';
import type { Setup } from '../hosts/daemon/daemon.ts';
import type { Opener } from '../hosts/daemon/daemon-server.ts';
import { type AgentBus, tellDone } from '../hosts/daemon/fire.ts';
import type { Wakeups } from '../parts/schedule/wakeups.ts';
import { RequestFailure } from '../protocol/failure.ts';
import type { RuntimeHost } from '../runtime/host.ts';
import { createPlatform } from '../runtime/platform.ts';
import { agentFiles } from './agent-store.ts';
import { type Arguments, readArguments } from './arguments.ts';
import { basisOf } from './basis.ts';
import { consolidating } from './consolidation.ts';
import { configText } from './daemon-config.ts';
import { type Environment, homeFolder } from './home.ts';
import { createHost, type LocalHost } from './host.ts';
import { openRequest } from './request.ts';
import { loadSettings } from './settings.ts';

export interface DaemonHost extends Setup {
  readonly host: LocalHost;
  readonly daemon: DaemonSettings | undefined;
}

export interface DaemonHostOptions {
  readonly wakeups: Wakeups;
  readonly bus: AgentBus;
  /** As in `HostOptions`. */
  readonly overheard: NonNullable<RuntimeHost['overheard']>;
  warn(text: string): void;
}

/** Throws `CrabError settings-invalid`. */
export async function daemonHost(
  env: Environment,
  { wakeups, bus, overheard, warn }: DaemonHostOptions,
): Promise<DaemonHost> {
  // Before the file is read: one that is changed in between is not what clients have.
  const basis = basisOf(env);
  const args = readArguments([]);
  const own = await loadSettings({ args, env, warn });
  // Nobody may be there to see what a command does: without a word of the person's none runs outside a sandbox.
  const settings = { ...own, sandbox: { ...own.sandbox, mode: own.sandbox?.mode ?? 'required' } } as const;
  const host = createHost({ env, settings, wakeups, events: bus, delegated: tellDone(bus), overheard, warn });
  const definitions = agentFiles(env);
  const trusted = settings.daemon?.shellSenders ?? [];
  if (trusted.length > 0)
    warn(`[daemon] shell_senders: from elsewhere ${trusted.join(', ')} may use the shell here`);
  return {
    host,
    basis,
    daemon: settings.daemon,
    platform: consolidating(createPlatform(host), { host, settings, endsWithClose: false, warn }),
    agents: createAgentStore({
      ...definitions,
      redact: host.redact ?? String,
    }),
    async declare(address: Address, given: string | undefined, who: Opener): Promise<OpenRequest> {
      if (address.agent === '') throw new RequestFailure(400, 'The message names no agent.');
      const cwd = given ?? (await folderOf(host.tapes, address, who.session)) ?? homeFolder(env);
      checkFolder(cwd);
      const { files, clock } = host;
      const request = await openRequest({
        args: argumentsFor(address.agent),
        env,
        settings,
        files,
        now: clock.now(),
        cwd,
        canAsk: true,
        warn,
      });
      // People are understood who write a name in other letters; by the wire that would be another conversation.
      const { declaration } = request;
      const { name } = declaration.agent;
      if (name !== address.agent)
        throw new CrabError('agent-unknown', `There is no agent ${address.agent}.`, {
          hint: `Did you mean ${name}?`,
        });
      const away = who.isLimited && !isAmong(settings.daemon?.shellSenders, address) ? OWNERS_TOOLS : [];
      return {
        ...request,
        ...address,
        declaration: { ...declaration, withoutTools: [...declaration.withoutTools, ...away] },
        session: { kind: 'head' },
      };
    },
    config: () => configText(env),
  };
}

/**
 * What nobody but the owner is given: the machine itself, and what would have something done elsewhere than in their own
 * conversation, where nothing of this holds.
 */
const OWNERS_TOOLS: readonly string[] = [
  'bash',
  ...(process.platform === 'win32' ? ['powershell'] : []),
  'computer',
  'subscribe_event',
  'publish_event',
  'cron_create',
];

/** A sender of theirs is the name in their token, or begins with it and a colon. */
function isAmong(names: readonly string[] = [], { sender }: Address): boolean {
  return names.some((name) => sender === name || sender.startsWith(`${name}:`));
}

/** That of the session which is chosen, or which the conversation is at, if it has one: it goes on where it was. */
async function folderOf(
  tapes: Tapes,
  address: Address,
  session: SessionChoice = { kind: 'head' },
): Promise<string | undefined> {
  // A new conversation gets its sender when it is opened.
  const head = address.sender === '' ? undefined : await tapes.head(address);
  const id = session.kind === 'resume' ? session.id : head;
  const found = id === undefined ? undefined : await tapes.find(id).catch(() => undefined);
  const path = session.kind === 'file' ? session.path : found;
  return path === undefined ? undefined : (await tapes.meta(path)).cwd;
}

function checkFolder(cwd: string): void {
  const hint = 'Name a folder of the machine that the daemon runs on, by its absolute path.';
  if (!isAbsolute(cwd)) throw new CrabError('cwd-missing', `The path ${cwd} is not absolute.`, { hint });
  if (statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CrabError('cwd-missing', `${cwd} is not a folder there.`, { hint });
}

/** What a command line of that agent would say. */
function argumentsFor(agent: string): Arguments {
  return readArguments(agent === DEFAULT_AGENT ? [] : [`--agent=${agent}`]);
}
