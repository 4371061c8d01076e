// Every tool of a conversation, for what is said of tools outside of one: none of them is run.

import { CrabError } from '../core/errors.ts';
import { NO_SETTINGS } from '../core/settings.ts';
import type { Tool } from '../core/tool.ts';
import type { Events } from '../parts/agents/event-tools.ts';
import type { Environment } from './home.ts';
import { createHost } from './host.ts';

const absent = async (): Promise<never> => {
  throw new CrabError('internal', 'There is no bus here.');
};

/** The tools of a daemon are told of, too. */
const EVENTS: Events = { list: absent, subscribe: absent, unsubscribe: absent, publish: absent };

export async function allTools(env: Environment): Promise<readonly Tool[]> {
  const { extensions } = createHost({ env, settings: NO_SETTINGS, events: EVENTS, warn: () => {} });
  const found = await Promise.all(extensions.map(async (extension) => (await extension.tools?.()) ?? []));
  return found.flat();
}
