// The runtime's host on this machine: real files, processes, clock and network. What talks to providers and what starts
// processes is loaded when it is first needed: a question that needs no command should not wait for either.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Exec } from '../core/host.ts';
import { createIds } from '../core/ids.ts';
import type { Models } from '../core/model.ts';
import type { Settings } from '../core/settings.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { createScratch } from '../parts/files/scratch.ts';
import { createHistories } from '../parts/history/histories.ts';
import type { HostExec } from '../parts/process/exec.ts';
import { createMemoryTapes, createTapes } from '../parts/tape/tapes.ts';
import { builtinExtensions } from '../runtime/builtin.ts';
import type { RuntimeHost } from '../runtime/host.ts';
import { systemClock } from './clock.ts';
import { historyOptions } from './history.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { memoriesOf } from './memory.ts';
import type { Traffic } from './traffic.ts';
import { VERSION } from './version.ts';

export interface LocalHost extends RuntimeHost {
  /** Ends every child process at once; for the last moment of this one. */
  killAll(): void;
}

export interface HostOptions {
  readonly settings: Settings;
  /** When the run is recorded or replayed. */
  readonly traffic?: Traffic | undefined;
}

export function createHost(env: Environment, { settings, traffic }: HostOptions): LocalHost {
  const clock = traffic?.clock ?? systemClock;
  const random = traffic?.random ?? Math.random;
  const newId = createIds({ now: clock.now, random });
  const exec = lazyExec(env);
  const shared = { clock, random };
  return {
    clock,
    newId,
    models: lazyModels(env, settings, traffic),
    tapes: createTapes({ home: join(crabHome(env)), ...shared }),
    memoryTapes: createMemoryTapes(shared),
    files: createLocalFiles(),
    exec,
    sweep: () => exec.sweep(),
    killAll: () => exec.killAll(),
    scratch: createScratch(tmpdir()),
    homeFolder: homeFolder(env),
    histories: createHistories(historyOptions(env, { newId, settings })),
    extensions: builtinExtensions({ memories: memoriesOf(env) }),
  };
}

function lazyExec(env: Environment): HostExec {
  let loading: Promise<HostExec> | undefined;
  let loaded: HostExec | undefined;
  const load = async (): Promise<HostExec> => {
    const { createExec } = await import('../parts/process/exec.ts');
    loaded = createExec({ env, clock: systemClock });
    return loaded;
  };
  const exec: Exec = async (request, signal) => {
    loading ??= load();
    return (loaded ?? (await loading))(request, signal);
  };
  return Object.assign(exec, {
    sweep: async () => loaded?.sweep(),
    killAll: () => loaded?.killAll(),
  });
}

function lazyModels(env: Environment, settings: Settings, traffic: Traffic | undefined): Models {
  let models: Promise<Models> | undefined;
  const load = async (): Promise<Models> => {
    const [{ createModels }, { createCredentials }] = await Promise.all([
      import('../parts/llm/models.ts'),
      import('../parts/auth/credentials.ts'),
    ]);
    const models = createModels({
      env: traffic?.env ?? env,
      credentials: traffic?.credentials ?? createCredentials({ env }),
      settings,
      clock: traffic?.modelClock ?? systemClock,
      random: traffic?.random ?? Math.random,
      userAgent: `crab/${VERSION}`,
      ...(traffic !== undefined && { http: traffic.http }),
    });
    return traffic?.models(models) ?? models;
  };
  return {
    async resolve(name) {
      models ??= load();
      return (await models).resolve(name);
    },
  };
}
