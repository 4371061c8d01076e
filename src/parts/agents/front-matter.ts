// The head of a Markdown file, between two lines of three dashes, as other agents' tools write it. What they write is not
// always valid YAML (a description with a colon in it is common), and their readers take a line for what it looks like: so
// does this one. It knows what such heads are made of: texts, lists, numbers, switches, and tables one level deep.

export interface Head {
  readonly values: ReadonlyMap<string, HeadValue>;
  /** What stands below the head. */
  readonly body: string;
}

export type Plain = string | readonly string[] | Readonly<Record<string, string>>;

export interface HeadValue {
  readonly value: Plain;
  /** From 1. */
  readonly line: number;
}

/** What is wrong with a head, and where. */
export class HeadFault extends Error {
  readonly line: number;

  constructor(message: string, line: number) {
    super(message);
    this.line = line;
  }
}

/** Throws `HeadFault`. */
export function readHead(text: string): Head {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/);
  if (lines[0]?.trimEnd() !== '---') throw new HeadFault('the file does not begin with a line of ---', 1);
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === '---');
  if (end < 0) throw new HeadFault('the head has no end: a second line of --- is missing', 1);
  const values = new Map<string, HeadValue>();
  for (let at = 1; at < end; ) {
    const line = lines[at] ?? '';
    if (line.trim() === '' || line.startsWith('#')) {
      at++;
      continue;
    }
    const [, key, rest = ''] = /^([\w-]+)\s*:(?:\s+(.*))?$/.exec(line) ?? [];
    if (key === undefined) throw new HeadFault(`${JSON.stringify(line)} is no \`key: value\``, at + 1);
    if (values.has(key)) throw new HeadFault(`${key} stands there twice`, at + 1);
    const first = at + 1;
    let next = first;
    while (next < end && /^(?:\s+\S|\s*$|-\s|\]\s*$)/.test(lines[next] ?? '')) next++;
    values.set(key, { value: plainOf(rest.trim(), lines.slice(first, next)), line: first });
    at = next;
  }
  return {
    values,
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  };
}

/** Without a key whose value is on its line. Throws `HeadFault`. */
export function withoutKey(text: string, key: string): string {
  const line = readHead(text).values.get(key)?.line;
  return line === undefined
    ? text
    : text
        .split('\n')
        .toSpliced(line - 1, 1)
        .join('\n');
}

function plainOf(rest: string, below: readonly string[]): Plain {
  const lines = below.filter((line) => line.trim() !== '');
  if (/^[|>][+-]?$/.test(rest)) return blockOf(rest.startsWith('|') ? '\n' : ' ', below);
  if (rest === '' && lines.length > 0) return nested(lines);
  const whole = [rest, ...lines.map((line) => line.trim())].join(' ');
  if (/^\[.*\]$/s.test(whole)) return splitList(whole.slice(1, -1));
  return unquoted(whole);
}

function blockOf(joint: string, lines: readonly string[]): string {
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines
    .map((line) => line.slice(indent))
    .join(joint)
    .trim();
}

/** A list or a table. What is nested deeper stays text, with the value that it belongs to. */
function nested(lines: readonly string[]): Plain {
  const indent = Math.min(...lines.map((line) => line.search(/\S/)));
  const rows: string[] = [];
  for (const line of lines) {
    const text = line.slice(indent);
    const before = rows.at(-1);
    if (before !== undefined && /^\s/.test(text)) rows[rows.length - 1] = `${before}\n${text}`;
    else rows.push(text.trimEnd());
  }
  const items = rows.map((row) => /^-\s+(.*)$/s.exec(row)?.[1]);
  if (items.every((item) => item !== undefined)) return items.map(unquoted);
  return Object.fromEntries(
    rows.map((row) => {
      const [, key = row, value = ''] = /^((?:"[^"]*"|'[^']*'|[^:])+?)\s*:(?:\s+(.*))?$/s.exec(row) ?? [];
      return [unquoted(key), unquoted(value)];
    }),
  );
}

function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => unquoted(item.trim()))
    .filter((item) => item !== '');
}

function unquoted(text: string): string {
  if (/^'.*'$/s.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (!/^".*"$/s.test(text)) return text.replace(/\s+#.*$/, '');
  try {
    return String(JSON.parse(text));
  } catch {
    return text.slice(1, -1);
  }
}
