// One journey through the built program: a workspace, a scripted provider, and the program pointed at it over one
// wire. Every run is a process of its own; what was asked and what is on disk can be looked at between them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply, Scenario } from '../../src/dev/scenario.ts';
import type { WireName } from '../../src/dev/wire.ts';
import {
  type CrabExit,
  type CrabOptions,
  type CrabProcess,
  cleanEnv,
  type RunOptions,
  runCrab,
  spawnCrab,
} from './crab.ts';
import { daemonFor } from './daemon.ts';
import { type FakeProviderFixture, fakeProvider } from './fake-provider.ts';
import { type SessionFile, sessionFiles } from './session-files.ts';
import { type Asked, askedIn } from './spoken.ts';
import { tempWorkspace, type Workspace } from './workspace.ts';

/** The wires that every journey is made over. */
export type FlowWire = Extract<WireName, 'anthropic' | 'openai'>;

export const WIRES: readonly FlowWire[] = ['anthropic', 'openai'];

/** Models with a price, so that costs can be checked. */
export const MODELS: Readonly<Record<FlowWire, string>> = {
  anthropic: 'claude-sonnet-4-5',
  openai: 'gpt-5.1',
};

export interface Journey extends AsyncDisposable {
  readonly wire: FlowWire;
  readonly work: Workspace;
  readonly provider: FakeProviderFixture;
  /** Runs to the end, with nothing on standard input unless `more` says so. */
  run(args: readonly string[], more?: Partial<RunOptions>): Promise<CrabExit>;
  start(args: readonly string[], more?: Partial<CrabOptions>): CrabProcess;
  /** Every request to a model so far. */
  asked(): readonly Asked[];
  sessions(): Promise<readonly SessionFile[]>;
}

export interface JourneyOptions {
  readonly script: Scenario | readonly Reply[];
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Default: false. */
  readonly git?: boolean;
}

/** Whether journeys are made through a daemon in this process. */
export const THROUGH_DAEMON = process.env['CRAB_FLOWS'] === 'daemon';

/**
 * A test for each wire; through a daemon, whose way is the same for all of them, for one. `near`: it is about the process that
 * does the work, which a daemon would do in its place.
 */
export function onEachWire(
  name: string,
  body: (wire: FlowWire) => Promise<void>,
  { near = false }: { readonly near?: boolean } = {},
): void {
  if (near && THROUGH_DAEMON) return;
  for (const wire of THROUGH_DAEMON ? WIRES.slice(0, 1) : WIRES) test(`${name} (${wire})`, () => body(wire));
}

/** A test that is `near`, and of one wire. */
export function nearTest(name: string, body: () => Promise<void>): void {
  if (!THROUGH_DAEMON) test(name, body);
}

export async function journey(wire: FlowWire, options: JourneyOptions): Promise<Journey> {
  const { script, files = {}, git = false } = options;
  const work = await tempWorkspace(files, { git });
  const provider = await fakeProvider(script);
  const model = wire === 'anthropic' ? 'ANTHROPIC_MODEL' : 'OPENAI_MODEL';
  const settings = ({ env, ...more }: Partial<CrabOptions>, args: readonly string[]) => ({
    cwd: work.path,
    home: work.home,
    ...more,
    args,
    env: { ...provider.env(wire), [model]: MODELS[wire], ...env },
  });
  // The same journey through a daemon: every command that can attaches to it.
  const daemon = THROUGH_DAEMON
    ? await daemonFor({ cwd: work.path, env: { ...cleanEnv(work.home), ...settings({}, []).env } })
    : undefined;
  return {
    wire,
    work,
    provider,
    run: (args, more = {}) => runCrab({ ...more, ...settings(more, args) }),
    start: (args, more = {}) => spawnCrab(settings(more, args)),
    asked: () => provider.requests.filter((request) => request.wire !== undefined).map(askedIn),
    sessions: () => sessionFiles(work.home),
    async [Symbol.asyncDispose]() {
      await daemon?.[Symbol.asyncDispose]();
      await work[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** The only session there is. */
export async function onlySession({ sessions }: Pick<Journey, 'sessions'>): Promise<SessionFile> {
  const [first, ...others] = await sessions();
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
  );
  return first ?? assert.fail('there is no session');
}

export type Line = Readonly<Record<string, unknown>>;

/** The lines of a JSON format. */
export function linesOf({ stdout }: Pick<CrabExit, 'stdout'>): readonly Line[] {
  if (stdout === '') return [];
  assert.ok(stdout.endsWith('\n'), 'standard output ends in the middle of a line');
  return stdout
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The last line, which is the result of a run. */
export function resultOf(exit: Pick<CrabExit, 'stdout'>): Line {
  const last = linesOf(exit).at(-1);
  assert.equal(last?.['type'], 'result');
  return last ?? {};
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A line without what differs from run to run; what is left out is checked for its shape. */
export function steady(line: Line): Line {
  const { uuid, duration_ms, duration_api_ms, ...rest } = line;
  assert.match(String(uuid), UUID);
  for (const duration of [duration_ms, duration_api_ms]) {
    const isTime = duration === undefined || (Number.isInteger(duration) && Number(duration) >= 0);
    assert.ok(isTime, `${duration} is no time`);
  }
  return rest;
}
