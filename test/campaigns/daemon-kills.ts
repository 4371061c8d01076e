// A daemon that is killed, told to end or told to reload, in each state that a run can be in, and what is there
// afterwards: the session with what was said so far, each command run once, and no process left behind.

import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Daemon, daemonFor } from '../support/daemon.ts';
import { type Journey, journey } from '../support/journey.ts';
import { processesWith } from '../support/processes.ts';

export const STATES = ['idle', 'streaming', 'tool', 'approval'] as const;
export const SIGNALS = ['SIGKILL', 'SIGTERM', 'SIGHUP'] as const;

export type State = (typeof STATES)[number];
export type Signal = (typeof SIGNALS)[number];

const SAID = 'before the end ';
const ORPHANS_MS = 2000;

const REPLIES: Readonly<Record<State, Reply>> = {
  idle: { text: SAID },
  streaming: { text: [SAID, ...Array.from({ length: 4000 }, (_, at) => `piece ${at} `)], delayMs: 5 },
  tool: { text: SAID, calls: [{ name: 'bash', input: { command: 'echo ran >> ran.txt; . ./wait.sh' } }] },
  approval: { text: SAID, calls: [{ name: 'bash', input: { command: 'touch approved.txt' } }] },
};

/** Faults that were found; none where all is well. `afterwards` is a fault that is planted. */
export async function killedIn(
  state: State,
  signal: Signal,
  afterwards: (at: Journey) => Promise<void> = async () => {},
): Promise<readonly string[]> {
  await using at = await journey('anthropic', { script: [REPLIES[state], { text: 'gone on' }] });
  const home = join(at.work.home, '.crab');
  await mkdir(home, { recursive: true });
  const mode = state === 'tool' ? 'bypassPermissions' : 'default';
  const settings = `[permissions]\ndefault_mode = "${mode}"\n\n[sandbox]\nmode = "off"\n`;
  await writeFile(join(home, 'config.toml'), settings, { mode: 0o600 });
  // Told from those of other rounds by its arguments.
  const mark = `sleep 77.${Math.floor(Math.random() * 1e9)}`;
  await at.work.write('wait.sh', `${mark}\n`);
  const env = daemonEnv(at);
  const faults: string[] = [];
  const check = (holds: boolean, what: string) => void (holds || faults.push(`${state}, ${signal}: ${what}`));
  await using first = await daemonFor({ cwd: at.work.path, env });
  const message = JSON.stringify({ agent: 'crab', content: 'begin', cwd: at.work.path });
  await using client = at.start(['rpc', 'stream', message], { env });
  await client.waitFor(SAID);
  // What is arriving is written down four times a second.
  if (state === 'streaming') await client.waitFor('piece 150 ');
  if (state === 'tool') await until(async () => (await ran(at)) === 1);
  if (state === 'approval') await until(async () => (await sessionsOf(at, env))[0]?.['questions'] === 1);
  if (state === 'idle') await client.exited;
  await struck(first, signal, at, env);
  await afterwards(at);
  if (signal === 'SIGHUP') {
    check((await sessionsOf(at, env)).length === 1, 'the conversation is not open any more');
    await at.run(['rpc', 'kill', '{"agent": "crab", "sender": "user"}'], { env });
    await client.exited;
    await first.kill();
  }
  await client.exited;
  // Nobody has taken its place that could end them.
  const orphans = () => processesWith(mark);
  await until(async () => (await orphans()).length === 0, ORPHANS_MS);
  check((await orphans()).length === 0, `${(await orphans()).length} processes are left`);
  await using second = await daemonFor({ cwd: at.work.path, env });
  check(second.pid > 0, 'it does not start again');
  await at.run(['rpc', 'send', JSON.stringify({ agent: 'crab', content: 'go on', cwd: at.work.path })], {
    env,
  });
  const listed = await sessionsOf(at, env);
  check(listed.length === 1, 'the conversation does not come back');
  const [session, ...others] = await at.sessions();
  check(session !== undefined && others.length === 0, `${others.length + 1} sessions are on disk`);
  check(JSON.stringify(session?.entries ?? []).includes(SAID), 'what was said so far is gone');
  const told = JSON.stringify(at.provider.requests.at(-1)?.body ?? {});
  check(told.includes(SAID) && told.includes('go on'), 'the model is not told what was said so far');
  check(
    state === 'idle' ||
      /interrupted|stopped|aborted|denied|refused/i.test(JSON.stringify(session?.entries) + told),
    'the turn is not marked as interrupted',
  );
  check(state !== 'tool' || (await ran(at)) === 1, `the command ran ${await ran(at)} times`);
  const approved = await readFile(at.work.file('approved.txt'), 'utf8').catch(() => undefined);
  check(approved === undefined, 'a command ran that nobody allowed');
  return faults;
}

async function struck(daemon: Daemon, signal: Signal, at: Journey, env: NodeJS.ProcessEnv): Promise<void> {
  if (signal !== 'SIGHUP') return daemon.kill(signal);
  process.kill(daemon.pid, signal);
  const log = join(at.work.home, '.crab', 'logs', 'daemon.log');
  await until(async () => (await readFile(log, 'utf8')).includes('the settings were read again'));
  await sessionsOf(at, env);
}

function daemonEnv(at: Journey): NodeJS.ProcessEnv {
  const { PATH, TMPDIR } = process.env;
  return {
    ...{ PATH, ...(TMPDIR && { TMPDIR }), HOME: at.work.home, CRAB_HOME: join(at.work.home, '.crab') },
    ...{ LANG: 'C.UTF-8', TZ: 'UTC', ...at.provider.env('anthropic'), ANTHROPIC_MODEL: 'claude-sonnet-4-5' },
  };
}

async function sessionsOf(at: Journey, env: NodeJS.ProcessEnv): Promise<readonly Record<string, unknown>[]> {
  const { stdout } = await at.run(['rpc', 'sessions'], { env });
  return JSON.parse(stdout || '{}').sessions ?? [];
}

async function ran(at: Journey): Promise<number> {
  const text = await readFile(at.work.file('ran.txt'), 'utf8').catch(() => '');
  return text.split('\n').length - 1;
}

/** Gives up silently: what did not come about is found by the check behind it. */
async function until(holds: () => Promise<boolean>, ms = 60_000): Promise<void> {
  const end = performance.now() + ms;
  while (!(await holds()) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** As a daemon would that runs again what was running. */
export async function plantedRerun(at: Journey): Promise<void> {
  await appendFile(at.work.file('ran.txt'), 'ran\n');
}
