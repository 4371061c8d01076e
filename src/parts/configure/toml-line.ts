// One key at the top of a TOML file, changed as a line: a person's comments and order stay, which a file that is parsed and
// written anew would lose. The values that are written this way are strings, numbers and booleans, each on one line.

/** The value as it is written, without its comment; undefined when the key is not set at the top. */
export function topValue(source: string, key: string): string | undefined {
  const lines = source.split('\n');
  const line = lines[indexOfKey(lines, key)];
  if (line === undefined) return undefined;
  const value = line.slice(line.indexOf('=') + 1).trim();
  return /^("(?:[^"\\]|\\.)*"|'[^']*'|[^#]*)/.exec(value)?.[0].trim();
}

/** `value` is TOML; undefined takes the line away. */
export function withTopValue(source: string, key: string, value: string | undefined): string {
  const lines = source === '' ? [] : source.split('\n');
  const at = indexOfKey(lines, key);
  if (value === undefined) return at === -1 ? source : lines.toSpliced(at, 1).join('\n');
  const line = `${key} = ${value}`;
  if (at !== -1) return lines.with(at, line).join('\n');
  const end = endOfTop(lines);
  // Behind the last line that says something, and apart from the table that follows.
  let last = end;
  while (last > 0 && lines[last - 1]?.trim() === '') last--;
  const isLast = lines.slice(last).every((each) => each.trim() === '');
  const rest = isLast ? [''] : ['', ...lines.slice(end)];
  return [...lines.slice(0, last), line, ...rest].join('\n');
}

function indexOfKey(lines: readonly string[], key: string): number {
  const wanted = new RegExp(`^\\s*(?:${key}|"${key}"|'${key}')\\s*=`);
  return lines.slice(0, endOfTop(lines)).findIndex((line) => wanted.test(line));
}

/** Where the first table begins. A header inside a text of several lines ends the search early, which only adds a line above it. */
function endOfTop(lines: readonly string[]): number {
  const at = lines.findIndex((line) => /^\s*\[/.test(line) && !/^\s*\[\s*$/.test(line));
  return at === -1 ? lines.length : at;
}
