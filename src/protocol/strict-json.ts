// JSON as it is taken from a stranger: what two readers could understand in two ways is refused. After RFC 7493 (I-JSON),
// with a bound on depth, and without the one name that reaches behind an object in JavaScript.

import { RequestFailure } from './failure.ts';
import { MAX_FRAME } from './frames.ts';

export const MAX_DEPTH = 64;

/** Throws `RequestFailure` 400, or 413, that names the place. `what` is what the text is meant to be. */
export function strictJson(text: string, what: string): unknown {
  if (text.length > MAX_FRAME)
    throw new RequestFailure(413, `${what} has ${text.length} characters, more than ${MAX_FRAME}.`);
  // Before anything is built of it: a text of brackets alone would fill the memory.
  const fault = faultIn(text);
  if (fault !== undefined) throw new RequestFailure(400, `${what}${fault.at} ${fault.text}.`);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RequestFailure(400, `${what} is not JSON: ${error instanceof Error ? error.message : error}.`);
  }
}

interface Level {
  /** The names so far; absent in an array. */
  readonly names: Set<string> | undefined;
  /** The name, or the place, of what comes next. */
  key: string | number;
}

/** Only what `JSON.parse` takes: it finds every other fault itself. */
function faultIn(text: string): { readonly at: string; readonly text: string } | undefined {
  const levels: Level[] = [];
  const fault = (why: string) => ({ at: placeOf(levels), text: why });
  let isName = false;
  for (let at = 0; at < text.length; at++) {
    const level = levels.at(-1);
    switch (text[at]) {
      case '{':
      case '[': {
        if (levels.length === MAX_DEPTH) return fault(`is deeper than ${MAX_DEPTH} levels`);
        const isObject = text[at] === '{';
        levels.push({ names: isObject ? new Set() : undefined, key: isObject ? '' : 0 });
        isName = isObject;
        break;
      }
      case '}':
      case ']':
        levels.pop();
        isName = false;
        break;
      case ',':
        isName = level?.names !== undefined;
        if (typeof level?.key === 'number') level.key++;
        break;
      case '"': {
        const end = endOfString(text, at);
        const string = stringAt(text, at, end);
        at = end;
        if (level !== undefined && isName) level.key = string;
        if (!string.isWellFormed()) return fault('has half of a surrogate pair');
        if (level?.names === undefined || !isName) break;
        if (string === '__proto__') return fault('is a name that is not taken');
        if (level.names.has(string)) return fault('stands there twice');
        level.names.add(string);
        isName = false;
        break;
      }
    }
  }
  return undefined;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; ; at++) {
    at = text.indexOf('"', at);
    if (at < 0) return text.length;
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes++;
    if (slashes % 2 === 0) return at;
  }
}

function stringAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end);
  if (!raw.includes('\\')) return raw;
  try {
    return JSON.parse(`"${raw}"`) as string;
  } catch {
    return '';
  }
}

function placeOf(levels: readonly Level[]): string {
  return levels.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${key.slice(0, 60)}`)).join('');
}
