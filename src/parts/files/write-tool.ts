// Creates a file or replaces all of it. A file that is there is replaced only when the model has seen what it holds.
// The file keeps its encoding, its byte order mark and, when the content has plain `\n` line ends, its line ends:
// a model writes `\n` whatever it was shown. Content that has a `\r` of its own is written as it stands.

import type { Display } from '../../core/display.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { cutText } from './line-window.ts';
import type { MutationQueue } from './mutation-queue.ts';
import { type ReadRecord, readWhole } from './read-record.ts';
import { type Differ, splitLines } from './text-diff.ts';
import { decodeText, encodeText, type TextFile, type TextFormat, withLineEnds } from './text-file.ts';
import { filePath, renamedFile, shownPath, textArgument, writePlan } from './tool-path.ts';
import { markUnseen } from './unseen.ts';

/** What the two tools share that change files. */
export interface Mutation {
  readonly record: ReadRecord;
  readonly queue: MutationQueue;
  readonly diff: Differ;
}

/** Characters of a diff that a refusal shows. */
const MAX_DIFF_LENGTH = 4000;

const NEW_FILE: TextFormat = { encoding: 'utf-8', bom: false };

export function createWriteTool(mutation: Mutation): Tool {
  return {
    name: 'write',
    aliases: ['Write', 'file.write', 'fs.write', 'write_file', 'create_file'],
    source: 'builtin',
    description:
      'Create a file or replace all of it; missing folders are made. Read an existing file before you replace it, and use edit to change a part.',
    input: {
      type: 'object',
      properties: { path: { type: 'string' }, content: { type: 'string' } },
      required: ['path', 'content'],
    },
    prepare,
    plan: async (input, cwd) => writePlan(filePath(input, cwd)),
    run: async (input, context) => {
      const target = await mutationTarget(input, context);
      const content = textArgument(input, 'content');
      return mutation.queue.run(target.path, () => replace(target, content, context, mutation));
    },
    show: async (input): Promise<Display> => {
      const content = textArgument(input, 'content');
      return {
        kind: 'file',
        path: textArgument(input, 'path'),
        text: content,
        lines: splitLines(content).length,
      };
    },
  };
}

function prepare(input: JsonObject): JsonObject {
  const named = renamedFile(input, { contents: 'content', text: 'content', file_text: 'content' });
  const { content } = named;
  // Asked for a JSON file, models send its value.
  if (typeof content !== 'object' || content === null) return named;
  return { ...named, content: `${JSON.stringify(content, null, 2)}\n` };
}

/** A file that is to be changed. */
export interface MutationTarget {
  /** Resolved: the key of the queue and of what was read. */
  readonly path: string;
  /** What the model and the person call it. */
  readonly shown: string;
}

export async function mutationTarget(input: JsonObject, context: ToolContext): Promise<MutationTarget> {
  const named = filePath(input, context.identity.cwd);
  return { path: await context.files.resolve(named), shown: shownPath(named, context.identity.cwd) };
}

async function replace(
  target: MutationTarget,
  content: string,
  context: ToolContext,
  mutation: Mutation,
): Promise<ToolOutput> {
  const { files, state, signal } = context;
  const { path, shown } = target;
  signal.throwIfAborted();
  const exists = (await files.info(path)) !== undefined;
  const before = exists ? await readWhole(files, path) : new Uint8Array();
  if (before.length > 0) await mustHaveSeen(before, target, context, mutation);
  const old = before.length > 0 ? decodeText(before) : undefined;
  const { bytes, format } = encode(content, old);
  signal.throwIfAborted();
  await files.write(path, bytes);
  mutation.record.note(state, path, bytes);
  const display = await mutation.diff(shown, old?.text ?? '', decodeText(bytes)?.text ?? content);
  const lines = splitLines(content).length;
  const size = lines === 1 ? '1 line' : `${lines} lines`;
  const kept = old === undefined ? '' : keptFormat(old, format);
  const change = exists ? `, +${display.added} −${display.removed}` : '';
  return textOutput(`${exists ? 'Replaced' : 'Created'} ${shown} (${size}${change}).${kept}`, display);
}

/** Throws unless the model knows what the file holds. */
export async function mustHaveSeen(
  bytes: Uint8Array,
  { path, shown }: MutationTarget,
  { state }: ToolContext,
  mutation: Mutation,
): Promise<void> {
  const seen = mutation.record.compare(state, path, bytes);
  if (seen === 'same') return;
  if (seen === 'never')
    throw new ToolFailure(
      `${shown} exists and you have not read it, so it was left as it is. Read it first, or change a part of it with edit.`,
    );
  const change = await changeSince(mutation.record.content(state, path), bytes, shown, mutation);
  throw new ToolFailure(
    `${shown} has changed since you read it, and was left as it is. Read it again, then write; or change a part of it with edit.${change}`,
  );
}

/** What somebody else did to the file, as a diff; empty where what it held is no longer known. */
async function changeSince(
  known: Uint8Array | undefined,
  bytes: Uint8Array,
  shown: string,
  { diff }: Mutation,
): Promise<string> {
  const [before, after] = [known && decodeText(known)?.text, decodeText(bytes)?.text];
  if (before === undefined || after === undefined || before === after) return '';
  const text = markUnseen((await diff(shown, before, after)).diff);
  const cut = text.length > MAX_DIFF_LENGTH ? `${cutText(text, MAX_DIFF_LENGTH)}\n…\n` : text;
  return `\nWhat changed:\n${cut.trimEnd()}`;
}

function encode(content: string, old: TextFile | undefined): { bytes: Uint8Array; format: TextFormat } {
  if (old === undefined) return encodeNew(content);
  const text = content.includes('\r') ? content : withLineEnds(content, old.ends);
  // A mark that the content brings along must not be there twice.
  const bytes = encodeText(old.bom && text.startsWith('\ufeff') ? text.slice(1) : text, old);
  return bytes === undefined ? encodeNew(text) : { bytes, format: old };
}

function encodeNew(text: string): { bytes: Uint8Array; format: TextFormat } {
  const bytes = encodeText(text, NEW_FILE);
  if (bytes === undefined)
    throw new ToolFailure('The content holds half of a surrogate pair, which no text file can hold.');
  return { bytes, format: NEW_FILE };
}

function keptFormat(old: TextFile, format: TextFormat): string {
  if (old.encoding !== format.encoding)
    return ` It was ${old.encoding}, which lacks a character of the content, and is ${format.encoding} from here on.`;
  const kept = [
    ...(old.encoding === 'utf-8' ? (old.bom ? ['byte order mark'] : []) : [`encoding ${old.encoding}`]),
    ...(old.ends === 'crlf' || old.ends === 'cr' ? [`${old.ends.toUpperCase()} line ends`] : []),
  ];
  return kept.length === 0 ? '' : ` Kept its ${kept.join(' and ')}.`;
}
