// `--record FILE` and `--replay FILE`: the same run again, without the provider. For the session file to come out the same
// to the byte, a run that is recorded lives by a clock that moves only when an exchange begins or ends, and by random
// numbers from a seed; both are on the recording.

import { closeSync, openSync, writeSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Credentials } from '../core/credential.ts';
import { CrabError, errnoOf, messageOf } from '../core/errors.ts';
import type { Clock } from '../core/host.ts';
import { createIds } from '../core/ids.ts';
import type { Model, Models } from '../core/model.ts';
import { seeded } from '../core/seeded.ts';
import {
  CASSETTE_VERSION,
  type Cassette,
  type CassetteHeader,
  type CassetteModel,
  type Exchange,
  parseCassette,
} from '../parts/llm/cassette.ts';
import type { Http } from '../parts/llm/http.ts';
import { recordHttp } from '../parts/llm/record-http.ts';
import { replayHttp } from '../parts/llm/replay-http.ts';
import type { Arguments } from './arguments.ts';
import { conflict } from './arguments.ts';
import { systemClock } from './clock.ts';
import { fileText } from './file-text.ts';
import type { Environment } from './home.ts';

/** What a run that is recorded or replayed uses in place of the world's own. */
export interface Traffic {
  readonly clock: Clock;
  /** For those who wait for providers. */
  readonly modelClock: Clock;
  readonly random: () => number;
  readonly env: Environment;
  /** For a new session; absent where none was begun. */
  readonly session?: string;
  readonly isReplay: boolean;
  /** In place of the person's own, which a replay does not need. */
  readonly credentials?: Credentials;
  http(real: Http, redact: (text: string) => string): Http;
  models(models: Models): Models;
  close(): void;
}

export interface TrafficOptions {
  readonly args: Arguments;
  readonly env: Environment;
  /** Whether the run begins a session of its own. */
  readonly isNew: boolean;
  warn(text: string): void;
}

/** Throws `CrabError usage`. */
export async function trafficOf(options: TrafficOptions): Promise<Traffic> {
  conflict(options.args, ['record', 'replay']);
  const replay = options.args.value('replay');
  if (replay !== undefined) return replaying(await loadCassette(replay), options);
  return recording(resolve(options.args.value('record') ?? ''), options);
}

async function loadCassette(path: string): Promise<Cassette> {
  return parseCassette(await fileText('--replay', path), path);
}

function recording(path: string, { args, env, isNew }: TrafficOptions): Traffic {
  const descriptor = create(path);
  const write = (line: CassetteHeader | CassetteModel | Exchange) =>
    void writeSync(descriptor, `${JSON.stringify(line)}\n`);
  const time = Date.now();
  const seed = Math.floor(Math.random() * 2 ** 32);
  const random = seeded(seed);
  const clock = steppedClock(time);
  const session = isNew ? (args.value('session-id') ?? createIds({ now: () => time, random })()) : undefined;
  write({
    type: 'cassette',
    version: CASSETTE_VERSION,
    time,
    seed,
    ...(session && { session }),
    env: routes(env),
  });
  const step = () => {
    const now = Date.now();
    clock.step(now);
    return now;
  };
  return {
    clock,
    modelClock: clock,
    random,
    env,
    ...(session !== undefined && { session }),
    isReplay: false,
    http: (real, redact) => recordHttp(real, { write, step, redact }),
    models: (models) => ({
      ...models,
      async resolve(name) {
        const model = await models.resolve(name);
        write({ type: 'model', name: name ?? null, model: nameOf(model) });
        return model;
      },
    }),
    close: () => closeSync(descriptor),
  };
}

function replaying(
  { header, models: resolved, exchanges }: Cassette,
  { env, isNew, warn }: TrafficOptions,
): Traffic {
  const clock = steppedClock(header.time);
  const random = seeded(header.seed);
  // The id of the session took its numbers from the same source.
  if (header.session !== undefined) createIds({ now: () => header.time, random })();
  const differs = (number: number) =>
    warn(`request ${number} is not the recorded one; it gets the recorded answer all the same`);
  const cassette = { header, models: resolved, exchanges };
  return {
    clock,
    // Nothing waits for a provider that is not there.
    modelClock: { ...clock, sleep: async (_, signal) => signal?.throwIfAborted() },
    random,
    env: { ...withoutRoutes(env), ...header.env },
    ...(isNew && header.session !== undefined && { session: header.session }),
    isReplay: true,
    credentials: anyKey,
    http: (_, redact) => replayHttp(cassette, { step: clock.step, differs, redact }),
    models: (models) => ({
      ...models,
      resolve: (name) => models.resolve(resolved.find((one) => one.name === (name ?? null))?.model ?? name),
    }),
    close() {},
  };
}

function nameOf({ info }: Model): string {
  return `${info.provider}/${info.id}`;
}

function create(path: string): number {
  try {
    return openSync(path, 'wx', 0o600);
  } catch (cause) {
    const why = errnoOf(cause) === 'EEXIST' ? 'is there already' : `cannot be written: ${messageOf(cause)}`;
    throw new CrabError('usage', `--record: ${path} ${why}.`, {
      cause,
      hint: 'Name a file that does not exist.',
    });
  }
}

/** Where requests go, and which model they ask when nobody names one. No such variable holds a secret. */
const ROUTE = /_(?:BASE_URL|MODEL|REGION|LOCATION|PROJECT|HOST|ENDPOINT|RESOURCE_NAME|API_VERSION)$/;

function routes(env: Environment): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value && ROUTE.test(name)) found[name] = value;
  return found;
}

function withoutRoutes(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ROUTE.test(name)));
}

const anyKey: Credentials = {
  has: () => true,
  find: async () => ({
    source: 'the recording',
    headers: () => ({}),
    secrets: () => [],
    refused: async () => false,
  }),
};

function steppedClock(start: number): Clock & { step(time: number): void } {
  let now = start;
  return {
    ...systemClock,
    now: () => now,
    step(time) {
      now = time;
    },
  };
}
