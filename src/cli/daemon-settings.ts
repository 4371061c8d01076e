// What a daemon is set to: by its command line, else by `[daemon]` of the settings, else as it comes. Each value that
// somebody has set is told in the log with where it comes from: of a daemon nobody sees how it was started.

import type { DaemonSettings } from '../core/settings.ts';
import type { Setup } from '../hosts/daemon/daemon.ts';
import type { LogRoom } from '../hosts/daemon/daemon-log.ts';
import { DEFAULT_PORT } from '../hosts/daemon/listen.ts';

export interface DaemonFlags {
  /** `--port`. */
  readonly port?: number;
  /** `--host`. */
  readonly host?: string;
  /** `--no-tcp`. */
  readonly noTcp: boolean;
  /** `--max-clients`. */
  readonly maxClients?: number;
}

export interface DaemonValues {
  /** Absent: no TCP. */
  readonly tcp: Setup['tcp'];
  readonly limits: NonNullable<Setup['limits']>;
  readonly log: LogRoom;
  /** Such as `port 7000 (--port), idle_minutes 5 (config.toml)`; empty where nobody has set anything. */
  readonly origins: string;
}

const MINUTE = 60_000;
const MIB = 1024 * 1024;

export function daemonValues(flags: DaemonFlags, settings: DaemonSettings = {}): DaemonValues {
  const { host = settings.host ?? '127.0.0.1', port = settings.port ?? DEFAULT_PORT } = flags;
  const clients = flags.maxClients ?? settings.maxClients;
  const { maxLoadedSessions, idleMs, questionMs, logMib, logFiles } = settings;
  const { maxSubscriptions, maxEventHops } = settings;
  const hasTcp = !flags.noTcp && settings.tcp !== false;
  return {
    tcp: hasTcp ? { host, port } : undefined,
    limits: {
      ...(clients !== undefined && { clients }),
      ...(maxLoadedSessions !== undefined && { maxIdle: maxLoadedSessions }),
      ...(idleMs !== undefined && { idleMs }),
      ...(questionMs !== undefined && { questionMs }),
      ...(maxSubscriptions !== undefined && { maxSubscriptions }),
      ...(maxEventHops !== undefined && { maxHops: maxEventHops }),
    },
    log: {
      ...(logMib !== undefined && { room: logMib * MIB }),
      ...(logFiles !== undefined && { keep: logFiles }),
    },
    origins: originsOf(flags, settings).join(', '),
  };
}

function originsOf(flags: DaemonFlags, settings: DaemonSettings): readonly string[] {
  const { idleMs, questionMs } = settings;
  const rows: readonly (readonly [key: string, flag: unknown, setting: unknown])[] = [
    ['tcp', flags.noTcp ? false : undefined, settings.tcp],
    ['host', flags.host, settings.host],
    ['port', flags.port, settings.port],
    ['max_clients', flags.maxClients, settings.maxClients],
    ['max_loaded_sessions', undefined, settings.maxLoadedSessions],
    ['idle_minutes', undefined, idleMs === undefined ? undefined : idleMs / MINUTE],
    ['question_minutes', undefined, questionMs === undefined ? undefined : questionMs / MINUTE],
    ['max_subscriptions', undefined, settings.maxSubscriptions],
    ['max_event_hops', undefined, settings.maxEventHops],
    ['log_mib', undefined, settings.logMib],
    ['log_files', undefined, settings.logFiles],
  ];
  return rows.flatMap(([key, flag, setting]) => {
    if (flag !== undefined) return `${key} ${flag} (command line)`;
    return setting === undefined ? [] : `${key} ${setting} (config.toml)`;
  });
}
