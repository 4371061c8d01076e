// A daemon: conversations that outlive their clients, the bus, and the ways in. It is a library: the program `crabd` is
// one of these, and whoever serves several tenants makes one for each, with a home of its own.

import { rmSync, writeFileSync } from 'node:fs';
import { DEFAULT_AGENT, type Declaration } from '../../core/agent.ts';
import type { Address } from '../../core/conversation.ts';
import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Event } from '../../core/event.ts';
import type { OpenRequest, Platform, Prompt } from '../../core/platform.ts';
import type { Server } from '../../protocol/server.ts';
import { Bus } from './bus.ts';
import { Conversations } from './conversations.ts';
import { type Agents, DaemonServer, type DaemonServerOptions, type Opener } from './daemon-server.ts';
import { createFire } from './fire.ts';
import { Generations } from './generations.ts';
import { type Inherited, LISTEN_LIMITS, type Listeners, type ListenLimits, listen } from './listen.ts';
import { prepareRunFolder, type RunFolder, runFolder } from './run-folder.ts';
import { subscriptionsFile } from './subscriptions-file.ts';
import { tokenIn } from './token.ts';

const OWNER: Opener = { canAsk: true, isLimited: false };

/** What answers under one state of the settings. */
export interface Setup {
  /** Closed by the daemon when nobody uses it any more. */
  readonly platform: Platform;
  readonly agents: Agents;
  /** What a conversation may do that a client opens by its names alone. Throws `RequestFailure`. */
  declare(address: Address, cwd: string | undefined, who: Opener): Promise<OpenRequest>;
  /** JSON; secrets are left out. */
  config(): Promise<string>;
  /** As in `HelloReply`. */
  readonly basis: readonly string[];
  /** Where TCP is listened to from the start on. */
  readonly tcp?: { readonly host: string; readonly port: number } | undefined;
  /** What differs from `DAEMON_LIMITS` and `LISTEN_LIMITS`. */
  readonly limits?: Partial<DaemonLimits> & Partial<Pick<ListenLimits, 'clients'>>;
}

export interface DaemonLimits {
  /** Conversations without a run that stay in memory. */
  readonly maxIdle: number;
  /** Milliseconds without a run, after which a conversation leaves the memory. */
  readonly idleMs: number;
  /** Milliseconds that a question waits when no client is there who could answer it. */
  readonly questionMs: number;
  readonly maxSubscriptions: number;
  /** Events that may lead to one another in a row. */
  readonly maxHops: number;
}

export const DAEMON_LIMITS: DaemonLimits = {
  maxIdle: 8,
  idleMs: 30 * 60_000,
  questionMs: 10 * 60_000,
  maxSubscriptions: 256,
  maxHops: 8,
};

export interface DaemonOptions
  extends Pick<
    DaemonServerOptions,
    'version' | 'home' | 'uid' | 'pid' | 'clock' | 'read' | 'setConfig' | 'rss'
  > {
  /** Reads the settings and builds what answers under them: at the start, and for each reload, where the old one stays if this throws. */
  build(): Promise<Setup>;
  /** Takes a file for this process until it is released. Throws `CrabError session-held` that names who has it. */
  lock(path: string): Promise<() => void>;
  log(text: string): void;
  /** Prompts that conversations send themselves for later; absent where they cannot. */
  readonly wakeups?: {
    listen(listener: (text: string, address: Address) => void): void;
    /** How many are not due yet. */
    waiting(address: Address): number;
  };
  /** Absent: no sockets; whoever made the daemon speaks to its `server`. */
  readonly listen?: {
    readonly tcp?: { readonly host: string; readonly port: number };
    readonly inherited?: Inherited;
    readonly limits?: Partial<ListenLimits>;
  };
  readonly limits?: Partial<DaemonLimits>;
}

export interface Daemon extends AsyncDisposable {
  /** For `serve` over a transport of one's own. */
  readonly server: Server;
  readonly folder: RunFolder;
  /** Of TCP. */
  readonly port: number | undefined;
  /** Of TCP, such as `127.0.0.1:6688`. */
  readonly address: string | undefined;
  /** Tells those who watch all conversations of one that carries out a task: it is not open for clients. */
  overheard(address: Address, events: readonly Event[]): void;
  /** How many events have led, one to the other, to what is done in that conversation. */
  hopsTo(address: Address): number;
  /** Reads the settings again. Runs in flight finish as they began. Throws `CrabError`; then nothing has changed. */
  reload(): Promise<void>;
  /** Lets nobody in, stops the runs or waits for them, and closes everything. Resolves when all is on disk. */
  stop(how?: 'stop' | 'finish'): Promise<void>;
}

/** Milliseconds between two looks for conversations that are idle. */
const TIDY_MS = 60_000;

/** The same, when there are more than may stay. */
const CROWDED_MS = 1000;

/** Resolves when clients are let in. Throws `CrabError` (`daemon-failed`, `settings-invalid`, `storage-failed`); then nothing is left behind. */
export async function createDaemon(options: DaemonOptions): Promise<Daemon> {
  const folder = runFolder(options.home);
  prepareRunFolder(folder, options.uid);
  const release = await taken(options, folder);
  try {
    const setup = await options.build();
    try {
      const daemon = new RunningDaemon(options, folder, setup, release);
      await daemon.start();
      return daemon;
    } catch (error) {
      await setup.platform.close();
      throw error;
    }
  } catch (error) {
    release();
    throw error;
  }
}

async function taken({ lock, home }: DaemonOptions, { pid }: RunFolder): Promise<() => void> {
  try {
    return await lock(pid);
  } catch (error) {
    const { code, message } = asCrabError(error);
    if (code !== 'session-held') throw error;
    const [holder = 'another process'] = /process \d+[^.]*/.exec(message) ?? [];
    throw new CrabError('daemon-failed', `The daemon of ${home} is running already: ${holder}.`, {
      cause: error,
      hint: 'Run `crab daemon status`, and `crab daemon stop` to end it.',
    });
  }
}

class RunningDaemon implements Daemon {
  readonly folder: RunFolder;
  readonly #options: DaemonOptions;
  readonly #release: () => void;
  readonly #generations: Generations;
  readonly #conversations: Conversations;
  /** Made by `declare`, and made again when the settings have changed. */
  readonly #declared = new WeakMap<Declaration, Opener>();
  #setup: Setup;
  #limits: DaemonLimits;
  #server: DaemonServer | undefined;
  #listeners: Listeners | undefined;
  #tidying: NodeJS.Timeout | undefined;
  #tidiesSoon = false;
  #reloading: Promise<void> = Promise.resolve();
  #stopping: Promise<void> | undefined;

  constructor(options: DaemonOptions, folder: RunFolder, setup: Setup, release: () => void) {
    this.#options = options;
    this.folder = folder;
    this.#setup = setup;
    this.#release = release;
    this.#limits = { ...DAEMON_LIMITS, ...setup.limits, ...options.limits };
    this.#generations = new Generations(setup.platform, {
      sessionOf: (address) => this.#conversations.find(address)?.session.id,
      renewed: (request) => this.#renewed(request),
      failed: (error) => options.log(`the runtime before the reload did not close: ${String(error)}`),
    });
    this.#conversations = new Conversations({
      platform: this.#generations,
      clock: options.clock,
      limits: () => this.#limits,
      background: (address) =>
        this.#generations.runningJobs(address) + (options.wakeups?.waiting(address) ?? 0),
      failed: (error) => options.log(`a conversation did not close: ${String(error)}`),
      loaded: () => this.#tidyLater(),
      heard: (...heard) => {
        this.#server?.heard(...heard);
        this.#tidyLater();
      },
    });
  }

  get server(): Server {
    if (this.#server === undefined) throw new CrabError('internal', 'The daemon has not started.');
    return this.#server;
  }

  overheard(address: Address, events: readonly Event[]): void {
    this.#server?.overheard(address, events);
  }

  hopsTo(address: Address): number {
    return this.#conversations.find(address)?.hops ?? 0;
  }

  get port(): number | undefined {
    return this.#listeners?.port;
  }

  get address(): string | undefined {
    return this.#listeners?.address;
  }

  async start(): Promise<void> {
    const { home, uid, log, wakeups, listen: doors } = this.#options;
    wakeups?.listen((text, address) => {
      // A model chose these words: they must reach a model, and no shell.
      const live = this.#conversations.find(address);
      const prompt: Prompt = { text, plain: true, trigger: { by: 'wakeup' } };
      if (live !== undefined) this.#conversations.begin(address, prompt, { hops: live.hops });
    });
    const bus = await this.#bus();
    const server = new DaemonServer({
      ...this.#options,
      conversations: this.#conversations,
      bus,
      agents: this.#agents(),
      basis: () => this.#setup.basis,
      wakes: wakeups !== undefined,
      declare: (...asked) => this.#declare(...asked),
      config: () => this.#setup.config(),
      reload: () => this.reload(),
      clients: () => this.#listeners?.clients ?? 0,
    });
    this.#server = server;
    if (doors === undefined) return;
    const { tcp = this.#setup.tcp } = doors;
    this.#listeners = await listen({
      ...doors,
      folder: this.folder,
      uid,
      token: tokenIn(this.folder.token, uid),
      server,
      conversations: this.#conversations,
      declare: (cwd, how) => this.#declare({ agent: DEFAULT_AGENT, sender: '' }, cwd, { ...OWNER, ...how }),
      ...(tcp !== undefined && { tcp }),
      limits: () => ({ ...LISTEN_LIMITS, ...this.#setup.limits, ...doors.limits }),
      log,
    });
    writeFileSync(this.folder.pid, `${this.#options.pid}\n`, { mode: 0o600 });
    if (this.port !== undefined) writeFileSync(this.folder.port, `${this.port}\n`, { mode: 0o600 });
    log(`ready: ${home}${this.address === undefined ? '' : `, TCP ${this.address}`}`);
  }

  async #bus(): Promise<Bus> {
    const file = subscriptionsFile(this.#options.home);
    const limits = () => this.#limits;
    return new Bus({
      subscriptions: await file.load(),
      save: (subscriptions) => file.save(subscriptions),
      fire: createFire({
        conversations: this.#conversations,
        declare: (address, cwd) => this.#declare(address, cwd),
        failed: ({ agent, sender }, error) =>
          this.#options.log(`${sender} did not start ${agent}: ${String(error)}`),
      }),
      get maxSubscriptions() {
        return limits().maxSubscriptions;
      },
      get maxHops() {
        return limits().maxHops;
      },
      log: this.#options.log,
    });
  }

  /** Of the settings that hold when it is asked. */
  #agents(): Agents {
    const now = () => this.#setup.agents;
    return {
      list: () => now().list(),
      upsert: (...agent) => now().upsert(...agent),
      delete: (name) => now().delete(name),
      listMcps: (agent) => now().listMcps(agent),
      upsertMcp: (message) => now().upsertMcp(message),
      deleteMcp: (...mcp) => now().deleteMcp(...mcp),
    };
  }

  async #declare(address: Address, cwd: string | undefined, who = OWNER): Promise<OpenRequest> {
    const request = await this.#setup.declare(address, cwd, who);
    const declaration = { ...request.declaration, canAsk: who.canAsk };
    this.#declared.set(declaration, who);
    return { ...request, declaration };
  }

  /** What a client has declared itself holds on; what was declared from the settings follows them. */
  async #renewed(request: OpenRequest): Promise<OpenRequest> {
    const { agent, sender = '', cwd, declaration } = request;
    const who = this.#declared.get(declaration);
    if (who === undefined) return request;
    const fresh = await this.#declare({ agent, sender }, cwd, who);
    return { ...request, declaration: fresh.declaration };
  }

  reload(): Promise<void> {
    const reloading = this.#reloading.then(async () => {
      if (this.#stopping !== undefined) throw new CrabError('daemon-failed', 'The daemon is stopping.');
      const setup = await this.#options.build();
      if (JSON.stringify(setup.tcp) !== JSON.stringify(this.#setup.tcp))
        this.#options.log('what is set for TCP holds from the next start on');
      this.#setup = setup;
      this.#limits = { ...DAEMON_LIMITS, ...setup.limits, ...this.#options.limits };
      this.#generations.renew(setup.platform);
      this.#tidyAnew();
      this.#options.log('the settings were read again');
    });
    this.#reloading = reloading.catch((error: unknown) => {
      this.#options.log(`the settings stay as they were: ${asCrabError(error).message}`);
    });
    return reloading;
  }

  /** What waits for a later time may be due sooner under other limits. */
  #tidyAnew(): void {
    clearTimeout(this.#tidying);
    this.#tidying = undefined;
    if (this.#conversations.size > 0) this.#tidyLater();
  }

  /** One timer, and none when nothing is loaded: an idle daemon uses no processor. It comes soon when there are too many. */
  #tidyLater(): void {
    if (this.#stopping !== undefined) return;
    const { idleMs, maxIdle } = this.#limits;
    const isCrowded = this.#conversations.size > maxIdle;
    if (this.#tidying !== undefined && (this.#tidiesSoon || !isCrowded)) return;
    clearTimeout(this.#tidying);
    this.#tidiesSoon = isCrowded;
    const ms = Math.min(isCrowded ? CROWDED_MS : TIDY_MS, idleMs);
    this.#tidying = setTimeout(() => void this.#tidy(), ms).unref();
  }

  async #tidy(): Promise<void> {
    this.#tidying = undefined;
    await this.#conversations.unloadIdle();
    // What is crowded because it is in use has the same time as all else until the next run ends.
    const isDone = this.#conversations.size === 0 || this.#stopping !== undefined;
    if (isDone || this.#tidying !== undefined) return;
    this.#tidiesSoon = false;
    this.#tidying = setTimeout(() => void this.#tidy(), Math.min(TIDY_MS, this.#limits.idleMs)).unref();
  }

  stop(how: 'stop' | 'finish' = 'stop'): Promise<void> {
    this.#stopping ??= this.#stop(how);
    return this.#stopping;
  }

  async #stop(how: 'stop' | 'finish'): Promise<void> {
    clearTimeout(this.#tidying);
    this.#listeners?.stop();
    await this.#reloading;
    try {
      await this.#conversations.close(how);
    } finally {
      // The last words of the runs are on their way to those who follow them.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#listeners?.close();
      for (const path of [this.folder.pid, this.folder.port]) rmSync(path, { force: true });
      this.#release();
      this.#options.log('stopped');
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
