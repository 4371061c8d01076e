// Changes to the entries of a memory, as values: nothing is half changed, because what cannot be done throws before
// there is a new value. Names and aliases share one space, so that a name always means one entry.

import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry, MemoryOperation } from '../../core/memory.ts';
import type { Database } from './crmem.ts';

export const MAX_NAME_BYTES = 255;
export const MAX_CONTENT_BYTES = 1024 * 1024;
const MAX_ALIASES = 64;

/** What the operation makes of the database, and the entry that it left. `now` is in seconds since the epoch. */
export function applied(
  database: Database,
  operation: MemoryOperation,
  now: bigint,
): { readonly database: Database; readonly entry: MemoryEntry | undefined } {
  if (operation.type === 'add') {
    const { name, content, kind, aliases = [] } = operation;
    const entry: MemoryEntry = {
      id: database.nextId,
      name,
      aliases: [...new Set(aliases)],
      content,
      kind,
      createdAt: now,
    };
    check(entry, database.entries);
    return { database: { nextId: database.nextId + 1n, entries: [...database.entries, entry] }, entry };
  }
  const before = known(database.entries, operation.name);
  if ('was' in operation && operation.was !== undefined && operation.was !== before.content)
    throw new CrabError('memory-taken', `The memory ${JSON.stringify(before.name)} was changed meanwhile.`, {
      hint: 'Look at it again.',
    });
  const after = changed(before, operation);
  const others = database.entries.filter((one) => one !== before);
  if (after !== undefined) check(after, others);
  const entries = database.entries.flatMap((one) => (one === before ? (after ?? []) : one));
  return { database: { ...database, entries }, entry: after };
}

function changed(
  entry: MemoryEntry,
  operation: Exclude<MemoryOperation, { type: 'add' }>,
): MemoryEntry | undefined {
  switch (operation.type) {
    case 'update': {
      const { content, aliases = entry.aliases } = operation;
      return { ...entry, content, aliases: [...new Set(aliases)] };
    }
    case 'rename':
      return {
        ...entry,
        name: operation.to,
        aliases: entry.aliases.filter((alias) => alias !== operation.to),
      };
    case 'alias': {
      const more = operation.aliases.filter((alias) => alias !== entry.name);
      return { ...entry, aliases: [...new Set([...entry.aliases, ...more])] };
    }
    case 'remove':
      return undefined;
  }
}

export function entryNamed(entries: readonly MemoryEntry[], name: string): MemoryEntry | undefined {
  return (
    entries.find((entry) => entry.name === name) ?? entries.find(({ aliases }) => aliases.includes(name))
  );
}

function known(entries: readonly MemoryEntry[], name: string): MemoryEntry {
  const entry = entryNamed(entries, name);
  if (entry !== undefined) return entry;
  throw new CrabError('memory-unknown', `There is no memory called ${JSON.stringify(name)}.`);
}

/** Throws `CrabError`: `memory-taken` where a name means another entry, `usage` for what no entry may be. */
export function check(entry: MemoryEntry, others: readonly MemoryEntry[]): void {
  const names = [entry.name, ...entry.aliases];
  if (new Set(names).size < names.length)
    throw new CrabError('usage', `The memory ${JSON.stringify(entry.name)} has its own name as an alias.`);
  if (entry.aliases.length > MAX_ALIASES)
    throw new CrabError('usage', `A memory may have ${MAX_ALIASES} aliases, not ${entry.aliases.length}.`);
  for (const name of names) checkName(name);
  const bytes = new TextEncoder().encode(entry.content).length;
  if (bytes > MAX_CONTENT_BYTES)
    throw new CrabError('usage', `A memory may have ${MAX_CONTENT_BYTES} bytes of text, not ${bytes}.`);
  for (const other of others) {
    const taken = names.find((name) => name === other.name || other.aliases.includes(name));
    if (taken === undefined) continue;
    const as = taken === other.name ? '' : ` (an alias of ${JSON.stringify(other.name)})`;
    throw new CrabError('memory-taken', `There is a memory called ${JSON.stringify(taken)}${as} already.`);
  }
}

function checkName(name: string): void {
  const bytes = new TextEncoder().encode(name).length;
  const fits = name.trim() === name && bytes > 0 && bytes <= MAX_NAME_BYTES && !/\p{Cc}/u.test(name);
  if (fits && name.isWellFormed()) return;
  throw new CrabError('usage', `${JSON.stringify(name)} cannot be the name of a memory.`, {
    hint: `Use 1 to ${MAX_NAME_BYTES} bytes without control characters and without blanks at the ends.`,
  });
}
