// `crab daemon`, and `crabd`, which is the same. Only `run` loads what runs conversations.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError, EXIT, errnoOf } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { systemClock } from './clock.ts';
import { findDaemon, withDaemon } from './daemon-client.ts';
import { crabHome, type Environment } from './home.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { chosenCommand, subcommandArguments, subcommandUsage, wholeFlag } from './subcommand.ts';

const HELP = `Usage: crab daemon COMMAND     (crabd COMMAND is the same)

  run              serve conversations until it is stopped, in the foreground
  status           whether one is running for this home, and what it does
  reload           read the settings again; runs in flight finish as they began (SIGHUP does the same)
  stop             stop the runs, write everything down, and end (SIGTERM does the same)
  logs             the last lines of what the daemon said
  events           what is said in its conversations, as it comes: \`crab watch\` without a filter
  unit             a unit file for systemd, for a service of yours

  --port N         run: the TCP port on this machine (default 6688; 0 for any that is free)
  --host ADDRESS   run: 127.0.0.1 or ::1
  --no-tcp         run: only the sockets in $CRAB_HOME/run
  --max-clients N  run: clients that may be connected at once (default 256)
  --json           status: one object; events: a line for each
  --socket         unit: that of a socket, which starts the service when somebody connects
  -n, --lines N    logs: so many lines (default 50)
  -f, --follow     logs: go on with what comes

Clients find the daemon at $CRAB_HOME/run/daemon.sock; whoever comes by TCP shows the token in
$CRAB_HOME/run/daemon.token. What it says is in $CRAB_HOME/logs. docs/guide/daemon.md has the rest.
`;

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  port: { type: 'string' },
  host: { type: 'string' },
  'no-tcp': { type: 'boolean' },
  'max-clients': { type: 'string' },
  json: { type: 'boolean' },
  socket: { type: 'boolean' },
  lines: { type: 'string', short: 'n' },
  follow: { type: 'boolean', short: 'f' },
} as const;

type Flags = ReturnType<typeof parse>['values'];

interface Command {
  /** Of the flags, those that it takes. */
  readonly takes: readonly (keyof typeof OPTIONS)[];
  run(flags: Flags, env: Environment, stdout: Sink): Promise<number>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  run: { takes: ['port', 'host', 'no-tcp', 'max-clients'], run },
  status: { takes: ['json'], run: status },
  reload: { takes: [], run: reload },
  stop: { takes: [], run: stop },
  logs: { takes: ['lines', 'follow'], run: logs },
  events: {
    takes: ['json'],
    run: async ({ json }, env) =>
      (await import('./watch-command.ts')).watchCommand(json === true ? ['--json'] : [], env),
  },
  unit: { takes: ['socket'], run: unit },
};

/** Returns the exit status. Throws `CrabError`. */
export async function daemonCommand(argv: readonly string[], env: Environment): Promise<number> {
  const asked = parse(argv);
  const { values: flags } = asked;
  const stdout = sinkOf(process.stdout, env);
  const chosen = await chosenCommand({ name: 'daemon', commands: COMMANDS, help: HELP }, asked, stdout);
  if (typeof chosen === 'number') return chosen;
  const { command: name, run: command, words } = chosen;
  if (words.length > 0) throw subcommandUsage('daemon', `\`crab daemon ${name}\` takes no ${words[0]}.`);
  const wrong = (Object.keys(flags) as (keyof typeof OPTIONS)[]).find(
    (flag) => !command.takes.includes(flag),
  );
  if (wrong !== undefined) throw subcommandUsage('daemon', `\`crab daemon ${name}\` takes no --${wrong}.`);
  return command.run(flags, env, stdout);
}

function parse(argv: readonly string[]) {
  return subcommandArguments('daemon', argv, OPTIONS);
}

async function run(flags: Flags, env: Environment): Promise<number> {
  const port = wholeFlag('daemon', 'port', flags.port, [0, 65_535]);
  const maxClients = wholeFlag('daemon', 'max-clients', flags['max-clients'], [1, 100_000]);
  const { runDaemon } = await import('./daemon-run.ts');
  return runDaemon(
    {
      noTcp: flags['no-tcp'] === true,
      ...(flags.host !== undefined && { host: flags.host }),
      ...(port !== undefined && { port }),
      ...(maxClients !== undefined && { maxClients }),
    },
    env,
  );
}

async function status({ json }: Flags, env: Environment, stdout: Sink): Promise<number> {
  const daemon = await findDaemon(env);
  if (daemon === undefined) {
    const home = crabHome(env);
    await stdout.write(
      json === true ? `${JSON.stringify({ running: false, home })}\n` : 'No daemon is running.\n',
    );
    return EXIT.failure;
  }
  const { client, server } = daemon;
  try {
    const stats = await client.request('getStats', {}, 'stats');
    const { sessions } = await client.request('sessions', {}, 'sessions');
    if (json === true) {
      const { basis: _, ...known } = server;
      await stdout.write(`${JSON.stringify({ running: true, ...known, ...stats, sessions })}\n`);
      return EXIT.success;
    }
    const { version, pid, uptimeMs, rss, clients, conversations, runs, totalRuns, subscriptions, agents } =
      stats;
    const rows: readonly (readonly [string, string | number])[] = [
      ['version', version],
      ['home', server.home],
      ['process', pid],
      ['up', span(uptimeMs)],
      ['memory', `${(rss / 1024 / 1024).toFixed(1)} MiB`],
      ['clients', clients],
      ['conversations', `${conversations} in memory, ${runs} running`],
      ['runs', `${totalRuns} done`],
      ['subscriptions', subscriptions],
      ['agents', agents],
    ];
    await stdout.write(rows.map(([name, value]) => `${name.padEnd(14)} ${value}\n`).join(''));
    for (const { agent, sender, cwd, running, queued, questions, background, watchers } of sessions) {
      const state = running ? `running${queued > 0 ? `, ${queued} waiting` : ''}` : 'idle';
      const asks = questions > 0 ? `, ${questions} ${questions === 1 ? 'question' : 'questions'} open` : '';
      const behind = background > 0 ? `, ${background} in the background` : '';
      await stdout.write(`  ${agent}/${sender}  ${state}${asks}${behind}, ${watchers} watching, ${cwd}\n`);
    }
    return EXIT.success;
  } finally {
    client.close();
  }
}

function span(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  return parts
    .slice(first < 0 ? 3 : first)
    .slice(0, 2)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}

async function reload(_: Flags, env: Environment, stdout: Sink): Promise<number> {
  await withDaemon(env, ({ client }) => client.request('reload', {}, 'pong'));
  await stdout.write('The settings were read again.\n');
  return EXIT.success;
}

/** A run may take its time to end; a daemon that does not is told of. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 20;

async function stop(_: Flags, env: Environment, stdout: Sink): Promise<number> {
  const daemon = await findDaemon(env);
  if (daemon === undefined) {
    await stdout.write('No daemon is running.\n');
    return EXIT.success;
  }
  const { pid } = daemon.server;
  daemon.client.close();
  try {
    process.kill(pid, 'SIGTERM');
  } catch (cause) {
    throw new CrabError('daemon-failed', `Process ${pid} cannot be told to stop: ${errnoOf(cause)}.`, {
      cause,
    });
  }
  const until = systemClock.monotonic() + PATIENCE_MS;
  while (isAlive(pid)) {
    if (systemClock.monotonic() > until)
      throw new CrabError('daemon-failed', `Process ${pid} has not ended after ${PATIENCE_MS / 1000} s.`, {
        hint: `Look at \`crab daemon logs\`; \`kill -9 ${pid}\` ends it at once, and nothing acknowledged is lost.`,
      });
    await systemClock.sleep(PAUSE_MS);
  }
  await stdout.write('The daemon has stopped.\n');
  return EXIT.success;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

async function unit({ socket }: Flags, env: Environment, stdout: Sink): Promise<number> {
  const { unitText } = await import('./daemon-unit.ts');
  await stdout.write(unitText(socket === true ? 'socket' : 'service', env));
  return EXIT.success;
}

/** Of the end of a file. */
const TAIL_BYTES = 1024 * 1024;

async function logs(flags: Flags, env: Environment, stdout: Sink): Promise<number> {
  const count = wholeFlag('daemon', 'lines', flags.lines, [0, 100_000]) ?? 50;
  const path = join(crabHome(env), 'logs', 'daemon.log');
  const size = sizeOf(path);
  if (size === undefined && flags.follow !== true) {
    await stdout.write('The daemon has said nothing yet.\n');
    return EXIT.success;
  }
  const text = piece(path, Math.max(0, (size ?? 0) - TAIL_BYTES), size ?? 0);
  const lines = text.split('\n').slice(0, -1);
  await stdout.write(
    lines
      .slice(count === 0 ? lines.length : -count)
      .map((line) => `${line}\n`)
      .join(''),
  );
  if (flags.follow === true) await follow(path, size ?? 0, stdout);
  return EXIT.success;
}

/** Until it is interrupted. A new file is read from its beginning. */
async function follow(path: string, from: number, stdout: Sink): Promise<void> {
  const stop = stopOnSignals(() => {});
  let at = from;
  try {
    while (!stop.signal.aborted) {
      const size = sizeOf(path) ?? 0;
      if (size < at) at = 0;
      if (size > at) {
        await stdout.write(piece(path, at, size));
        at = size;
      } else await systemClock.sleep(200, stop.signal).catch(() => {});
    }
  } finally {
    stop.release();
  }
}

function sizeOf(path: string): number | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      return fstatSync(file).size;
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw new CrabError('storage-failed', `${path} cannot be read: ${errnoOf(cause)}.`, { cause });
  }
}

function piece(path: string, from: number, to: number): string {
  const bytes = Buffer.alloc(Math.min(to - from, TAIL_BYTES));
  const file = openSync(path, 'r');
  try {
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}
