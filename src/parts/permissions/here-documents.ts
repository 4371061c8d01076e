// The grammar cannot read two here-documents that begin on one line. Where they are plain text, they are written as
// here-strings, which mean the same; a line with quotes or expansions of its own is left as it is.

const OPERATOR = /<<(-?)[ \t]*(?:'([\w.]+)'|"([\w.]+)"|([\w.]+))(?=[\s;|&<>]|$)/g;

/** Undefined when it cannot be done, or there is nothing to do. */
export function withHereStrings(text: string): string | undefined {
  const lines = text.split('\n');
  const written: string[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    at += 1;
    const operators = [...line.matchAll(OPERATOR)];
    if (!line.includes('<<')) {
      // What begins on one line and ends on another is not followed.
      if (/[\\`'"]/.test(line)) return undefined;
      written.push(line);
      continue;
    }
    const rest = line.replace(OPERATOR, '');
    if (operators.length === 0 || /<<|[\\`#'"$(){}]/.test(rest)) return undefined;
    const bodies: string[] = [];
    for (const [, tabs = '', single, double, bare] of operators) {
      const name = single ?? double ?? bare ?? '';
      const from = at;
      const own = (each: string) => (tabs === '-' ? each.replace(/^\t+/, '') : each);
      while (at < lines.length && own(lines[at] ?? '') !== name) at += 1;
      if (at >= lines.length) return undefined;
      const body = lines.slice(from, at).map(own).join('\n');
      at += 1;
      if (bare !== undefined && /[$`\\]/.test(body)) return undefined;
      bodies.push(body);
    }
    written.push(line.replace(OPERATOR, () => `<<< '${(bodies.shift() ?? '').replaceAll("'", "'\\''")}'`));
  }
  return written.length === lines.length ? undefined : written.join('\n');
}
