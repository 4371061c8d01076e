// What the tools of this room take, as both their schemas and what runs them must know it.

import type { Display } from '../../core/display.ts';
import type { JsonObject } from '../../core/schema.ts';

export const FORMATS = ['markdown', 'text', 'html'] as const;

/** Characters of a page that are shown at once unless the model asks for another number. */
export const DEFAULT_LENGTH = 20_000;

/** Results of a search. */
export const DEFAULT_COUNT = 10;
export const MAX_COUNT = 20;

/** @param result what came of it, in a line */
export function shownPage(input: JsonObject, result: string): Display {
  const title = String(input['url']);
  return { kind: 'matches', title, count: 0, truncated: false, lines: result === '' ? [] : [result] };
}
