// What the person decided about folders: which projects are trusted, and what may always be done in them. It is a file
// of its own in Crab's home, where no project can plant it, and it is only ever added to: several processes may write
// at once, what the person wrote into it stays as it is, and of two decisions about one folder the later one holds.

import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CrabError, messageOf } from '../../core/errors.ts';
import type { Rule } from '../../core/permission.ts';
import { makeFolder } from '../../disk/make-folder.ts';
import { readTable } from './read-table.ts';
import { flag, list, type Reader, table, text } from './values.ts';

export interface Decisions {
  /** Whether the person trusts a project; undefined when that was never said of it or of a folder above it. */
  trust(folder: string): Trust | undefined;
  /** In the order in which they were made. */
  readonly trusts: readonly Trust[];
  /** What is always allowed in this very folder. */
  grants(folder: string): readonly Rule[];
}

export interface Trust {
  /** Absolute, with every link followed. */
  readonly path: string;
  readonly trusted: boolean;
}

interface Grant {
  readonly path: string;
  readonly allow: string;
}

export function decisionsFile(home: string): string {
  return join(home, 'projects.toml');
}

const READ: Reader<{ readonly trust?: readonly Trust[]; readonly grant?: readonly Grant[] }> = table({
  trust: [
    'trust',
    list(table({ path: ['path', text], trusted: ['trusted', flag], at: ['at', text] }, ['path', 'trusted'])),
  ],
  grant: [
    'grant',
    list(table({ path: ['path', text], allow: ['allow', text], at: ['at', text] }, ['path', 'allow'])),
  ],
});

/** `home` is Crab's. Throws `CrabError` (`settings-invalid`). */
export async function readDecisions(home: string): Promise<Decisions> {
  const path = decisionsFile(home);
  const layer = await readTable(path, { required: false });
  const source = { path, text: layer?.text ?? '', at: [], env: {}, homeFolder: '/' };
  const { trust: trusts = [], grant: grants = [] } = READ(layer?.table ?? {}, source);
  const lines = source.text.split(/\r?\n/);
  return {
    trusts,
    trust: (folder) => {
      for (const above of foldersUpFrom(folder)) {
        const said = trusts.findLast((one) => one.path === above);
        if (said !== undefined) return said;
      }
      return undefined;
    },
    grants: (folder) =>
      grants
        .filter((grant) => grant.path === folder)
        .map(({ allow }) => ({ decision: 'allow', text: allow, source: sourceOf(path, lines, allow) })),
  };
}

function sourceOf(path: string, lines: readonly string[], rule: string): string {
  const at = lines.findIndex((line) => line.includes(JSON.stringify(rule)));
  return at < 0 ? path : `${path}:${at + 1}`;
}

function foldersUpFrom(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...foldersUpFrom(parent)];
}

/** `at` is milliseconds since the epoch. Throws `CrabError` (`storage-failed`). */
export function addTrust(home: string, trust: Trust, at: number): void {
  add(home, 'trust', { path: trust.path, trusted: trust.trusted, at: new Date(at).toISOString() });
}

/** `path` is the folder that the rule is for. Throws `CrabError` (`storage-failed`). */
export function addGrant(home: string, path: string, allow: string, at: number): void {
  add(home, 'grant', { path, allow, at: new Date(at).toISOString() });
}

function add(home: string, kind: string, values: Readonly<Record<string, string | boolean>>): void {
  const path = decisionsFile(home);
  const rows = Object.entries(values).map(([key, value]) => `${key} = ${tomlOf(value)}\n`);
  try {
    makeFolder(home);
    append(path, `\n[[${kind}]]\n${rows.join('')}`);
  } catch (cause) {
    throw new CrabError('storage-failed', `${path} cannot be written: ${messageOf(cause)}.`, { cause });
  }
}

/** One write at the end of the file, so that two processes do not mix; one that came to half is taken back. */
function append(path: string, addition: string): void {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW = 0 } = constants;
  const descriptor = openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    const bytes = Buffer.from(addition);
    const before = fstatSync(descriptor).size;
    if (writeSync(descriptor, bytes) < bytes.length) {
      ftruncateSync(descriptor, before);
      throw new Error('the disk is full');
    }
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** A JSON text is a basic string of TOML, but for one control that TOML wants escaped. */
function tomlOf(value: string | boolean): string {
  return typeof value === 'boolean' ? String(value) : JSON.stringify(value).replaceAll('\u007f', '\\u007f');
}
