// What a run has used, by model: its own requests, and those of the tasks that it waited for.

import type { Event } from './event.ts';
import { addUsage, NO_USAGE, type Usage } from './usage.ts';

/** Adds what this event tells of. */
export function countModels(models: Map<string, Usage>, event: Event): void {
  for (const [model, usage] of toldBy(event))
    if (usage.totalTokens > 0) models.set(model, addUsage(models.get(model) ?? NO_USAGE, usage));
}

type Told = readonly (readonly [string, Usage])[];

const NOTHING: Told = [];

function toldBy(event: Event): Told {
  if (event.type === 'requestEnd') return [[event.model, event.usage]];
  return event.type === 'agentWorkerCompleted' ? Object.entries(event.models ?? {}) : NOTHING;
}
