// Where the parts of a JSON text stand, so that one of them can be replaced and every other byte stays: numbers that
// JavaScript cannot hold, the order of keys and the indentation among them. The text must be valid JSON.

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The values of an object by their keys; of a key that is there twice the last, as JSON.parse has it. */
export function memberSpans(text: string, start: number): ReadonlyMap<string, Span> {
  const members = new Map<string, Span>();
  for (let at = skipBlank(text, start + 1); text[at] !== '}'; at = skipComma(text, at)) {
    const keyEnd = valueEnd(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const from = skipBlank(text, skipBlank(text, keyEnd) + 1);
    at = valueEnd(text, from);
    members.set(key, { start: from, end: at });
  }
  return members;
}

export function elementSpans(text: string, start: number): readonly Span[] {
  const elements: Span[] = [];
  for (let at = skipBlank(text, start + 1); text[at] !== ']'; at = skipComma(text, at)) {
    const end = valueEnd(text, at);
    elements.push({ start: at, end });
    at = end;
  }
  return elements;
}

export function skipBlank(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return at;
}

function skipComma(text: string, from: number): number {
  const at = skipBlank(text, from);
  return text[at] === ',' ? skipBlank(text, at + 1) : at;
}

function valueEnd(text: string, start: number): number {
  if (text[start] === '"') return stringEnd(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') at = stringEnd(text, at) - 1;
    else if (letter === '{' || letter === '[') depth++;
    else if (letter === '}' || letter === ']') {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    } else if (depth === 0 && (letter === ',' || skipBlank(text, at) > at)) return at;
  }
  return text.length;
}

/** Behind the string that begins here; the end of the text where it has none. */
export function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}
