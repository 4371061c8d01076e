// The daemon as a process: it is put together here, told by signals, and leaves when it has written everything down.

import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isatty } from 'node:tty';
import { EXIT } from '../core/errors.ts';
import { createDaemon, type Daemon } from '../hosts/daemon/daemon.ts';
import { type DaemonLog, openDaemonLog } from '../hosts/daemon/daemon-log.ts';
import { busOf } from '../hosts/daemon/fire.ts';
import { createWakeups, type Wakeups } from '../parts/schedule/wakeups.ts';
import {
  readAnswer,
  readCommands,
  readControl,
  readOpenRequest,
  readPrompt,
  readSessionChoice,
} from '../protocol/read-core.ts';
import { systemClock } from './clock.ts';
import { writeConfig } from './daemon-config.ts';
import { type DaemonHost, daemonHost } from './daemon-host.ts';
import { type DaemonFlags, daemonValues } from './daemon-settings.ts';
import { crabHome, type Environment } from './home.ts';
import { sinkOf } from './sink.ts';
import { inheritedSockets, notifySupervisor, reloading, withoutSupervisor } from './supervisor.ts';
import { VERSION } from './version.ts';

export interface DaemonTelling {
  /** Into the log. */
  log(text: string): void;
  /** And to whoever started it. */
  tell(text: string): void;
}

/** A further way in, closed when the daemon has stopped. */
export type OpenDoor = (daemon: Daemon, telling: DaemonTelling) => Promise<AsyncDisposable>;

/** Runs until it is told to end. Returns the exit status. Throws `CrabError`. */
export async function runDaemon(flags: DaemonFlags, env: Environment, open?: OpenDoor): Promise<number> {
  const home = crabHome(env);
  const hosts = new Set<DaemonHost>();
  const log = openDaemonLog({
    folder: join(home, 'logs'),
    now: systemClock.now,
    redact: (text) => [...hosts].reduce((said, { host }) => host.redact?.(said) ?? said, text),
  });
  process.once('exit', () => {
    for (const { host } of hosts) host.killAll();
  });
  const stderr = sinkOf(process.stderr, env);
  const tell = (text: string) => {
    log.write(text);
    void stderr.write(`crab: ${text}\n`).catch(() => {});
  };
  const signals = listenToSignals();
  const wakeups = createWakeups(systemClock);
  try {
    const daemon = await started({ flags, env, home, hosts, wakeups, log, tell });
    const door = await opened(daemon, open, { log: log.write, tell });
    const tcp = daemon.address === undefined ? '' : `, TCP ${daemon.address}`;
    await stderr.write(`crab: the daemon is ready at ${daemon.folder.socket}${tcp}\n`).catch(() => {});
    const notify = (...states: readonly string[]) =>
      notifySupervisor(env, [...hosts][0]?.host, states, log.write);
    await notify('READY=1');
    for await (const signal of signals.heard) {
      if (signal !== 'SIGHUP') break;
      await notify(...reloading());
      await daemon.reload().catch(() => {});
      await notify('READY=1');
    }
    await notify('STOPPING=1');
    await daemon.stop();
    await door?.[Symbol.asyncDispose]();
    return EXIT.success;
  } finally {
    signals.release();
    wakeups.close();
    await log.close();
  }
}

async function opened(daemon: Daemon, open: OpenDoor | undefined, telling: DaemonTelling) {
  try {
    return await open?.(daemon, telling);
  } catch (error) {
    await daemon.stop();
    throw error;
  }
}

interface Start {
  readonly flags: DaemonFlags;
  readonly env: Environment;
  readonly home: string;
  readonly hosts: Set<DaemonHost>;
  readonly wakeups: Wakeups;
  readonly log: DaemonLog;
  tell(text: string): void;
}

async function started({ flags, env, home, hosts, wakeups, log, tell }: Start): Promise<Daemon> {
  const inherited = inheritedSockets(env);
  const daemon: Daemon = await createDaemon({
    version: VERSION,
    home,
    uid: process.getuid?.(),
    pid: process.pid,
    clock: systemClock,
    async build() {
      const built = await daemonHost(withoutSupervisor(env), {
        wakeups,
        bus: busOf(() => daemon),
        overheard: (address, events) => daemon.overheard(address, events),
        warn: tell,
      });
      hosts.add(built);
      const { platform } = built;
      const close = async () => {
        await platform.close();
        built.host.killAll();
        hosts.delete(built);
      };
      const { tcp, limits, log: room, origins } = daemonValues(flags, built.daemon);
      log.resize(room);
      if (origins !== '') log.write(`set: ${origins}`);
      return { ...built, platform: { ...platform, close }, tcp, limits };
    },
    lock: lockAtOnce,
    read: {
      openRequest: readOpenRequest,
      prompt: readPrompt,
      answer: readAnswer,
      control: readControl,
      session: readSessionChoice,
      commands: readCommands,
    },
    setConfig: async (json) => {
      await writeConfig(env, json);
      await daemon.reload();
    },
    rss: () => process.memoryUsage.rss(),
    log: log.write,
    wakeups,
    listen: { inherited },
  });
  return daemon;
}

/** Whoever comes second leaves: it would serve the same sessions. */
async function lockAtOnce(path: string): Promise<() => void> {
  const [{ acquireLock, thisProcess }, { nodeSyncFs }] = await Promise.all([
    import('../parts/tape/lock.ts'),
    import('../parts/tape/sync-fs.ts'),
  ]);
  const held = acquireLock(path, thisProcess(), nodeSyncFs);
  // One that was killed had no time to end its commands.
  const left = existsSync(path) ? Number(readFileSync(path, 'utf8')) : 0;
  if (Number.isInteger(left) && left > 1) (await import('../parts/process/strays.ts')).endStraysOf(left);
  return () => held.release();
}

const STREAMS = [0, 1, 2];

type DaemonSignal = 'SIGHUP' | 'SIGTERM' | 'SIGINT';

/**
 * From this moment on, in order; the second that asks for the end does not wait for anything. SIGHUP asks for the settings to
 * be read again, and for the end where it comes because the terminal of a daemon in the foreground was closed.
 */
function listenToSignals() {
  const waiting: DaemonSignal[] = [];
  let wake = () => {};
  let isEnding = false;
  const terminals = STREAMS.filter((fd) => isatty(fd));
  const heard = (name: DaemonSignal) => {
    const isClosed = terminals.length > 0 && !terminals.some((fd) => isatty(fd));
    const signal = name === 'SIGHUP' && isClosed ? 'SIGTERM' : name;
    if (signal !== 'SIGHUP') {
      if (isEnding) process.exit(signal === 'SIGINT' ? EXIT.interrupted : EXIT.terminated);
      isEnding = true;
    }
    waiting.push(signal);
    wake();
  };
  const names: readonly DaemonSignal[] = ['SIGHUP', 'SIGTERM', 'SIGINT'];
  for (const name of names) process.on(name, heard);
  async function* read(): AsyncGenerator<DaemonSignal, void> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) yield next;
      else
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
    }
  }
  return {
    heard: read(),
    release: () => {
      for (const name of names) process.off(name, heard);
    },
  };
}
