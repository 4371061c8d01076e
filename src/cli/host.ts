// The runtime's host on this machine: real files, processes, clock and network. The network part is loaded when a model
// is first needed, since commands and shell lines work without one.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds } from '../core/ids.ts';
import type { Models } from '../core/model.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { createScratch } from '../parts/files/scratch.ts';
import { createExec } from '../parts/process/exec.ts';
import { createMemoryTapes, createTapes } from '../parts/tape/tapes.ts';
import { builtinExtensions } from '../runtime/builtin.ts';
import type { RuntimeHost } from '../runtime/host.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { VERSION } from './version.ts';

export interface LocalHost extends RuntimeHost {
  /** Ends every child process at once; for the last moment of this one. */
  killAll(): void;
}

export function createHost(env: Environment): LocalHost {
  const clock = systemClock;
  const random = Math.random;
  const newId = createIds({ now: clock.now, random });
  const exec = createExec({ env, clock });
  const shared = { clock, random };
  return {
    clock,
    newId,
    models: lazyModels(env),
    tapes: createTapes({ home: join(crabHome(env)), ...shared }),
    memoryTapes: createMemoryTapes(shared),
    files: createLocalFiles(),
    exec,
    sweep: () => exec.sweep(),
    killAll: () => exec.killAll(),
    scratch: createScratch(tmpdir()),
    homeFolder: homeFolder(env),
    extensions: builtinExtensions(),
  };
}

function lazyModels(env: Environment): Models {
  let models: Promise<Models> | undefined;
  const load = async (): Promise<Models> => {
    const { createModels } = await import('../parts/llm/models.ts');
    return createModels({ env, clock: systemClock, random: Math.random, userAgent: `crab/${VERSION}` });
  };
  return {
    async resolve(name) {
      models ??= load();
      return (await models).resolve(name);
    },
  };
}
