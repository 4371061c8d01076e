// A session as Markdown, for people: what was said as it was said, calls and their results folded into code.

import {
  type InputContent,
  messageText,
  type ToolCallContent,
  type ToolResultMessage,
} from '../core/message.ts';
import type { ExportHead } from './export-head.ts';
import type { TranscriptItem } from './transcript.ts';

export function* exportMarkdown(head: ExportHead, items: Iterable<TranscriptItem>): Generator<string> {
  yield `# ${line(head.title)}\n\n`;
  for (const [name, value] of head.facts) yield `- ${name}: ${line(value)}\n`;
  for (const item of items) yield `\n${itemText(item).trimEnd()}\n`;
}

function itemText(item: TranscriptItem): string {
  switch (item.kind) {
    case 'user':
      return `## User\n\n${contentText(item.content)}`;
    case 'assistant':
      return `## Assistant\n\n${item.message.content
        .map((block) => {
          if (block.type === 'text') return block.text;
          if (block.type === 'thinking') return quote(block.redacted === true ? '(hidden)' : block.thinking);
          return callText(block, item.results.get(block.id));
        })
        .filter((text) => text.trim() !== '')
        .join('\n\n')}${item.message.errorMessage === undefined ? '' : `\n\n*${item.message.errorMessage}*`}`;
    case 'shell': {
      const { command, output, exitCode } = item.record;
      return `## Command\n\n${fenced(`$ ${command}\n${output}`, 'console')}\n\nExit code: ${exitCode ?? 'none'}`;
    }
    case 'note':
      return `## ${line(item.from)}\n\n${contentText(item.content)}`;
    case 'compaction':
    case 'branch':
    case 'anchor':
      return `---\n\n**${line(item.title)}**\n\n${quote(item.summary)}`;
  }
}

function callText(
  { name, arguments: input }: ToolCallContent,
  result: ToolResultMessage | undefined,
): string {
  const asked = `**${name}**\n\n${fenced(JSON.stringify(input, null, 2), 'json')}`;
  if (result === undefined) return `${asked}\n\n*Never answered.*`;
  const how = result.isError ? '*Failed:*\n\n' : '';
  const shown = contentText(result.content.filter((block) => block.type !== 'text'));
  return `${asked}\n\n${how}${fenced(messageText(result), '')}${shown === '' ? '' : `\n\n${shown}`}`;
}

function contentText(content: string | readonly InputContent[]): string {
  if (typeof content === 'string') return content;
  return content
    .map((block) => {
      if (block.type === 'text') return block.text;
      if (block.type === 'image') return `![image](data:${block.mimeType};base64,${block.data})`;
      return `*(document ${line(block.name ?? '')})*`;
    })
    .join('\n\n');
}

/** A fence that nothing in the text can end. */
function fenced(text: string, language: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(Math.max(3, longest + 1));
  return `${fence}${language}\n${text.replace(/\n?$/, '\n')}${fence}`;
}

function quote(text: string): string {
  return text.trim() === '' ? '' : text.trim().replace(/^/gm, '> ');
}

function line(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
