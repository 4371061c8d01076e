// Applies a patch to several files: all of it or nothing. Everything is read and located before the first byte is written,
// and when a write fails all the same, what was written before it is put back.

import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { Files } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { nameBinary } from './content-kind.ts';
import type { FilePatch } from './patch-format.ts';
import { readWhole } from './read-record.ts';
import { decodeText, encodeText, splice } from './text-file.ts';
import { absolutePath, renamed, shownPath, textArgument } from './tool-path.ts';
import type { Mutation } from './write-tool.ts';

export function createPatchTool(mutation: Mutation): Tool {
  return {
    name: 'apply_patch',
    aliases: ['ApplyPatch', 'patch'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Change several files at once, all or nothing. The patch is *** Begin Patch, then sections *** Add File: PATH (lines with +), *** Delete File: PATH, *** Update File: PATH (optionally *** Move to: PATH; hunks of @@ and lines with blank, - or +), then *** End Patch.',
    input: { type: 'object', properties: { patch: { type: 'string' } }, required: ['patch'] },
    prepare: (input) =>
      renamed(input, { input: 'patch', patch_text: 'patch', patchText: 'patch', diff: 'patch' }),
    plan: async (input, cwd) => {
      const paths = namedPaths(await parsed(input)).map((path) => absolutePath(path, cwd));
      return { access: { kind: 'write', paths }, parallel: false, repeatable: false };
    },
    run: async (input, context) => {
      const patches = await parsed(input);
      const { cwd } = context.identity;
      const resolved = namedPaths(patches).map((path) => context.files.resolve(absolutePath(path, cwd)));
      // Always in the same order, so that two patches cannot wait for each other.
      const keys = [...new Set(await Promise.all(resolved))].sort();
      const locked = keys.reduceRight<() => Promise<ToolOutput>>(
        (inner, key) => () => mutation.queue.run(key, inner),
        () => apply(patches, context, mutation),
      );
      return locked();
    },
    show: async (input) => ({
      kind: 'markdown',
      text: `\`\`\`diff\n${textArgument(input, 'patch')}\n\`\`\``,
    }),
  };
}

async function parsed(input: JsonObject): Promise<readonly FilePatch[]> {
  const { parsePatch } = await import('./patch-format.ts');
  return parsePatch(textArgument(input, 'patch'));
}

function namedPaths(patches: readonly FilePatch[]): readonly string[] {
  return patches.flatMap((patch) =>
    patch.kind === 'update' && patch.moveTo !== undefined ? [patch.path, patch.moveTo] : [patch.path],
  );
}

/** What one file holds before and after; undefined where it is not there. */
interface FileChange {
  readonly path: string;
  readonly shown: string;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

async function apply(
  patches: readonly FilePatch[],
  context: ToolContext,
  mutation: Mutation,
): Promise<ToolOutput> {
  const changes: FileChange[] = [];
  for (const patch of patches) changes.push(...(await changesOf(patch, context)));
  const twice = changes.find(({ path }, at) => changes.findIndex((other) => other.path === path) !== at);
  if (twice !== undefined)
    throw new ToolFailure(`${twice.shown} is in the patch twice: make it one section. Nothing was written.`);
  context.signal.throwIfAborted();
  await writeAll(changes, context.files);
  const { state } = context;
  const lines: string[] = [];
  const diffs: string[] = [];
  let [added, removed] = [0, 0];
  for (const { path, shown, before, after } of changes) {
    const seen = before === undefined || mutation.record.compare(state, path, before) === 'same';
    if (after !== undefined && seen) mutation.record.note(state, path, after);
    const diff = await mutation.diff(shown, textOf(before), textOf(after));
    added += diff.added;
    removed += diff.removed;
    diffs.push(diff.diff);
    const letter = before === undefined ? 'A' : after === undefined ? 'D' : 'M';
    lines.push(`${letter} ${shown} (+${diff.added} −${diff.removed})`);
  }
  const shown = changes.map((change) => change.shown).join(', ');
  const display = { kind: 'diff', path: shown, diff: diffs.join(''), added, removed } as const;
  return textOutput(`Applied the patch:\n${lines.join('\n')}`, display);
}

function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : (decodeText(bytes)?.text ?? '');
}

async function changesOf(patch: FilePatch, context: ToolContext): Promise<readonly FileChange[]> {
  const { files, identity } = context;
  const place = async (named: string) => {
    const path = absolutePath(named, identity.cwd);
    return { path: await files.resolve(path), shown: shownPath(path, identity.cwd) };
  };
  const own = await place(patch.path);
  if (patch.kind === 'add') {
    await mustBeFree(own, files);
    return [{ ...own, before: undefined, after: encoded(patch.text, own.shown) }];
  }
  const before = await readWhole(files, own.path);
  if (patch.kind === 'delete') return [{ ...own, before, after: undefined }];
  const after = await updated(before, patch.hunks, own.shown);
  if (patch.moveTo === undefined) return [{ ...own, before, after }];
  const target = await place(patch.moveTo);
  if (target.path === own.path) return [{ ...own, before, after }];
  await mustBeFree(target, files);
  return [
    { ...target, before: undefined, after },
    { ...own, before, after: undefined },
  ];
}

async function mustBeFree({ path, shown }: Pick<FileChange, 'path' | 'shown'>, files: Files): Promise<void> {
  if ((await files.info(path)) !== undefined)
    throw new ToolFailure(`${shown} exists: change it with *** Update File. Nothing was written.`);
}

async function updated(
  before: Uint8Array,
  hunks: Extract<FilePatch, { kind: 'update' }>['hunks'],
  shown: string,
): Promise<Uint8Array> {
  const file = decodeText(before);
  if (file === undefined)
    throw new ToolFailure(`Cannot patch ${shown}: it is ${nameBinary(before)}, not text.`);
  const { locateHunks } = await import('./patch-match.ts');
  const after = encodeText(splice(file, locateHunks(file.text, hunks, shown)), file);
  if (after !== undefined) return after;
  throw new ToolFailure(
    `${shown} is encoded in ${file.encoding}, which lacks a character of the patch. Nothing was written.`,
  );
}

function encoded(text: string, shown: string): Uint8Array {
  const bytes = encodeText(text, { encoding: 'utf-8', bom: false });
  if (bytes === undefined) throw new ToolFailure(`The text for ${shown} holds half of a surrogate pair.`);
  return bytes;
}

async function writeAll(changes: readonly FileChange[], files: Files): Promise<void> {
  const done: FileChange[] = [];
  try {
    for (const change of changes) {
      await put(change.path, change.after, files);
      done.push(change);
    }
  } catch (error) {
    const stuck: string[] = [];
    for (const { path, shown, before } of done.reverse())
      await put(path, before, files).catch(() => void stuck.push(shown));
    const left = stuck.length === 0 ? 'Nothing was changed.' : `Not put back: ${stuck.join(', ')}.`;
    throw new ToolFailure(`${messageOf(error)} ${left}`, { cause: error });
  }
}

async function put(path: string, bytes: Uint8Array | undefined, files: Files): Promise<void> {
  if (bytes === undefined) await files.remove(path);
  else await files.write(path, bytes);
}
