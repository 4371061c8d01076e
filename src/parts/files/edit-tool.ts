// Replaces text in a file: one or several changes, all of the file as it is, all or none. The match itself proves that
// the model knows what it changes, so a file that changed elsewhere meanwhile can still be edited; whether the model
// has seen the rest of it is a question for `write`.

import type { Display } from '../../core/display.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { nameBinary } from './content-kind.ts';
import { type Change, type Found, findChange } from './edit-match.ts';
import { describeNearest } from './edit-nearest.ts';
import { editReport, lineNumbers } from './edit-report.ts';
import { readWhole, type Seen } from './read-record.ts';
import { decodeText, encodeText, type Hunk, splice, type TextFile, unencodable } from './text-file.ts';
import { filePath, renamed, renamedFile, textArgument, writePlan } from './tool-path.ts';
import { unmark } from './unseen.ts';
import { type Mutation, type MutationTarget, mutationTarget } from './write-tool.ts';

const CHANGE = {
  old_string: { type: 'string' },
  new_string: { type: 'string' },
  replace_all: { type: 'boolean' },
} as const;

const CHANGE_NAMES = {
  oldText: 'old_string',
  old_text: 'old_string',
  oldString: 'old_string',
  old_str: 'old_string',
  newText: 'new_string',
  new_text: 'new_string',
  newString: 'new_string',
  new_str: 'new_string',
  replaceAll: 'replace_all',
};

export function createEditTool(mutation: Mutation): Tool {
  return {
    name: 'edit',
    aliases: ['Edit', 'MultiEdit', 'multi_edit', 'file.edit', 'fs.edit', 'edit_file', 'str_replace'],
    source: 'builtin',
    description:
      'Replace text in a file. old_string is the exact text, without line numbers; it must occur once unless replace_all is set. For several changes give edits: each matches the file as it is, and all apply or none. An empty old_string creates the file.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        ...CHANGE,
        edits: {
          type: 'array',
          items: { type: 'object', properties: CHANGE, required: ['old_string', 'new_string'] },
        },
      },
      required: ['path'],
    },
    prepare,
    plan: async (input, cwd) => writePlan(filePath(input, cwd)),
    run: async (input, context) => {
      const target = await mutationTarget(input, context);
      const changes = changesOf(input);
      return mutation.queue.run(target.path, () => edit(target, changes, context, mutation));
    },
    show: (input) => show(input, mutation),
  };
}

function prepare(input: JsonObject): JsonObject {
  const named = renamedFile(input, CHANGE_NAMES);
  const { edits } = named;
  if (!Array.isArray(edits)) return named;
  const each = (item: unknown) =>
    typeof item === 'object' && item !== null ? renamed({ ...item }, CHANGE_NAMES) : item;
  return { ...named, edits: edits.map(each) };
}

async function show(input: JsonObject, mutation: Mutation): Promise<Display> {
  const changes = [input, ...objects(input['edits'])].filter((change) => 'old_string' in change);
  const join = (key: string) => changes.map((change) => textArgument(change, key)).join('\n');
  return mutation.diff(textArgument(input, 'path'), join('old_string'), join('new_string'));
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

function changesOf(input: JsonObject): readonly Change[] {
  const several = objects(input['edits']);
  const single = typeof input['old_string'] === 'string' || typeof input['new_string'] === 'string';
  const given = single ? [input, ...several] : several;
  if (given.length === 0) throw new ToolFailure('Give old_string and new_string, or edits.');
  return given.map((change, at) => {
    const [oldText, newText] = [lineFeeds(change, 'old_string'), lineFeeds(change, 'new_string')];
    if (oldText === newText)
      throw new ToolFailure(
        `${nameOf(at, given.length)}old_string and new_string are the same: nothing to change.`,
      );
    return { oldText, newText, all: change['replace_all'] === true };
  });
}

/** The file's own line ends are put in when it is written. */
function lineFeeds(change: JsonObject, key: string): string {
  return textArgument(change, key).replaceAll('\r\n', '\n');
}

function nameOf(at: number, count: number): string {
  return count > 1 ? `Change ${at + 1} of ${count}: ` : '';
}

async function edit(
  target: MutationTarget,
  changes: readonly Change[],
  context: ToolContext,
  mutation: Mutation,
): Promise<ToolOutput> {
  context.signal.throwIfAborted();
  if (changes.some((change) => change.oldText === '')) return create(target, changes, context, mutation);
  const { files, state, signal } = context;
  const { path, shown } = target;
  const bytes = await readWhole(files, path);
  const file = decodeText(bytes);
  if (file === undefined)
    throw new ToolFailure(`Cannot edit ${shown}: it is ${nameBinary(bytes)}, not text.`);
  const seen = mutation.record.compare(state, path, bytes);
  const { hunks, ignored } = locate(file, changes, shown, seen);
  const written = encodeText(splice(file, hunks), file);
  if (written === undefined) throw cannotHold(shown, file, hunks);
  signal.throwIfAborted();
  await files.write(path, written);
  // A model that had not seen all of the file has not seen it after its own edit either.
  if (seen === 'same') mutation.record.note(state, path, written);
  const after = applied(file.text, hunks);
  const display = await mutation.diff(shown, file.text, after);
  return textOutput(editReport({ shown, after, hunks, ignored, seen, display }), display);
}

async function create(
  { path, shown }: MutationTarget,
  changes: readonly Change[],
  context: ToolContext,
  mutation: Mutation,
): Promise<ToolOutput> {
  const { files, state } = context;
  const [change] = changes;
  if ((await files.info(path)) !== undefined)
    throw new ToolFailure(`${shown} exists, so old_string must not be empty: give the text to replace.`);
  if (change === undefined || changes.length > 1)
    throw new ToolFailure('An empty old_string creates a file, and then it must be the only change.');
  const bytes = encodeText(change.newText, { encoding: 'utf-8', bom: false });
  if (bytes === undefined) throw new ToolFailure('new_string holds half of a surrogate pair.');
  await files.write(path, bytes);
  mutation.record.note(state, path, bytes);
  return textOutput(`Created ${shown}.`, await mutation.diff(shown, '', change.newText));
}

function locate(file: TextFile, changes: readonly Change[], shown: string, seen: Seen) {
  const hunks: (Hunk & { readonly change: number })[] = [];
  const ignored = new Set<string>();
  const failures: string[] = [];
  for (const [at, change] of changes.entries()) {
    const found = findMarked(file.text, change);
    if (found.kind === 'found') {
      for (const hunk of found.hunks) hunks.push({ ...hunk, change: at });
      for (const name of found.ignored) ignored.add(name);
      continue;
    }
    const reason =
      found.kind === 'missing'
        ? `old_string was not found in ${shown}. ${describeNearest(file.text, change.oldText)}`
        : ambiguous(file.text, found.offsets, found.ignored, shown);
    failures.push(nameOf(at, changes.length) + reason);
  }
  if (failures.length > 0) {
    const changed = seen === 'changed' ? `${shown} has changed since you read it. ` : '';
    throw new ToolFailure(`${changed}${failures.join('\n')}\nNothing was written.`);
  }
  hunks.sort((a, b) => a.start - b.start || a.end - b.end);
  checkOverlap(file.text, hunks, changes.length);
  return { hunks, ignored: [...ignored] };
}

/** A model writes what it cannot see as it was shown it; a file that holds such marks as letters comes first. */
function findMarked(text: string, change: Change): Found {
  const found = findChange(text, change);
  const oldText = found.kind === 'missing' ? unmark(change.oldText) : undefined;
  if (oldText === undefined) return found;
  return findChange(text, { ...change, oldText, newText: unmark(change.newText) ?? change.newText });
}

function ambiguous(
  text: string,
  offsets: readonly number[],
  ignored: readonly string[],
  shown: string,
): string {
  const lines = lineNumbers(text, offsets.slice(0, 20)).join(', ');
  const more = offsets.length > 20 ? ', …' : '';
  const inexact = ignored.length > 0 ? ` when ${ignored.join(' and ')} are ignored` : '';
  const remedy = ignored.length > 0 ? '' : ', or set replace_all';
  return `old_string occurs ${offsets.length} times in ${shown}${inexact}, at lines ${lines}${more}. Add lines around it until it is unique${remedy}.`;
}

function checkOverlap(
  text: string,
  hunks: readonly (Hunk & { readonly change: number })[],
  count: number,
): void {
  for (const [at, hunk] of hunks.entries()) {
    const before = hunks[at - 1];
    if (before === undefined || before.end <= hunk.start) continue;
    const [line] = lineNumbers(text, [hunk.start]);
    throw new ToolFailure(
      `Changes ${before.change + 1} and ${hunk.change + 1} of ${count} overlap at line ${line}: make them one. Nothing was written.`,
    );
  }
}

function applied(text: string, hunks: readonly Hunk[]): string {
  let result = '';
  let done = 0;
  for (const hunk of hunks) {
    result += text.slice(done, hunk.start) + hunk.replacement;
    done = hunk.end;
  }
  return result + text.slice(done);
}

function cannotHold(shown: string, file: TextFile, hunks: readonly Hunk[]): ToolFailure {
  const characters = hunks.map((hunk) => unencodable(hunk.replacement, file.encoding));
  const missing = characters.find((character) => character !== undefined) ?? '';
  const code = missing.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0');
  return new ToolFailure(
    `${shown} is encoded in ${file.encoding}, which has no U+${code}: use another character. Nothing was written.`,
  );
}
