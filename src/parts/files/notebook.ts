// A Jupyter notebook as cells with their outputs, instead of the JSON that holds them (nbformat 4,
// nbformat.readthedocs.io/en/latest/format_description.html). Sources and outputs may be strings or lists of lines.

import { ToolFailure } from '../../core/errors.ts';
import { MAX_RESULT_BYTES } from '../../core/limits.ts';
import type { ImageContent, InputContent } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { ToolOutput } from '../../core/tool.ts';
import { imageSize } from './image-size.ts';
import { stringEnd } from './json-spans.ts';
import { cutText } from './line-window.ts';
import { markUnseen } from './unseen.ts';

/** Characters of the text of one output that are shown. */
const MAX_OUTPUT_LENGTH = 4000;

const MAX_IMAGES = 10;

/** Characters of Base64 of all images together. */
const MAX_IMAGE_LENGTH = 4 * 1024 * 1024;

const FOOTER_BYTES = 256;

const IMAGE_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const;

export interface Notebook {
  readonly cells: readonly JsonObject[];
  readonly language: string;
}

/** Undefined when the text is no notebook of format 4. */
export function parseNotebook(text: string): Notebook | undefined {
  if (isDeep(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || !Array.isArray(value['cells'])) return undefined;
  const cells = value['cells'].filter(isObject);
  if (cells.length !== value['cells'].length) return undefined;
  const metadata = isObject(value['metadata']) ? value['metadata'] : {};
  const about = isObject(metadata['language_info']) ? metadata['language_info'] : metadata['kernelspec'];
  const language = isObject(about) ? (about['name'] ?? about['language']) : undefined;
  return { cells, language: typeof language === 'string' ? language : 'unknown language' };
}

/** Values inside values. JSON.parse takes seconds and gigabytes for what is nothing but these. */
const MAX_DEPTH = 1000;

function isDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') at = stringEnd(text, at) - 1;
    else if (letter === '[' || letter === '{') {
      if (++depth > MAX_DEPTH) return true;
    } else if (letter === ']' || letter === '}') depth--;
  }
  return false;
}

/** @param first number of the first cell, from 1 */
export function showNotebook(path: string, notebook: Notebook, first: number, most: number): ToolOutput {
  const { cells, language } = notebook;
  if (cells.length === 0)
    return output(path, [{ type: 'text', text: `[A ${language} notebook without cells.]` }]);
  if (first > cells.length)
    throw new ToolFailure(`${path} has ${cells.length} cells, so there is no cell ${first}.`);
  const content: InputContent[] = [];
  const images = { left: MAX_IMAGES, length: MAX_IMAGE_LENGTH };
  let bytes = FOOTER_BYTES;
  let next = first;
  for (; next <= cells.length && next < first + most; next++) {
    const cell = showCell(cells[next - 1] ?? {}, next, images);
    const size = cell.reduce(
      (sum, block) => sum + (block.type === 'text' ? Buffer.byteLength(block.text) : 0),
      0,
    );
    if (next > first && bytes + size > MAX_RESULT_BYTES) break;
    bytes += size;
    for (const block of cell) append(content, block);
  }
  const more = next <= cells.length ? ` Go on with offset ${next}.` : '';
  const text = `[Cells ${first}–${next - 1} of ${cells.length}, ${language}.${more}]`;
  append(content, { type: 'text', text });
  return output(path, content);
}

function output(path: string, content: readonly InputContent[]): ToolOutput {
  return { content, isError: false, display: { kind: 'file', path } };
}

function append(content: InputContent[], block: InputContent): void {
  const last = content.at(-1);
  if (block.type === 'text' && last?.type === 'text')
    content[content.length - 1] = { type: 'text', text: last.text + block.text };
  else content.push(block);
}

interface ImageBudget {
  left: number;
  length: number;
}

function showCell(cell: JsonObject, number: number, images: ImageBudget): readonly InputContent[] {
  const id = typeof cell['id'] === 'string' ? `, id ${cell['id']}` : '';
  const count = cell['execution_count'];
  const run = typeof count === 'number' ? `, run ${count}` : '';
  const head = `--- Cell ${number} (${String(cell['cell_type'])}${id}${run}) ---`;
  const blocks: InputContent[] = [text(`${markUnseen(`${head}\n${sourceText(cell['source'])}`)}\n`)];
  const outputs = Array.isArray(cell['outputs']) ? cell['outputs'].filter(isObject) : [];
  for (const each of outputs) blocks.push(...showOutput(each, images));
  return blocks;
}

function showOutput(output: JsonObject, images: ImageBudget): readonly InputContent[] {
  const data = isObject(output['data']) ? output['data'] : {};
  switch (output['output_type']) {
    case 'stream':
      return [outputText(`output (${String(output['name'])})`, sourceText(output['text']))];
    case 'error': {
      const trace = Array.isArray(output['traceback']) ? output['traceback'].join('\n') : '';
      const said = `${String(output['ename'])}: ${String(output['evalue'])}`;
      return [outputText('error', trace === '' ? said : withoutColours(trace))];
    }
    default: {
      const image = imageOf(data, images);
      if (image !== undefined) return [text('[output: image]\n'), image];
      const plain = sourceText(data['text/plain'] ?? data['text/markdown'] ?? data['text/html'] ?? '');
      const kinds = Object.keys(data).join(', ');
      return [plain === '' ? text(`[output: ${kinds}, not shown]\n`) : outputText('output', plain)];
    }
  }
}

function imageOf(data: JsonObject, budget: ImageBudget): ImageContent | undefined {
  const mimeType = IMAGE_TYPES.find((type) => data[type] !== undefined);
  if (mimeType === undefined) return undefined;
  const base64 = sourceText(data[mimeType]).replace(/\s+/g, '');
  if (budget.left === 0 || base64.length > budget.length) return undefined;
  if (imageSize(Buffer.from(base64, 'base64')) === undefined) return undefined;
  budget.left--;
  budget.length -= base64.length;
  return { type: 'image', data: base64, mimeType };
}

function outputText(name: string, whole: string): InputContent {
  const over = whole.length - MAX_OUTPUT_LENGTH;
  const half = MAX_OUTPUT_LENGTH / 2;
  const shown =
    over <= 0
      ? whole
      : `${cutText(whole, half)}\n… ${over} characters left out …\n${whole.slice(whole.length - half).toWellFormed()}`;
  return text(`[${name}]\n${markUnseen(shown.replace(/\n$/, ''))}\n`);
}

function text(value: string): InputContent {
  return { type: 'text', text: value };
}

/** A string, or a list of lines that keep their ends. */
export function sourceText(source: unknown): string {
  if (typeof source === 'string') return source;
  return Array.isArray(source) ? source.filter((line) => typeof line === 'string').join('') : '';
}

/** Tracebacks come coloured for a terminal. */
function withoutColours(value: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return value.replace(/\x1b\[[0-9;]*m/g, '');
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
