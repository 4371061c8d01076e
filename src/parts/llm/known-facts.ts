// What is known of a model before its server is asked: our table, and the person's settings, which win over it.

import type { ModelFacts } from '../../core/model.ts';
import type { Settings } from '../../core/settings.ts';
import { FREE, factsOf } from './facts.ts';
import type { ProviderRow } from './provider-row.ts';

/** What our table says; a server of one's own has limits of its own, and asks for no money. */
export function knownOf(row: ProviderRow, id: string, free: boolean): ModelFacts {
  const facts = factsOf(id, row.catalogue ?? row.name);
  if (!free) return facts;
  const { contextWindow: _, maxOutput: __, structured: ___, ...rest } = facts;
  return { ...rest, price: FREE };
}

/** What the person's settings say of a model. */
export function settledOf(row: ProviderRow, id: string, { models }: Pick<Settings, 'models'>): ModelFacts {
  const { price, ...rest } = { ...models[id], ...models[`${row.name}/${id}`] };
  if (price === undefined) return rest;
  return { ...rest, price: { cacheRead: price.input, cacheWrite: price.input, ...price } };
}
