// The beginning and the end of a file with exact counts of what lies between: for logs and data that are too long to be
// read. The file is looked through once in pieces, so that its size costs time and no memory.

import { ToolFailure } from '../../core/errors.ts';
import { MAX_RESULT_BYTES } from '../../core/limits.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { nameBinary } from './content-kind.ts';
import { byteCount } from './read-record.ts';
import { createSnippet, type Snippet } from './snippet.ts';
import { detectFormat } from './text-file.ts';
import { countArgument, filePath, readPlan, renamedFile, shownPath, textArgument } from './tool-path.ts';

const DEFAULT_LINES = 40;
const MAX_LINES = 1000;

const PIECE_BYTES = 4 * 1024 * 1024;

/** Bytes of a file that is looked through; of a larger one the end is not known. */
const MAX_SCANNED_BYTES = 2 * 1024 * 1024 * 1024;

export function createExcerptTool(): Tool {
  return {
    name: 'excerpt',
    aliases: ['head_tail'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Show the first and the last lines of a text file, and exactly how many lines and bytes lie between. For long logs and data.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        head: { type: 'integer', description: `First lines, default ${DEFAULT_LINES}` },
        tail: { type: 'integer', description: `Last lines, default ${DEFAULT_LINES}` },
      },
      required: ['path'],
    },
    prepare: (input) => renamedFile(input),
    plan: async (input, cwd) => readPlan(filePath(input, cwd)),
    run: excerpt,
    show: async (input) => ({ kind: 'file', path: textArgument(input, 'path') }),
  };
}

async function excerpt(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const path = filePath(input, context.identity.cwd);
  const lines = (key: string) =>
    countArgument(input, key, { least: 0, most: MAX_LINES, otherwise: DEFAULT_LINES });
  const snippet = createSnippet({ head: lines('head'), tail: lines('tail'), bytes: MAX_RESULT_BYTES - 512 });
  const bytes = await feed(path, snippet, context);
  const text = bytes === 0 ? '[The file is empty.]' : snippet.finish();
  return textOutput(text, { kind: 'file', path: shownPath(path, context.identity.cwd) });
}

/** Returns the number of bytes. */
async function feed(path: string, snippet: Snippet, { files, signal }: ToolContext): Promise<number> {
  let decoder: InstanceType<typeof TextDecoder> | undefined;
  let offset = 0;
  for (;;) {
    signal.throwIfAborted();
    const piece = await files.read(path, { offset, length: PIECE_BYTES });
    if (piece.length === 0) break;
    if (decoder === undefined) {
      const format = detectFormat(piece, piece.length === PIECE_BYTES);
      if (format === undefined)
        throw new ToolFailure(
          `Cannot show ${path}: it is ${nameBinary(piece)}, not text; use a command for it.`,
        );
      decoder = new TextDecoder(format.encoding);
    }
    snippet.feed(decoder.decode(piece, { stream: true }));
    offset += piece.length;
    if (offset >= MAX_SCANNED_BYTES)
      throw new ToolFailure(
        `${path} is larger than ${byteCount(MAX_SCANNED_BYTES)}: use commands such as head and tail for it.`,
      );
  }
  if (decoder !== undefined) snippet.feed(decoder.decode());
  return offset;
}
