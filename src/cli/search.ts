// Where the sessions that are searched lie, and their index.

import { join } from 'node:path';
import type { SearchOptions } from '../parts/search/open-search.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

export function searchOptions(env: Environment): SearchOptions {
  const home = crabHome(env);
  return { index: join(home, 'index', 'sessions.db'), sessions: join(home, 'sessions'), clock: systemClock };
}
