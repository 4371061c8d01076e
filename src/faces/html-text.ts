// Text as HTML. Everything is escaped first and marked up afterwards, so that nothing that was said can become markup:
// the marks are found in text that holds no `<`, `>`, `&` or quote of its own.

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Control characters, which HTML forbids, but tab and newline; and those that turn the order of letters around. */
const CONTROLS = /[[\p{Cc}--[\t\n]]\u202a-\u202e\u2066-\u2069]/gv;

export function escapeHtml(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(CONTROLS, '\ufffd')
    .replace(/[&<>"']/g, (mark) => ESCAPES[mark] ?? '');
}

/** Text as it is, or as a diff where it reads like one. */
export function preformatted(text: string, language = ''): string {
  const isDiff = language === 'diff' || /^@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(text);
  return `<pre${isDiff ? ' class="diff"' : ''}><code>${isDiff ? diffLines(text) : escapeHtml(text)}</code></pre>`;
}

export function diffLines(text: string): string {
  return text
    .split('\n')
    .map((line) => {
      const kind = line.startsWith('@@')
        ? 'hunk'
        : /^(\+\+\+|---|diff |index )/.test(line)
          ? 'file'
          : line.startsWith('+')
            ? 'added'
            : line.startsWith('-')
              ? 'removed'
              : '';
      return kind === '' ? escapeHtml(line) : `<span class="${kind}">${escapeHtml(line)}</span>`;
    })
    .join('\n');
}

/** The parts of Markdown that models write: fences, headings, lists, quotes, tables as they stand, code, emphasis, links. */
export function markdownHtml(text: string): string {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  const html: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at);
    html.push(block);
    at = next;
  }
  return html.join('\n');
}

const FENCE = /^\s*(?<ticks>`{3,}|~{3,})\s*(?<language>[\w+-]*)/;
const HEADING = /^(?<marks>#{1,6})\s+(?<text>.*)$/;
const BULLET = /^\s*(?:[-*+]|(?<number>\d+)[.)])\s+(?<text>.*)$/;
const QUOTE = /^\s*>\s?(?<text>.*)$/;
const TABLE = /^\s*\|.*\|\s*$/;

/** The block that begins at a line, and the line behind it. */
function blockAt(lines: readonly string[], at: number): readonly [string, number] {
  const line = lines[at] ?? '';
  if (line.trim() === '') return ['', at + 1];
  const fence = FENCE.exec(line)?.groups;
  if (fence !== undefined) return fencedAt(lines, at, fence['ticks'] ?? '', fence['language'] ?? '');
  const heading = HEADING.exec(line)?.groups;
  if (heading !== undefined) {
    // The page has one heading of the first rank, and each speaker one of the second.
    const rank = Math.min(6, (heading['marks'] ?? '').length + 2);
    return [`<h${rank}>${inline(heading['text'] ?? '')}</h${rank}>`, at + 1];
  }
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return ['<hr>', at + 1];
  if (BULLET.test(line)) return listAt(lines, at);
  if (QUOTE.test(line)) {
    const [texts, next] = runOf(lines, at, (each) => QUOTE.exec(each)?.groups?.['text']);
    return [`<blockquote>${inline(texts.join('\n'))}</blockquote>`, next];
  }
  if (TABLE.test(line)) {
    const [rows, next] = runOf(lines, at, (each) => (TABLE.test(each) ? each : undefined));
    return [`<pre class="table">${escapeHtml(rows.join('\n'))}</pre>`, next];
  }
  const [texts, next] = runOf(lines, at, (each) => (isPlain(each) ? each : undefined));
  return [`<p>${inline(texts.join('\n'))}</p>`, next];
}

function isPlain(line: string): boolean {
  return line.trim() !== '' && ![FENCE, HEADING, BULLET, QUOTE, TABLE].some((form) => form.test(line));
}

/** The lines from `at` on that `take` takes, the first one in any case. */
function runOf(
  lines: readonly string[],
  at: number,
  take: (line: string) => string | undefined,
): readonly [readonly string[], number] {
  const taken = [take(lines[at] ?? '') ?? lines[at] ?? ''];
  for (let next = at + 1; ; next++) {
    const text = next < lines.length ? take(lines[next] ?? '') : undefined;
    if (text === undefined) return [taken, next];
    taken.push(text);
  }
}

function fencedAt(
  lines: readonly string[],
  at: number,
  ticks: string,
  language: string,
): readonly [string, number] {
  let end = at + 1;
  while (end < lines.length && !(lines[end] ?? '').trim().startsWith(ticks)) end++;
  return [preformatted(lines.slice(at + 1, end).join('\n'), language), end + 1];
}

function listAt(lines: readonly string[], at: number): readonly [string, number] {
  const isNumbered = BULLET.exec(lines[at] ?? '')?.groups?.['number'] !== undefined;
  const items: string[] = [];
  let next = at;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? '';
    const text = BULLET.exec(line)?.groups?.['text'];
    if (text !== undefined) items.push(text);
    else if (/^\s+\S/.test(line) && !FENCE.test(line)) items.push(`${items.pop() ?? ''}\n${line.trim()}`);
    else break;
  }
  const tag = isNumbered ? 'ol' : 'ul';
  return [`<${tag}>${items.map((item) => `<li>${inline(item)}</li>`).join('')}</${tag}>`, next];
}

/** Code first: nothing inside of it is a mark. */
function inline(text: string): string {
  return text
    .split(/(`+[^`]+`+)/)
    .map((part, at) =>
      at % 2 === 1 ? `<code>${escapeHtml(part.replace(/^`+|`+$/g, ''))}</code>` : marked(part),
    )
    .join('');
}

function marked(text: string): string {
  return escapeHtml(text)
    .replace(/\[([^\]\n]+)\]\((https?:\/\/[^\s()*]+)\)/g, '<a href="$2" rel="noopener noreferrer">$1</a>')
    .replace(/\*\*([^*\n]+)\*\*/g, '<strong>$1</strong>')
    .replace(/(^|[\s(])\*([^*\s][^*\n]*)\*(?=[\s).,;:!?]|$)/g, '$1<em>$2</em>');
}
