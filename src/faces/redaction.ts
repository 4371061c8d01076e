// Taking secrets out of what leaves the house: every text of an entry goes through one function, whatever field it is
// in, since a field that is forgotten is a secret that gets out (law 10).

import type { Entry } from '../core/tape.ts';

export type Redact = (text: string) => string;

/** What the entries hang together by, and data that is no text or that a provider wants back as it was. */
const KEPT = new Set([
  ...['id', 'parentId', 'targetId', 'fromId', 'firstKeptEntryId', 'toolCallId', 'type', 'role', 'timestamp'],
  ...['textSignature', 'thinkingSignature', 'thoughtSignature'],
]);

export function redactedEntry(entry: Entry, redact: Redact): Entry {
  return redactedValue(entry, redact) as Entry;
}

function redactedValue(value: unknown, redact: Redact): unknown {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactedValue(item, redact));
  if (typeof value !== 'object' || value === null) return value;
  const isBinary = 'mimeType' in value;
  const copy: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const stays = KEPT.has(key) || (isBinary && key === 'data');
    copy[redact(key)] = stays ? item : redactedValue(item, redact);
  }
  return copy;
}
