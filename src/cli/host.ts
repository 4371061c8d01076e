// The runtime's host on this machine: real files, processes, clock and network. What talks to providers and what starts
// processes is loaded when it is first needed: a question that needs no command should not wait for either.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exec, Files, OpenProcess } from '../core/host.ts';
import { createIds } from '../core/ids.ts';
import type { Models } from '../core/model.ts';
import { createSecrets, type Secrets } from '../core/redact.ts';
import type { Settings } from '../core/settings.ts';
import type { Events } from '../parts/agents/event-tools.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { createScratch } from '../parts/files/scratch.ts';
import { createHistories } from '../parts/history/histories.ts';
import type { Http } from '../parts/llm/http.ts';
import type { HostExec } from '../parts/process/exec.ts';
import { createJobs } from '../parts/process/jobs.ts';
import type { Sandbox } from '../parts/sandbox/sandbox.ts';
import type { Wakeups } from '../parts/schedule/wakeups.ts';
import { createSessionSearch } from '../parts/search/session-search.ts';
import { createMemoryTapes, createTapes } from '../parts/tape/tapes.ts';
import { createLedger, type Ledger } from '../parts/usage/ledger.ts';
import { builtinExtensions } from '../runtime/builtin.ts';
import type { ConfineRequest, RuntimeHost } from '../runtime/host.ts';
import { systemClock } from './clock.ts';
import { historyOptions } from './history.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { memoriesOf } from './memory.ts';
import { ownCommand } from './own-command.ts';
import { real, trustOf } from './project.ts';
import { remoteOptions } from './remotes.ts';
import { searchOptions } from './search.ts';
import type { Traffic } from './traffic.ts';
import { VERSION } from './version.ts';
import { SEARCH_KEYS, webOptions } from './web.ts';
import { workOptions } from './work.ts';

export interface LocalHost extends RuntimeHost {
  /** Loads what every prompt needs of a model, for a moment in which there is only waiting to do. */
  prepare(): void;
  /** Ends every child process at once; for the last moment of this one. */
  killAll(): void;
}

export interface HostOptions {
  readonly env: Environment;
  readonly settings: Settings;
  /** `--api-key-file`. */
  readonly keyFile?: string | undefined;
  /** When the run is recorded or replayed. */
  readonly traffic?: Traffic | undefined;
  /** Where the conversation stays open. */
  readonly wakeups?: Wakeups;
  /** Of a daemon: the bus, and who is told of tasks that were given to other agents, and that they are over. */
  readonly events?: Events;
  readonly delegated?: NonNullable<RuntimeHost['delegated']>;
  readonly overheard?: NonNullable<RuntimeHost['overheard']>;
  warn(text: string): void;
}

export function createHost(options: HostOptions): LocalHost {
  const { env, settings, traffic } = options;
  const clock = traffic?.clock ?? systemClock;
  const random = traffic?.random ?? Math.random;
  const newId = createIds({ now: clock.now, random });
  const secrets = createSecrets();
  const exec = lazyExec(env, settings, secrets);
  const search = createSessionSearch(searchOptions(env));
  const models = lazyModels(options, exec.unfiltered, secrets);
  const memories = memoriesOf(env, secrets.redact);
  const shared = { clock, random };
  const files = createLocalFiles();
  return {
    clock,
    newId,
    models,
    prepare: models.prepare,
    ledger: ledgerOf(env, traffic),
    tapes: createTapes({ home: join(crabHome(env)), appended: search.appended, ...shared }),
    memoryTapes: createMemoryTapes(shared),
    files,
    exec,
    open: exec.open,
    shell: settings.shell,
    jobs: (folder) => createJobs({ clock, folder, filter: secrets.filter }),
    redact: secrets.redact,
    confine: lazyConfine({ exec, files, home: homeFolder(env), only: settings.sandbox?.backend }),
    sweep: () => exec.sweep(),
    killAll: () => exec.killAll(),
    scratch: createScratch(tmpdir()),
    homeFolder: homeFolder(env),
    guardedFolders: [crabHome(env)],
    trust: (cwd, decision) => trustOf(cwd, env, decision),
    keepRule: async (cwd, rule) => {
      const { addGrant } = await import('../parts/config/decisions.ts');
      addGrant(crabHome(env), real(cwd), rule, systemClock.now());
    },
    histories: createHistories(historyOptions(env, { newId, settings })),
    memories,
    ...(options.delegated !== undefined && { delegated: options.delegated }),
    ...(options.overheard !== undefined && { overheard: options.overheard }),
    extensions: builtinExtensions({
      events: options.events,
      memories,
      memoryRanking: settings.policy.memoryRanking,
      search,
      work: workOptions(env, files, options.wakeups),
      lsp: settings.lsp,
      shell: settings.shell,
      desktop: { platform: process.platform, env },
      ...webOptions(env, settings),
      remote: remoteOptions(env, settings, secrets),
    }),
  };
}

/** A replay costs nothing, so nothing of it is written down. */
function ledgerOf(env: Environment, traffic: Traffic | undefined): Ledger {
  const ledger = createLedger({ folder: join(crabHome(env), 'usage'), now: systemClock.now });
  return traffic?.isReplay === true ? { ...ledger, record() {} } : ledger;
}

/** Variables that hold keys because the settings say so. */
function namedKeys({ providers, remotes = {} }: Settings): readonly string[] {
  const keys = Object.values(providers).flatMap(({ apiKeyEnv }) => apiKeyEnv ?? []);
  return [...keys, ...Object.values(remotes).flatMap(({ tokenEnv }) => tokenEnv ?? []), ...SEARCH_KEYS];
}

function lazyExec(env: Environment, settings: Settings, secrets: Secrets): HostExec {
  let loading: Promise<HostExec> | undefined;
  let loaded: HostExec | undefined;
  const load = async (): Promise<HostExec> => {
    const [{ createExec }, { keysIn }] = await Promise.all([
      import('../parts/process/exec.ts'),
      import('../parts/process/environment.ts'),
    ]);
    const keys = namedKeys(settings);
    secrets.add(keysIn(env, keys));
    loaded = createExec({ env, clock: systemClock, keys, filter: secrets.filter });
    return loaded;
  };
  const current = async () => {
    loading ??= load();
    return loaded ?? (await loading);
  };
  const exec: Exec = async (request, signal) => (await current())(request, signal);
  const unfiltered: Exec = async (request, signal) => (await current()).unfiltered(request, signal);
  const open: OpenProcess = async (request, signal) => (await current()).open(request, signal);
  return Object.assign(exec, {
    unfiltered,
    open,
    sweep: async () => loaded?.sweep(),
    killAll: () => loaded?.killAll(),
  });
}

/** One sandbox for all conversations of this process: what was found out about the machine holds for each. */
function lazyConfine(known: {
  readonly exec: HostExec;
  readonly files: Files;
  readonly home: string;
  /** The one backend that may be used. */
  readonly only: string | undefined;
}): RuntimeHost['confine'] {
  let sandbox: Sandbox | undefined;
  return async (request: ConfineRequest) => {
    const [{ createConfinement }, { createSandbox }] = await Promise.all([
      import('../parts/sandbox/confine.ts'),
      import('../parts/sandbox/sandbox.ts'),
    ]);
    const { exec, files, home, only } = known;
    sandbox ??= createSandbox({
      exec,
      open: exec.open,
      temporary: tmpdir(),
      ...(only !== undefined && { only }),
    });
    return createConfinement({
      ...request,
      sandbox,
      exec,
      open: exec.open,
      files,
      home,
      bridge: ownCommand('sandbox-bridge'),
    });
  };
}

function lazyModels(options: HostOptions, exec: Exec, secrets: Secrets): Models & Pick<LocalHost, 'prepare'> {
  const { env, settings, keyFile, traffic, warn } = options;
  let models: Promise<Models> | undefined;
  const load = async (): Promise<Models> => {
    const [{ createModels }, { createCredentials }, { redactedModels }, { keysIn }, { tokenRequests }] =
      await Promise.all([
        import('../parts/llm/models.ts'),
        import('../parts/auth/credentials.ts'),
        import('../parts/auth/redacted-models.ts'),
        import('../parts/process/environment.ts'),
        import('./token-requests.ts'),
      ]);
    secrets.add(keysIn(env, namedKeys(settings)));
    const ownCredentials = () =>
      createCredentials({
        env,
        host: {
          home: crabHome(env),
          cwd: homeFolder(env),
          exec,
          clock: systemClock,
          lock: async (path) => (await import('./file-lock.ts')).lockCredentials(path),
          send: tokenRequests(env, settings.network),
          settings,
          platform: process.platform,
          ...(keyFile !== undefined && { keyFile }),
          learn: secrets.add,
          warn,
        },
      });
    const plain = createModels({
      env: traffic?.env ?? env,
      credentials: traffic?.credentials ?? ownCredentials(),
      settings,
      clock: traffic?.modelClock ?? systemClock,
      random: traffic?.random ?? Math.random,
      userAgent: `crab/${VERSION}`,
      ...(traffic !== undefined && { http: (real: Http) => traffic.http(real, secrets.redact) }),
    });
    return redactedModels(traffic?.models(plain) ?? plain, secrets);
  };
  const loaded = () => {
    models ??= load();
    return models;
  };
  return {
    prepare: () => void loaded().catch(() => {}),
    resolve: async (name) => (await loaded()).resolve(name),
    list: async (provider) => (await loaded()).list(provider),
  };
}
