// A TOML file (toml.io, version 1.0) as a table. The parser is loaded when there is a file to parse; most people have
// none. What the file makes Crab do includes running commands, so one that others may write is refused.

import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { Layer } from './merge.ts';

const MAX_BYTES = 1024 * 1024;

/** Undefined when the file is not there and need not be. Throws `CrabError` (`settings-invalid`). */
export async function readTable(
  path: string,
  { required }: { readonly required: boolean },
): Promise<Layer | undefined> {
  const read = readText(path, required);
  if (read === undefined) return undefined;
  return { ...read, path, table: await parseTable(path, read.text), prefix: [] };
}

/** `path` is for the error. Throws `CrabError` (`settings-invalid`). */
export async function parseTable(path: string, text: string): Promise<Layer['table']> {
  const { parse, TomlError } = await import('smol-toml');
  try {
    return parse(text) as Layer['table'];
  } catch (thrown) {
    const where = thrown instanceof TomlError ? `${path}:${thrown.line}:${thrown.column}` : path;
    const [what] = messageOf(thrown)
      .replace(/^Invalid TOML document: /, '')
      .split('\n');
    throw invalid(`${where}: ${what}.`);
  }
}

function readText(path: string, required: boolean): Pick<Layer, 'text' | 'openToOthers'> | undefined {
  let descriptor: number;
  try {
    // A pipe without a writer would keep an ordinary open waiting.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    const missing = errnoOf(cause) === 'ENOENT' || errnoOf(cause) === 'ENOTDIR';
    if (missing && !required) return undefined;
    throw invalid(missing ? `${path} is not there.` : `${path} cannot be read: ${messageOf(cause)}.`);
  }
  try {
    const info = fstatSync(descriptor);
    if (!info.isFile()) throw invalid(`${path} is no regular file.`);
    if (info.size > MAX_BYTES) throw invalid(`${path} has ${info.size} bytes; the limit is ${MAX_BYTES}.`);
    if (process.platform !== 'win32' && (info.mode & 0o002) !== 0)
      throw invalid(`${path} may be written by everybody.`, WRITABLE_HINT);
    return { text: decoded(path, readFileSync(descriptor)), openToOthers: (info.mode & 0o044) !== 0 };
  } finally {
    closeSync(descriptor);
  }
}

const WRITABLE_HINT = 'Run `chmod go-w` on it: what it says can start programs.';

function decoded(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new CrabError('settings-invalid', `${path} is not UTF-8.`, { cause });
  }
}

function invalid(message: string, hint?: string): CrabError {
  return new CrabError('settings-invalid', message, hint === undefined ? {} : { hint });
}
