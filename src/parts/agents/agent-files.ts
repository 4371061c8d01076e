// Where definitions lie: in `agents/` of Crab's home, and in `.crab/agents/` of a project that the person trusts (law 11),
// whose agents stand before those of the home. A file that cannot be read is told of and costs nobody the others.

import { lstatSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { asCrabError, CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { replaceFile, writeFailure } from '../../disk/replace-file.ts';
import { type Definition, invalid, NAME_PATTERN, readDefinition } from './definition.ts';

const MAX_BYTES = 256 * 1024;
const MAX_FILES = 200;

export interface Found {
  /** By name, each once. */
  readonly definitions: readonly Definition[];
  /** Why files were left out, in sentences. */
  readonly faults: readonly string[];
}

/** `folders`: the first one that has a name wins. */
export async function readAgents(folders: readonly string[]): Promise<Found> {
  const definitions = new Map<string, Definition>();
  const faults: string[] = [];
  for (const folder of folders)
    for (const path of filesIn(folder, faults))
      try {
        const definition = await readDefinition(path, textOf(path));
        const { name } = definition.profile.agent;
        const known = definitions.get(name);
        if (known === undefined) definitions.set(name, definition);
        else if (known.path.startsWith(folder))
          faults.push(`${path} is passed over: ${known.path} has the same name.`);
      } catch (error) {
        faults.push(asCrabError(error).message);
      }
  return { definitions: [...definitions.values()], faults };
}

function filesIn(folder: string, faults: string[]): readonly string[] {
  let names: readonly string[];
  try {
    names = readdirSync(folder).filter((name) => /^[^.].*\.(?:toml|md)$/.test(name));
  } catch (error) {
    const code = errnoOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      faults.push(`${folder} cannot be read: ${messageOf(error)}.`);
    return [];
  }
  if (names.length > MAX_FILES)
    faults.push(`${folder} has ${names.length} agents; the first ${MAX_FILES} are read.`);
  return names
    .toSorted()
    .slice(0, MAX_FILES)
    .map((name) => join(folder, name));
}

/** Throws `CrabError` (`agent-invalid`). */
export function textOf(path: string): string {
  try {
    const info = statSync(path);
    if (!info.isFile()) throw invalid(path, 1, 'it is no regular file');
    if (info.size > MAX_BYTES) throw invalid(path, 1, `it has ${info.size} bytes; the limit is ${MAX_BYTES}`);
    if (process.platform !== 'win32' && (info.mode & 0o002) !== 0)
      throw invalid(path, 1, 'it may be written by everybody');
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof CrabError) throw error;
    throw invalid(path, 1, `it cannot be read: ${messageOf(error)}`);
  }
}

/**
 * The file of the agent of this name in a folder, whatever the file itself is called; else one that is called so and holds no
 * agent that counts. Undefined when there is none. Throws `CrabError` (`usage`) for no name at all.
 */
export async function fileOf(folder: string, name: string): Promise<string | undefined> {
  requireName(name);
  const { definitions } = await readAgents([folder]);
  const found = definitions.find(({ profile }) => profile.agent.name === name);
  if (found !== undefined) return found.path;
  return [`${name}.toml`, `${name}.md`]
    .map((file) => join(folder, file))
    .find((path) => isThere(path) && !definitions.some((other) => other.path === path));
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

export function requireName(name: string): void {
  if (NAME_PATTERN.test(name) && !name.includes('..')) return;
  throw new CrabError('usage', `${JSON.stringify(name)} is no name for an agent.`, {
    hint: 'Use 1 to 64 letters, digits, dots, lines and underscores.',
  });
}

/**
 * In one step, durable when it returns; makes the folder. `there`: the file that it takes the place of, which goes. Throws
 * `CrabError` (`usage`, `storage-failed`, `storage-full`).
 */
export function writeAgent(folder: string, file: string, text: string, there: string | undefined): string {
  const path = join(folder, file);
  if (path !== there && isThere(path))
    throw new CrabError('usage', `${path} is the file of another agent.`, {
      hint: 'Take another name, or give that file another one.',
    });
  try {
    replaceFile(path, text);
  } catch (cause) {
    throw writeFailure(path, cause);
  }
  if (there !== undefined && there !== path) removeAgent(there);
  return path;
}

export function removeAgent(path: string): void {
  try {
    rmSync(path);
  } catch (cause) {
    throw new CrabError('storage-failed', `${path} cannot be removed: ${messageOf(cause)}.`, { cause });
  }
}
