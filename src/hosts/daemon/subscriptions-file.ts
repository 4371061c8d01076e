// The subscriptions of the bus on disk: TOML that a person can read and change while the daemon is not running. It is
// replaced in one step, so that whoever reads it finds the old one or the new one.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { replaceFile, writeFailure } from '../../disk/replace-file.ts';
import type { SubscriptionInfo } from '../../protocol/messages.ts';

export interface SubscriptionsFile {
  readonly path: string;
  /** In the order of their ids. Throws `CrabError settings-invalid` that names what is wrong. */
  load(): Promise<readonly SubscriptionInfo[]>;
  /** Durable when it resolves. Throws `CrabError` (`storage-failed`, `storage-full`). */
  save(subscriptions: readonly SubscriptionInfo[]): Promise<void>;
}

export function subscriptionsFile(home: string): SubscriptionsFile {
  const path = join(home, 'events', 'subscriptions.toml');
  return {
    path,
    async load() {
      const text = await textOf(path);
      if (text === undefined) return [];
      const { parse } = await import('smol-toml');
      let table: Readonly<Record<string, unknown>>;
      try {
        table = parse(text);
      } catch (cause) {
        throw invalid(path, messageOf(cause).split('\n')[0] ?? '');
      }
      const rows = table['subscription'] ?? [];
      if (!Array.isArray(rows)) throw invalid(path, 'subscription must be a list of tables');
      const all = rows.map((row, at) => readRow(path, row, at + 1));
      if (new Set(all.map(({ id }) => id)).size < all.length) throw invalid(path, 'two have the same id');
      return all.sort((one, other) => one.id - other.id);
    },
    async save(subscriptions) {
      const { stringify } = await import('smol-toml');
      const rows = subscriptions.map(({ id, source, targetAgent, once }) => ({
        ...{ id, source, target_agent: targetAgent, once },
      }));
      try {
        replaceFile(path, stringify({ subscription: rows }));
      } catch (cause) {
        throw writeFailure(path, cause);
      }
    },
  };
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return undefined;
    throw new CrabError('storage-failed', `${path} cannot be read: ${messageOf(cause)}.`, { cause });
  }
}

function readRow(path: string, row: unknown, number: number): SubscriptionInfo {
  const { id, source, target_agent: targetAgent, once = false } = Object(row) as Record<string, unknown>;
  const isWhole = typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= 0xffffffff;
  if (isWhole && isName(source) && isName(targetAgent) && typeof once === 'boolean')
    return { id, source, targetAgent, once };
  throw invalid(path, `subscription ${number} needs id, source and target_agent, and once may be true`);
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function invalid(path: string, what: string): CrabError {
  return new CrabError('settings-invalid', `${path}: ${what}.`);
}
