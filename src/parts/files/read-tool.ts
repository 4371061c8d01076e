// Reads a file for the model: text with line numbers, images as they are, PDF documents and notebooks as what they say. What
// a file is its first bytes tell; only a notebook, which is JSON, goes by its name. A file within 10 MB is read once and
// whole, and its hash is kept for `write` and `edit`; a larger one is read in pieces as far as the lines asked for.

import type { Display } from '../../core/display.ts';
import type { Documents } from '../../core/document.ts';
import { ToolFailure } from '../../core/errors.ts';
import { MAX_RESULT_BYTES, MAX_RESULT_LINES } from '../../core/limits.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { imageKind, isPdf, nameBinary } from './content-kind.ts';
import { createLineWindow, type LineWindow } from './line-window.ts';
import { byteCount, MAX_WHOLE_BYTES, type ReadRecord } from './read-record.ts';
import { decodeText, detectFormat, type Encoding } from './text-file.ts';
import { countArgument, filePath, readPlan, renamedFile, textArgument } from './tool-path.ts';

/** Bytes by which a large file is read on. */
const PIECE_BYTES = 4 * 1024 * 1024;

/** Bytes looked through for the first line asked for. */
const MAX_SCANNED_BYTES = 512 * 1024 * 1024;

const MAX_OFFSET = Number.MAX_SAFE_INTEGER;

/** Bytes kept free for the line that says what is shown. */
const FOOTER_BYTES = 256;

const MARKS_NOTE = '\n[Characters that cannot be seen are shown as <U+XXXX>; edit takes them in this form.]';

export function createReadTool(record: ReadRecord, documents?: Documents): Tool {
  return {
    name: 'read',
    aliases: ['Read', 'file.read', 'fs.read', 'read_file', 'view'],
    source: 'builtin',
    description: `Read a file: text with line numbers, an image (png, jpeg, gif, webp), the text of a PDF, or the cells of a notebook. Shows up to ${MAX_RESULT_LINES} lines or ${MAX_RESULT_BYTES / 1024} KB and says where to go on.`,
    input: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        offset: { type: 'integer', description: 'First line, from 1' },
        limit: { type: 'integer', description: 'Number of lines' },
        pages: { type: 'string', description: 'Of a PDF: 3 or 2-7' },
      },
      required: ['path'],
    },
    prepare: (input) => renamedFile(input, { start_line: 'offset', notebook_path: 'path' }),
    plan: async (input, cwd) => readPlan(filePath(input, cwd)),
    run: (input, context) => readForModel(input, context, { record, documents }),
    show: async (input) => shown(input),
  };
}

function shown(input: JsonObject): Display {
  const { path, offset, limit } = input;
  return {
    kind: 'file',
    path: String(path),
    ...(typeof offset === 'number' && { firstLine: offset }),
    ...(typeof limit === 'number' && { lines: limit }),
  };
}

async function readForModel(
  input: JsonObject,
  context: ToolContext,
  { record, documents }: { readonly record: ReadRecord; readonly documents: Documents | undefined },
): Promise<ToolOutput> {
  const path = filePath(input, context.identity.cwd);
  const { files, state } = context;
  // Side by side: neither needs the other, and each is a trip to the thread pool or to another machine.
  const [bytes, resolved] = await Promise.all([
    files.read(path, { offset: 0, length: MAX_WHOLE_BYTES + 1 }),
    files.resolve(path),
  ]);
  const mimeType = imageKind(bytes);
  if (mimeType !== undefined) {
    const [{ showImage }, size] = await Promise.all([
      import('./read-image.ts'),
      fileSize(path, bytes, context),
    ]);
    return showImage(path, bytes, size, mimeType);
  }
  if (isPdf(bytes)) return pdf({ path, bytes, context }, textArgument(input, 'pages'), documents);
  const first = countArgument(input, 'offset', { least: 1, most: MAX_OFFSET, otherwise: 1 });
  const lines = countArgument(input, 'limit', {
    least: 1,
    most: MAX_RESULT_LINES,
    otherwise: MAX_RESULT_LINES,
  });
  const window = createLineWindow({ first, lines, bytes: MAX_RESULT_BYTES - FOOTER_BYTES });
  const whole = bytes.length <= MAX_WHOLE_BYTES;
  const cells = whole && path.endsWith('.ipynb') ? await notebook(path, bytes, input) : undefined;
  if (cells !== undefined) {
    record.note(state, resolved, bytes);
    return cells;
  }
  const reading = { path, bytes, window, context };
  const { encoding, complete } = whole ? await readSmall(reading) : await readLarge(reading);
  if (whole) record.note(state, resolved, bytes);
  const text = report(path, first, window, { complete, bytes: bytes.length });
  const marks = window.hasMarks ? MARKS_NOTE : '';
  const notes = `${encoding === 'utf-8' ? '' : `\n[Encoding: ${encoding}]`}${marks}`;
  const display = { kind: 'file', path, firstLine: first, lines: window.shown.length } as const;
  return textOutput(text + notes, display);
}

interface Reading {
  readonly path: string;
  /** The beginning of the file, or all of it. */
  readonly bytes: Uint8Array;
  readonly window: LineWindow;
  readonly context: ToolContext;
}

interface Outcome {
  readonly encoding: Encoding;
  /** Every line of the file was counted. */
  readonly complete: boolean;
}

async function readSmall({ path, bytes, window, context }: Reading): Promise<Outcome> {
  const file = decodeText(bytes);
  if (file === undefined) throw await notText(path, bytes, context);
  window.feed(file.text);
  window.finish();
  return { encoding: file.encoding, complete: true };
}

async function readLarge({ path, bytes, window, context }: Reading): Promise<Outcome> {
  const format = detectFormat(bytes, true);
  if (format === undefined) throw await notText(path, bytes, context);
  const decoder = new TextDecoder(format.encoding);
  const ends = createLineEndReader();
  let piece = bytes;
  for (let offset = 0; ; ) {
    window.feed(ends(decoder.decode(piece, { stream: true })));
    offset += piece.length;
    if (window.full) return { encoding: format.encoding, complete: false };
    if (offset >= MAX_SCANNED_BYTES) throw tooFar(path, window);
    context.signal.throwIfAborted();
    piece = await context.files.read(path, { offset, length: PIECE_BYTES });
    if (piece.length === 0) break;
  }
  window.feed(ends(decoder.decode()));
  window.finish();
  return { encoding: format.encoding, complete: true };
}

/** Makes `\r\n` to `\n`, also where a piece ends between the two. */
function createLineEndReader(): (text: string) => string {
  let held = '';
  return (text) => {
    const joined = held + text;
    held = joined.endsWith('\r') ? '\r' : '';
    const ready = held === '' ? joined : joined.slice(0, -1);
    return ready.includes('\r') ? ready.replaceAll('\r\n', '\n') : ready;
  };
}

function tooFar(path: string, window: LineWindow): ToolFailure {
  return new ToolFailure(
    `${path} is very large: the first ${byteCount(MAX_SCANNED_BYTES)} hold ${window.counted} lines and were not enough. Use a command such as tail or sed for what lies further on.`,
  );
}

function report(
  path: string,
  first: number,
  window: LineWindow,
  read: { readonly complete: boolean; readonly bytes: number },
): string {
  const { shown, counted } = window;
  if (read.bytes === 0) return '[The file is empty.]';
  if (shown.length === 0)
    throw new ToolFailure(`Line ${first} lies beyond the end of ${path}, which has ${lineCount(counted)}.`);
  const last = first + shown.length - 1;
  const text = shown.join('\n');
  if (read.complete && first === 1 && last === counted) return text;
  const total = read.complete ? String(counted) : `at least ${counted}`;
  const more = last < counted || !read.complete ? ` Go on with offset ${last + 1}.` : '';
  return `${text}\n[Lines ${first}–${last} of ${total}.${more}]`;
}

function lineCount(count: number): string {
  return count === 1 ? '1 line' : `${count} lines`;
}

async function notText(path: string, bytes: Uint8Array, context: ToolContext): Promise<ToolFailure> {
  const size = byteCount(await fileSize(path, bytes, context));
  return new ToolFailure(
    `Cannot show ${path}: it is ${nameBinary(bytes)} of ${size}, not text; use a command for it.`,
  );
}

async function pdf(
  { path, bytes, context }: Omit<Reading, 'window'>,
  pages: string,
  documents: Documents | undefined,
): Promise<ToolOutput> {
  const { MAX_PDF_BYTES, readPdf, tooLargePdf } = await import('./read-pdf.ts');
  if (documents === undefined) throw new ToolFailure(`Cannot show ${path}: PDF documents are not read here.`);
  if (bytes.length <= MAX_WHOLE_BYTES) return readPdf({ path, bytes, pages }, documents, context.signal);
  const all = await context.files.read(path, { offset: 0, length: MAX_PDF_BYTES + 1 });
  if (all.length > MAX_PDF_BYTES)
    throw tooLargePdf(path, (await context.files.info(path))?.size ?? all.length);
  return readPdf({ path, bytes: all, pages }, documents, context.signal);
}

async function notebook(path: string, bytes: Uint8Array, input: JsonObject): Promise<ToolOutput | undefined> {
  const text = decodeText(bytes)?.text;
  if (text === undefined) return undefined;
  const { parseNotebook, showNotebook } = await import('./notebook.ts');
  const parsed = parseNotebook(text);
  const count = (key: string) => countArgument(input, key, { least: 1, most: MAX_OFFSET, otherwise: 1 });
  const most = input['limit'] === undefined ? MAX_OFFSET : count('limit');
  return parsed && showNotebook(path, parsed, count('offset'), most);
}

async function fileSize(path: string, bytes: Uint8Array, context: ToolContext): Promise<number> {
  if (bytes.length <= MAX_WHOLE_BYTES) return bytes.length;
  return (await context.files.info(path))?.size ?? bytes.length;
}
