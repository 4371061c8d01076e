// Keeps what is on disk within the quota. Contents that no session names go first: they were kept for commands that
// changed nothing. Then go those that only old sessions name. A workspace that another process uses is left alone.

import { closeSync, openSync, readdirSync, readFileSync, renameSync, statSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import { bytesOf, openContentStore, packsIn } from './content-store.ts';
import { readChunks } from './pack.ts';
import { FILES, REWIND } from './record.ts';
import { type HistoryOptions, historyFolder } from './workspace.ts';

/** Of the quota, what may stay: so that not every run has to tidy up. */
const SHARE = 0.8;
const HASH = /"hash":"([0-9a-f]{64})"/g;

export interface Collected {
  readonly before: number;
  readonly after: number;
}

/** Bytes on disk, of all workspaces. */
export function totalBytes(home: string): number {
  return workspaces(home).reduce((sum, folder) => sum + bytesOf(packsIn(join(folder, 'packs'))), 0);
}

/** Does nothing below the quota, unless `always`: then it drops what no session names. */
export async function collect(
  options: HistoryOptions,
  { always = false }: { readonly always?: boolean } = {},
): Promise<Collected> {
  const before = totalBytes(options.home);
  if (!always && before <= options.quotaBytes) return { before, after: before };
  const folders: string[] = [];
  for (const folder of workspaces(options.home)) if (!(await isInUse(folder, options))) folders.push(folder);
  const kept = worthKeeping(folders, sessionsByAge(options.home), options.quotaBytes * SHARE);
  for (const folder of folders) await sweep(folder, kept, options);
  return { before, after: totalBytes(options.home) };
}

function workspaces(home: string): readonly string[] {
  return namesIn(historyFolder(home)).map((name) => join(historyFolder(home), name));
}

async function isInUse(folder: string, { isLocked }: HistoryOptions): Promise<boolean> {
  for (const name of namesIn(join(folder, 'leases'))) {
    if (!name.endsWith('.lock')) continue;
    const path = join(folder, 'leases', name.slice(0, -'.lock'.length));
    if (await isLocked(path)) return true;
    unlinkSync(`${path}.lock`);
  }
  // A rewind under way needs what it was begun with.
  return namesIn(join(folder, 'journal')).length > 0;
}

/** The newest sessions first, until their contents fill what there is room for. */
function worthKeeping(
  folders: readonly string[],
  sessions: readonly string[],
  room: number,
): ReadonlySet<string> {
  const sizes = new Map<string, number>();
  for (const folder of folders)
    for (const pack of packsIn(join(folder, 'packs')))
      for (const { rows, stored, raw } of chunksOf(pack))
        for (const { hash, length } of rows) sizes.set(hash, (length * stored) / Math.max(1, raw));
  const kept = new Set<string>();
  let bytes = 0;
  for (const path of sessions) {
    const named = hashesIn(path).filter((hash) => !kept.has(hash) && sizes.has(hash));
    bytes += named.reduce((sum, hash) => sum + (sizes.get(hash) ?? 0), 0);
    if (bytes > room) break;
    for (const hash of named) kept.add(hash);
  }
  return kept;
}

async function sweep(folder: string, kept: ReadonlySet<string>, { newId }: HistoryOptions): Promise<void> {
  const packs = join(folder, 'packs');
  const old = packsIn(packs).filter((pack) =>
    chunksOf(pack).some(({ rows }) => rows.some(({ hash }) => !kept.has(hash))),
  );
  if (old.length === 0) return;
  const source = openContentStore(packs, newId);
  const fresh = openContentStore(join(folder, 'sweep'), newId);
  try {
    const hashes = new Set(
      old.flatMap((pack) => chunksOf(pack).flatMap(({ rows }) => rows)).map(({ hash }) => hash),
    );
    for (const hash of hashes) {
      const bytes = kept.has(hash) ? source.get(hash) : undefined;
      if (bytes !== undefined) fresh.put(bytes);
    }
    await fresh.sync();
  } finally {
    source.close();
    fresh.close();
  }
  for (const pack of packsIn(join(folder, 'sweep')))
    renameSync(pack, join(packs, pack.slice(join(folder, 'sweep').length + 1)));
  for (const pack of old) unlinkSync(pack);
}

function chunksOf(pack: string) {
  const fd = openSync(pack, 'r');
  try {
    return readChunks(fd);
  } finally {
    closeSync(fd);
  }
}

/** The text of a line is enough: what looks like a hash and is none is found in no pack. */
function hashesIn(session: string): readonly string[] {
  const hashes: string[] = [];
  for (const line of readFileSync(session, 'utf8').split('\n')) {
    if (!line.includes(`"${FILES}"`) && !line.includes(`"${REWIND}"`)) continue;
    for (const [, hash = ''] of line.matchAll(HASH)) hashes.push(hash);
  }
  return hashes;
}

/** The session files of the home, the last written first. */
function sessionsByAge(home: string): readonly string[] {
  return filesBelow(join(home, 'sessions'))
    .filter((path) => path.endsWith('.jsonl'))
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path);
}

/** Links are not followed, as Node's own recursive listing by names does. */
function filesBelow(folder: string): readonly string[] {
  if (namesIn(folder).length === 0) return [];
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(path);
    return entry.isFile() ? [path] : [];
  });
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}
