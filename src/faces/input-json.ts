// The lines of `--input-format stream-json`: `{"type":"user","message":{"role":"user","content":…}}`, with
// content as text or as blocks of text and base64 images. A line that is something else is refused by the
// number of its line and the path of its field: a program wrote it, and its author needs both.

import { CrabError } from '../core/errors.ts';
import { MAX_PROMPT_BYTES } from '../core/limits.ts';
import type { DocumentContent, ImageContent } from '../core/message.ts';
import type { Prompt } from '../core/platform.ts';

/** Undefined for an empty line. `number` counts lines from 1. Throws `CrabError` (`input-malformed`, `input-empty`). */
export function parsePrompt(line: string, number: number): Prompt | undefined {
  if (line.trim() === '') return undefined;
  const refuse = (field: string, expected: string): never => {
    throw new CrabError('input-malformed', `Line ${number} of the input: ${field} must be ${expected}.`);
  };
  const root = record(parseJson(line, number)) ?? refuse('the line', 'a JSON object');
  if (root['type'] !== 'user') refuse('`type`', '"user"');
  const message = record(root['message']) ?? refuse('`message`', 'an object');
  if (message['role'] !== 'user') refuse('`message.role`', '"user"');
  const prompt = readContent(message['content'], refuse);
  if (prompt.text.trim() === '' && (prompt.attachments ?? []).length === 0) {
    throw new CrabError('input-empty', `Line ${number} of the input: \`message.content\` is empty.`);
  }
  return prompt;
}

/** Splits text that arrives in pieces into lines and yields their prompts. Text that is not UTF-8 is refused. */
export async function* readPrompts(source: AsyncIterable<string | Uint8Array>): AsyncIterable<Prompt> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  let rest = '';
  for await (const piece of source) {
    // Only what is new is searched: a long line that comes in small pieces costs its length, not the square of it.
    const text = decode(decoder, piece, number + 1);
    let from = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
      const prompt = parsePrompt(rest + text.slice(from, end), ++number);
      rest = '';
      from = end + 1;
      if (prompt) yield prompt;
    }
    rest += text.slice(from);
    if (rest.length > MAX_LINE) {
      const limit = `${MAX_LINE / 1024 / 1024} MiB`;
      throw new CrabError('input-too-large', `Line ${number + 1} of the input is longer than ${limit}.`);
    }
  }
  const last = parsePrompt(rest + decode(decoder, undefined, number + 1), number + 1);
  if (last) yield last;
}

/** Room for a prompt of the greatest size with its images and escapes. */
const MAX_LINE = 4 * MAX_PROMPT_BYTES;

type Refuse = (field: string, expected: string) => never;

function readContent(content: unknown, refuse: Refuse): Prompt {
  if (typeof content === 'string') return { text: content };
  if (!Array.isArray(content)) return refuse('`message.content`', 'a string or a list of blocks');
  const texts: string[] = [];
  const attachments: (ImageContent | DocumentContent)[] = [];
  for (const [at, value] of content.entries()) {
    const field = `message.content[${at}]`;
    const block = record(value) ?? refuse(`\`${field}\``, 'an object');
    if (block['type'] === 'text') {
      texts.push(text(block['text']) ?? refuse(`\`${field}.text\``, 'a string'));
    } else if (block['type'] === 'image') {
      attachments.push(readImage(block['source'], field, refuse));
    } else if (block['type'] === 'document') {
      attachments.push(readDocument(block, field, refuse));
    } else {
      refuse(`\`${field}.type\``, '"text", "image" or "document"');
    }
  }
  return { text: texts.join('\n'), ...(attachments.length > 0 && { attachments }) };
}

function readImage(value: unknown, field: string, refuse: Refuse): ImageContent {
  return { type: 'image', ...readSource(value, field, refuse) };
}

function readDocument(
  block: Readonly<Record<string, unknown>>,
  field: string,
  refuse: Refuse,
): DocumentContent {
  const { data, mimeType } = readSource(block['source'], field, refuse);
  if (mimeType !== 'application/pdf') return refuse(`\`${field}.source.media_type\``, '"application/pdf"');
  const name = text(block['title']);
  return { type: 'document', data, mimeType, ...(name !== undefined && { name }) };
}

function readSource(value: unknown, field: string, refuse: Refuse): Pick<ImageContent, 'data' | 'mimeType'> {
  const source = record(value) ?? refuse(`\`${field}.source\``, 'an object');
  if (source['type'] !== 'base64') refuse(`\`${field}.source.type\``, '"base64"');
  return {
    data: text(source['data']) ?? refuse(`\`${field}.source.data\``, 'a string'),
    mimeType: text(source['media_type']) ?? refuse(`\`${field}.source.media_type\``, 'a string'),
  };
}

function decode(
  decoder: InstanceType<typeof TextDecoder>,
  piece: string | Uint8Array | undefined,
  number: number,
): string {
  if (typeof piece === 'string') return piece;
  try {
    return piece === undefined ? decoder.decode() : decoder.decode(piece, { stream: true });
  } catch (cause) {
    throw new CrabError('input-not-text', `Line ${number} of the input is not UTF-8.`, { cause });
  }
}

function parseJson(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CrabError('input-malformed', `Line ${number} of the input is not JSON: ${why}.`, { cause });
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Readonly<Record<string, unknown>>) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
