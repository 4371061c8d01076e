// One JSON value as one line. U+2028 and U+2029 are legal in JSON, yet line readers (that of Node among
// them) end a line there, so they are written as escapes.

export function jsonLine(value: unknown): string {
  const text = JSON.stringify(value);
  if (!text.includes('\u2028') && !text.includes('\u2029')) return `${text}\n`;
  return `${text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}\n`;
}
