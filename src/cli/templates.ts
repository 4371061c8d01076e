// Templates: sessions that others begin with. Each is a session file in a home of its own, `$CRAB_HOME/templates`, so that it
// is written, checked, thrown away and brought back like any other, and is in nobody's list of what was said.

import { join } from 'node:path';
import { TEMPLATE_ENTRY, type TemplateFacts } from '../core/custom.ts';
import { CrabError } from '../core/errors.ts';
import type { TapeReader, Tapes } from '../core/tape.ts';
import { createTapes } from '../parts/tape/tapes.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';

export interface Template {
  readonly path: string;
  readonly reader: TapeReader;
  readonly facts: TemplateFacts;
}

export function templateTapes(env: Environment): Tapes {
  const home = join(crabHome(env), 'templates');
  return createTapes({ home, clock: systemClock, random: Math.random });
}

/** By name. A file that is no template is passed over. */
export async function templatesOf(
  tapes: Tapes,
  filter: { readonly discarded?: boolean } = {},
): Promise<readonly Template[]> {
  const found: Template[] = [];
  for (const { path } of await tapes.list(filter)) {
    const reader = await tapes.read(path);
    const facts = factsOf(reader);
    if (facts !== undefined) found.push({ path, reader, facts });
  }
  return found.sort((a, b) => (a.facts.name < b.facts.name ? -1 : 1));
}

/** Throws `CrabError` (`usage`) where there is none of that name. */
export async function findTemplate(tapes: Tapes, name: string): Promise<Template> {
  const all = await templatesOf(tapes);
  const found = all.find(({ facts }) => facts.name === name);
  if (found !== undefined) return found;
  const names = all.map(({ facts }) => facts.name).join(', ');
  throw new CrabError('usage', `There is no template called ${JSON.stringify(name)}.`, {
    hint:
      names === ''
        ? 'Make one with `crab session template save NAME`.'
        : `There are ${names}; \`crab session template list\` tells more.`,
  });
}

function factsOf(reader: TapeReader): TemplateFacts | undefined {
  let facts: TemplateFacts | undefined;
  for (const entry of reader.entries(({ detail }) => detail === TEMPLATE_ENTRY))
    if (entry.type === 'custom') facts = entry.data as TemplateFacts;
  return typeof facts?.name === 'string' ? facts : undefined;
}
