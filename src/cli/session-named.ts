// The session that a person means.

import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

/** Its id. `text`: an id or the beginning of one, a name, or a file. Throws `CrabError session-unknown`. */
export async function sessionNamed(text: string, env: Environment): Promise<string> {
  const { createTapes } = await import('../parts/tape/tapes.ts');
  const tapes = createTapes({ home: crabHome(env), clock: systemClock, random: Math.random });
  return (await tapes.meta(await tapes.find(text))).id;
}
