// A session as one page that needs nothing else: no script, no address outside, every text escaped, and a policy that
// would stop what got in all the same. Calls are folded, so that a long run reads like a conversation.

import {
  type AssistantContent,
  type InputContent,
  messageText,
  type ToolCallContent,
  type ToolResultMessage,
} from '../core/message.ts';
import type { ExportHead } from './export-head.ts';
import { HTML_STYLE } from './html-style.ts';
import { diffLines, escapeHtml, markdownHtml, preformatted } from './html-text.ts';
import type { TranscriptItem } from './transcript.ts';

const POLICY =
  "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export function* exportHtml(head: ExportHead, items: Iterable<TranscriptItem>): Generator<string> {
  const title = escapeHtml(head.title);
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${HTML_STYLE}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<dl>${head.facts.map(([name, value]) => `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`).join('')}</dl>
</header>
<main>
`;
  for (const item of items) yield `${itemHtml(item)}\n`;
  yield '</main>\n<footer>Exported from Crab.</footer>\n</body>\n</html>\n';
}

function itemHtml(item: TranscriptItem): string {
  switch (item.kind) {
    case 'user':
      return section('user', 'You', item.timestamp, contentHtml(item.content));
    case 'assistant': {
      const { content, model, errorMessage } = item.message;
      const blocks = content.map((block) => blockHtml(block, item.results));
      const error = errorMessage === undefined ? '' : `<p class="error">${escapeHtml(errorMessage)}</p>`;
      return section('assistant', model || 'Assistant', item.timestamp, blocks.join('') + error);
    }
    case 'shell': {
      const { command, output, exitCode } = item.record;
      const failed = exitCode === 0 ? '' : ` <span class="error">exit code ${exitCode ?? 'none'}</span>`;
      const body = folded(`<b>$ ${escapeHtml(command)}</b>${failed}`, preformatted(output));
      return section('shell', 'You, in the shell', item.timestamp, body);
    }
    case 'note':
      return section('note', item.from, item.timestamp, contentHtml(item.content));
    case 'compaction':
    case 'branch':
    case 'anchor': {
      const body = item.summary === '' ? '' : folded('What the model was told', markdownHtml(item.summary));
      return section('mark', item.title, item.timestamp, body);
    }
  }
}

function section(kind: string, speaker: string, timestamp: string, body: string): string {
  const time = escapeHtml(timestamp);
  const shown = escapeHtml(timestamp.slice(0, 16).replace('T', ' '));
  return `<section class="${kind}"><h2>${escapeHtml(speaker)}<time datetime="${time}">${shown}</time></h2>${body}</section>`;
}

function blockHtml(block: AssistantContent, results: ReadonlyMap<string, ToolResultMessage>): string {
  switch (block.type) {
    case 'text':
      return markdownHtml(block.text);
    case 'thinking':
      if (block.redacted === true || block.thinking.trim() === '') return '';
      return folded('Thinking', `<p class="text">${escapeHtml(block.thinking.trim())}</p>`);
    case 'toolCall':
      return callHtml(block, results.get(block.id));
  }
}

function callHtml(call: ToolCallContent, result: ToolResultMessage | undefined): string {
  const name = `<b>${escapeHtml(call.name)}</b> ${escapeHtml(gist(call.arguments))}`;
  const answer = result === undefined ? '<p class="error">Never answered.</p>' : resultHtml(result);
  const html = folded(name, inputHtml(call.arguments) + answer);
  return result?.isError === true ? html.replace('<details>', '<details class="failed">') : html;
}

const GIST_LENGTH = 120;

/** What tells this call from another: its first short text. */
function gist(input: ToolCallContent['arguments']): string {
  for (const value of Object.values(input))
    if (typeof value === 'string' && value.trim() !== '') return value.trim().slice(0, GIST_LENGTH);
  return '';
}

/** A pair of texts that one takes the other's place of is shown as the diff that it is, whatever the tool is called. */
function inputHtml(input: ToolCallContent['arguments']): string {
  const rest: Record<string, unknown> = { ...input };
  const diffs: string[] = [];
  for (const [before, after] of [
    ['old_string', 'new_string'],
    ['oldText', 'newText'],
  ] as const) {
    const from = rest[before];
    const to = rest[after];
    if (typeof from !== 'string' || typeof to !== 'string') continue;
    delete rest[before];
    delete rest[after];
    diffs.push(diffHtml(from, to));
  }
  const others = Object.entries(rest).map(([key, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
    return `${key}: ${text.includes('\n') ? `\n${text}` : text}`;
  });
  return (others.length === 0 ? '' : preformatted(others.join('\n'))) + diffs.join('');
}

function diffHtml(from: string, to: string): string {
  const marked = (text: string, mark: string) =>
    text === ''
      ? []
      : text
          .replace(/\n$/, '')
          .split('\n')
          .map((line) => `${mark}${line}`);
  // The blank keeps a line such as `-- name` from looking like the head of a file.
  const lines = [...marked(from, '- '), ...marked(to, '+ ')].join('\n');
  return `<pre class="diff"><code>${diffLines(lines)}</code></pre>`;
}

function resultHtml(result: ToolResultMessage): string {
  const text = messageText(result);
  const shown = result.content.filter((block) => block.type !== 'text');
  return (text === '' ? '' : preformatted(text)) + shown.map(inputBlock).join('');
}

function contentHtml(content: string | readonly InputContent[]): string {
  if (typeof content === 'string') return `<p class="text">${escapeHtml(content)}</p>`;
  return content.map(inputBlock).join('');
}

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

function inputBlock(block: InputContent): string {
  if (block.type === 'text') return `<p class="text">${escapeHtml(block.text)}</p>`;
  if (block.type === 'document') return `<p><i>Document ${escapeHtml(block.name ?? '')}</i></p>`;
  if (!IMAGES.has(block.mimeType) || !/^[A-Za-z0-9+/=]*$/.test(block.data))
    return `<p><i>An image of type ${escapeHtml(block.mimeType)}</i></p>`;
  return `<img alt="" src="data:${block.mimeType};base64,${block.data}">`;
}

/** `summary` is HTML. */
function folded(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>${body}</details>`;
}
