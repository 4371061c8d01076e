// What systemd and its like hand to a service: sockets that they bound (sd_listen_fds(3)), and a place to say that it is
// ready (sd_notify(3)). Node has no datagram sockets of the local kind, so the word is sent by systemd's own program. No
// watchdog is fed: a process for every beat would cost more than it tells.

import { CrabError } from '../core/errors.ts';
import type { Exec } from '../core/host.ts';
import type { Inherited } from '../hosts/daemon/listen.ts';
import type { Environment } from './home.ts';

/** The first one, as the protocol has it. */
const FIRST = 3;

const NAMES: Readonly<Record<string, keyof Inherited>> = {
  daemon: 'socket',
  'daemon.socket': 'socket',
  json: 'jsonSocket',
  'daemon-json': 'jsonSocket',
  tcp: 'tcp',
};

/** By `FileDescriptorName=`: daemon, json or tcp; one without a name is `daemon`. Throws `CrabError daemon-failed`. */
export function inheritedSockets(env: Environment): Inherited {
  const count = Number(env['LISTEN_FDS'] ?? 0);
  if (env['LISTEN_PID'] !== String(process.pid) || !Number.isInteger(count) || count < 1) return {};
  const names = (env['LISTEN_FDNAMES'] ?? '').split(':');
  const inherited: Partial<Record<keyof Inherited, number>> = {};
  for (let at = 0; at < count; at++) {
    const name = names[at] ?? '';
    const which = NAMES[name] ?? (count === 1 ? 'socket' : undefined);
    if (which === undefined || inherited[which] !== undefined)
      throw new CrabError(
        'daemon-failed',
        `The socket ${FIRST + at} that was handed over is called ${JSON.stringify(name)}.`,
        {
          hint: 'Name each with FileDescriptorName=: daemon, json or tcp.',
        },
      );
    inherited[which] = FIRST + at;
  }
  return inherited;
}

/** As what is started by the service should have it: none of this is said to them. */
export function withoutSupervisor(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_SUPERVISOR.test(name)));
}

const OF_SUPERVISOR = /^(?:LISTEN_(?:PID|FDS|FDNAMES|PIDFDID)|NOTIFY_SOCKET|WATCHDOG_(?:PID|USEC))$/;

/** That the settings are read again; `READY=1` follows. systemd wants the time by its own clock, in microseconds. */
export function reloading(): readonly string[] {
  return ['RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`];
}

/** Does nothing where nobody listens. The unit needs `NotifyAccess=all`. */
export async function notifySupervisor(
  env: Environment,
  host: { readonly exec: Exec } | undefined,
  states: readonly string[],
  log: (text: string) => void,
): Promise<void> {
  if (host === undefined || (env['NOTIFY_SOCKET'] ?? '') === '') return;
  const argv = ['systemd-notify', `--pid=${process.pid}`, ...states];
  const request = { argv, cwd: '/', env: { NOTIFY_SOCKET: env['NOTIFY_SOCKET'] }, timeoutMs: 5000 };
  try {
    const { exitCode, stdout } = await host.exec(request, new AbortController().signal);
    if (exitCode !== 0) log(`systemd-notify ended with ${exitCode}: ${stdout.text}`);
  } catch (error) {
    log(`systemd could not be told ${states[0]}: ${String(error)}`);
  }
}
