// The paths and argument names that models write, made into ours. A path is made absolute by its letters alone:
// where links lead is for the host to say.

import { isAbsolute, relative, resolve, sep } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { CallPlan } from '../../core/tool.ts';
import { markUnseen } from './unseen.ts';

/** Names that other agents' tools have for our arguments. */
const PATH_NAMES = { file_path: 'path', filePath: 'path', filepath: 'path', filename: 'path', file: 'path' };

const FOLDER_NAMES = { directory: 'path', dir: 'path', folder: 'path', root: 'path', dir_path: 'path' };

/** A larger file is not searched: it would take longer than anybody waits. */
export const MAX_SEARCHED_GB = 4;

/** Of every file system that is common; a longer name could not be opened, so nobody is asked about it. */
const MAX_NAME_BYTES = 255;

/** The input with other agents' argument names replaced by ours; a name of ours that is there wins. */
export function renamed(input: JsonObject, names: Readonly<Record<string, string>>): JsonObject {
  if (!Object.keys(input).some((key) => Object.hasOwn(names, key))) return input;
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(input)) {
    const name = Object.hasOwn(names, key) ? names[key] : undefined;
    if (name === undefined) result[key] = value;
    else if (!Object.hasOwn(input, name)) result[name] = value;
  }
  return result;
}

export function renamedFile(input: JsonObject, names: Readonly<Record<string, string>> = {}): JsonObject {
  return renamed(input, { ...PATH_NAMES, ...names });
}

export function renamedFolder(input: JsonObject, names: Readonly<Record<string, string>> = {}): JsonObject {
  return renamed(input, { ...PATH_NAMES, ...FOLDER_NAMES, ...names });
}

/** The absolute path of a file that a call names. */
export function filePath(input: JsonObject, cwd: string): string {
  const { path } = input;
  if (typeof path !== 'string' || path === '') throw new ToolFailure('Give the path of a file.');
  return absolutePath(path, cwd);
}

/** The absolute path of a file or folder to look in; the working directory when none is named. */
export function searchPath(input: JsonObject, cwd: string): string {
  const { path } = input;
  return typeof path === 'string' && path !== '' ? absolutePath(path, cwd) : cwd;
}

export function absolutePath(path: string, cwd: string): string {
  if (path.startsWith('~'))
    throw new ToolFailure(
      `${path} begins with ~, which only a shell expands: give an absolute path, or ./${path} for such a name.`,
    );
  if (path.includes('\0') || !path.isWellFormed())
    throw new ToolFailure(`${JSON.stringify(path)}: a path cannot hold a NUL byte or half a character.`);
  const absolute = resolve(cwd, path);
  if (absolute.split(sep).some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES))
    throw new ToolFailure(`${path.slice(0, 100)}…: a name in a path has at most ${MAX_NAME_BYTES} bytes.`);
  return absolute;
}

/** A path as the model is shown it: relative when it is inside `cwd`, with control characters escaped. */
export function shownPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  const short =
    inside === ''
      ? '.'
      : inside === '..' || inside.startsWith(`..${sep}`) || isAbsolute(inside)
        ? path
        : inside;
  return printable(short);
}

/** A name on one line, whatever characters it holds. */
export function printable(name: string): string {
  return markUnseen(name.includes('\n') || name.includes('\t') ? name.replace(/[\n\t]/g, escaped) : name);
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : '\\t';
}

export function readPlan(path: string): CallPlan {
  return { access: { kind: 'read', paths: [path] }, parallel: true, repeatable: true };
}

export function writePlan(path: string): CallPlan {
  return { access: { kind: 'write', paths: [path] }, parallel: false, repeatable: false };
}

export function textArgument(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}

/** A whole number of at least `least` and at most `most`; `otherwise` when it was not given. */
export function countArgument(
  input: JsonObject,
  key: string,
  range: { readonly least: number; readonly most: number; readonly otherwise: number },
): number {
  const value = input[key];
  if (typeof value !== 'number') return range.otherwise;
  return Math.min(range.most, Math.max(range.least, Math.trunc(value)));
}
