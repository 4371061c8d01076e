// Events that arrive whole and are not what the format promises: repeated, renumbered, of kinds that nobody knows, or
// with nothing where something should be. Each is made from the events of a good answer, whatever the wire.

import type { JsonObject } from '../core/schema.ts';
import { isJsonObject, isObject } from './json.ts';
import type { Garble } from './scenario.ts';
import type { WireEvent } from './wire.ts';

export function garbleEvents(events: readonly WireEvent[], garble: Garble): readonly WireEvent[] {
  switch (garble) {
    case 'duplicates':
      return events.flatMap((event) => [event, event]);
    case 'indexes':
      return events.map((event) => onObject(event, (value) => change(value, renumbered)));
    case 'unknownEvents':
      return events.flatMap((event) => [UNKNOWN, event]);
    case 'unknownStop':
      return events.map((event) => onObject(event, (value) => change(value, withUnknownStop)));
    case 'nulls':
      return events.flatMap((event) => [onObject(event, (value) => change(value, emptied)), event]);
    case 'badUtf8':
      return events;
  }
}

const UNKNOWN: JsonObject = { type: 'crab.unknown', index: 0, data: { kind: 'future', list: [1, null] } };

const INDEXES = new Set(['index', 'output_index', 'content_index', 'summary_index', 'sequence_number']);
/** More than any answer has, so that the order is turned round. */
const HIGHEST = 1000;

const STOPS = new Set(['stop_reason', 'finish_reason', 'finishReason']);

/** What must stay for an event to be recognised at all. */
const KINDS = new Set(['type', 'object', 'role']);

type Leaf = (name: string, value: unknown) => unknown;

const renumbered: Leaf = (name, value) =>
  INDEXES.has(name) && typeof value === 'number' ? HIGHEST - value : value;

const withUnknownStop: Leaf = (name, value) =>
  STOPS.has(name) && typeof value === 'string' ? 'crab_unknown' : value;

const emptied: Leaf = (name, value) => (KINDS.has(name) ? value : null);

/** What is no JSON, such as the mark of an end, stays as it is. */
function onObject(event: WireEvent, make: (value: JsonObject) => unknown): WireEvent {
  if (isObject(event)) return make(event) as JsonObject;
  return isJsonObject(event) ? (make(JSON.parse(event)) as JsonObject) : event;
}

/** A copy with every leaf as `leaf` makes it. */
function change(value: unknown, leaf: Leaf): unknown {
  if (Array.isArray(value)) return value.map((item) => change(item, leaf));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      name,
      typeof item === 'object' && item !== null ? change(item, leaf) : leaf(name, item),
    ]),
  );
}
