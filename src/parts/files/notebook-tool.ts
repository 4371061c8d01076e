// Changes one cell of a Jupyter notebook. As with `write`, the model must have seen the file as it is: a cell is named by
// its place or id alone, which proves nothing of what the model believes to be in it.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import type { CellEdit, CellType } from './notebook-edit.ts';
import { readWhole } from './read-record.ts';
import { decodeText, encodeText, withLineEnds } from './text-file.ts';
import { filePath, renamedFile, textArgument, writePlan } from './tool-path.ts';
import { type Mutation, type MutationTarget, mustHaveSeen, mutationTarget } from './write-tool.ts';

export function createNotebookTool(mutation: Mutation): Tool {
  return {
    name: 'notebook_edit',
    aliases: ['NotebookEdit', 'notebook', 'edit_notebook'],
    source: 'builtin',
    isDeferred: true,
    description:
      'Change one cell of a Jupyter notebook (.ipynb): replace its source, insert a cell behind it, or delete it. Read the notebook first.',
    input: {
      type: 'object',
      properties: {
        path: { type: 'string' },
        cell_id: {
          type: 'string',
          description: 'Id or number of the cell; to insert: behind which cell, absent for the beginning',
        },
        new_source: { type: 'string' },
        cell_type: { type: 'string', enum: ['code', 'markdown', 'raw'] },
        edit_mode: { type: 'string', enum: ['replace', 'insert', 'delete'], description: 'Default replace' },
      },
      required: ['path'],
    },
    prepare,
    plan: async (input, cwd) => writePlan(filePath(input, cwd)),
    run: async (input, context) => {
      const target = await mutationTarget(input, context);
      const change = changeOf(input);
      return mutation.queue.run(target.path, () => edit(target, change, context, mutation));
    },
    show: async (input) => mutation.diff(textArgument(input, 'path'), '', textArgument(input, 'new_source')),
  };
}

function prepare(input: JsonObject): JsonObject {
  const names = { notebook_path: 'path', cell_number: 'cell_id', source: 'new_source', mode: 'edit_mode' };
  const named = renamedFile(input, names);
  const { cell_id } = named;
  return typeof cell_id === 'number' ? { ...named, cell_id: String(cell_id) } : named;
}

function changeOf(input: JsonObject): CellEdit {
  const cell = textArgument(input, 'cell_id');
  const kind = textArgument(input, 'edit_mode') || 'replace';
  const source = textArgument(input, 'new_source').replaceAll('\r\n', '\n');
  const type = input['cell_type'] as CellType | undefined;
  if (kind !== 'delete' && typeof input['new_source'] !== 'string') throw new ToolFailure('Give new_source.');
  if (kind === 'insert') return { kind, after: cell, source, type: type ?? 'code' };
  if (cell === '') throw new ToolFailure('Give the cell_id of the cell.');
  if (kind === 'delete') return { kind, cell };
  return { kind: 'replace', cell, source, ...(type !== undefined && { type }) };
}

const DONE = { replace: 'Replaced', insert: 'Inserted', delete: 'Deleted' } as const;

async function edit(
  target: MutationTarget,
  change: CellEdit,
  context: ToolContext,
  mutation: Mutation,
): Promise<ToolOutput> {
  const { path, shown } = target;
  const { files, state, signal } = context;
  signal.throwIfAborted();
  const bytes = await readWhole(files, path);
  await mustHaveSeen(bytes, target, context, mutation);
  const file = decodeText(bytes);
  if (file === undefined) throw new ToolFailure(`Cannot edit ${shown}: it is no text.`);
  const { editNotebook } = await import('./notebook-edit.ts');
  const { text, number, cells } = editNotebook(file.text, change, shown);
  const written = encodeText(withLineEnds(text, file.ends), file);
  if (written === undefined)
    throw new ToolFailure(`${shown} is encoded in ${file.encoding}, which lacks a character of new_source.`);
  signal.throwIfAborted();
  await files.write(path, written);
  mutation.record.note(state, path, written);
  const display = await mutation.diff(shown, file.text, text);
  return textOutput(`${DONE[change.kind]} cell ${number} of ${shown}, which has ${cells} cells.`, display);
}
