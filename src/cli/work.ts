// Where the tools about the work itself keep what outlives a conversation.

import { join } from 'node:path';
import type { Files } from '../core/host.ts';
import type { Wakeups } from '../parts/schedule/wakeups.ts';
import type { WorkOptions } from '../runtime/builtin.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { presenceOf, worktreeFolder } from './presence.ts';

export function workOptions(env: Environment, files: Files, wakeups?: Wakeups): WorkOptions {
  const home = crabHome(env);
  const path = join(home, 'config.toml');
  return {
    planFolder: join(home, 'plans'),
    files,
    worktreeFolder: worktreeFolder(env),
    presence: presenceOf(env),
    settings: {
      path,
      files,
      check: async (text) => {
        const { checkSettings } = await import('../parts/config/settings.ts');
        await checkSettings(path, text, { env, homeFolder: homeFolder(env) });
      },
    },
    crons: cronsAt(join(home, 'crons.toml')),
    wakeups,
  };
}

function cronsAt(path: string): WorkOptions['crons'] {
  return {
    path,
    open: async () => {
      const [{ createCronStore }, { lockFile }] = await Promise.all([
        import('../parts/schedule/cron-store.ts'),
        import('./file-lock.ts'),
      ]);
      return createCronStore({ path, now: systemClock.now, lock: lockFile });
    },
  };
}
