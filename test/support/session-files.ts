// The sessions of a home as they lie on disk, read line by line and without Crab's own loader: a line that is damaged
// or hangs from nothing fails the test that looks.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Entry, TapeHeader } from '../../src/core/tape.ts';
import { decodeLine } from '../../src/parts/tape/line.ts';
import { type Spoken, spokenIn } from './spoken.ts';

export interface SessionFile {
  readonly path: string;
  readonly header: TapeHeader;
  readonly entries: readonly Entry[];
  /** The messages among the entries. */
  readonly spoken: readonly Spoken[];
}

/** `home` is `$HOME`. The oldest session first. */
export async function sessionFiles(home: string): Promise<readonly SessionFile[]> {
  const paths = (await filesBelow(join(home, '.crab/sessions'))).filter((path) => path.endsWith('.jsonl'));
  const sessions = await Promise.all(paths.map(readSession));
  return sessions.sort((a, b) => (a.header.id < b.header.id ? -1 : 1));
}

/** Absolute paths of all files, sorted; none where there is no folder. */
export async function filesBelow(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

export async function readSession(path: string): Promise<SessionFile> {
  const text = await readFile(path, 'utf8');
  assert.ok(text.endsWith('\n'), `${path} ends in the middle of a line`);
  const [header, ...entries] = text
    .slice(0, -1)
    .split('\n')
    .map((line, at) => decodeLine(Buffer.from(line)) ?? assert.fail(`line ${at + 1} of ${path} is damaged`));
  assert.equal(header?.['type'], 'session');
  const known = new Set<unknown>([null]);
  for (const { id, parentId } of entries) {
    assert.ok(known.has(parentId), `${path}: entry ${id} hangs from ${parentId}, which is not there`);
    known.add(id);
  }
  const tape = entries as unknown as readonly Entry[];
  return {
    path,
    header: header as unknown as TapeHeader,
    entries: tape,
    spoken: tape.flatMap((entry) => (entry.type === 'message' ? [spokenIn(entry.message)] : [])),
  };
}
