// A tool context over real files in a folder of its own, with a state that tests can look into.

import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../../src/core/errors.ts';
import type { Exec, Files, OpenProcess } from '../../src/core/host.ts';
import type { JsonObject } from '../../src/core/schema.ts';
import type { Tool, ToolContext, ToolOutput } from '../../src/core/tool.ts';
import { createLocalFiles } from '../../src/parts/files/local-files.ts';
import { toolContext } from './tool-context.ts';

export interface TestFolder extends AsyncDisposable {
  /** Absolute and without links. */
  readonly path: string;
  readonly context: ToolContext;
  readonly state: Map<string, unknown>;
  at(...names: string[]): string;
}

export interface TestFolderOptions {
  readonly files?: Files;
  readonly exec?: Exec;
  readonly open?: OpenProcess;
  readonly signal?: AbortSignal;
}

export async function createTestFolder(options: TestFolderOptions = {}): Promise<TestFolder> {
  const root = process.env['TMPDIR'] ?? '/tmp';
  const path = await realpath(await mkdtemp(join(root, 'crab-files-')));
  const state = new Map<string, unknown>();
  const scratch = `${path}.scratch`;
  const context = toolContext(path, {
    ...(options.signal !== undefined && { signal: options.signal }),
    exec: options.exec ?? (() => Promise.reject(new ToolFailure('Nothing can be run here.'))),
    ...(options.open !== undefined && { open: options.open }),
    files: options.files ?? createLocalFiles(),
    scratch: async () => {
      await mkdir(scratch, { recursive: true });
      return scratch;
    },
    state: { get: (key) => state.get(key), set: (key, value) => void state.set(key, value) },
  });
  return {
    path,
    context,
    state,
    at: (...names) => join(path, ...names),
    async [Symbol.asyncDispose]() {
      for (const each of [path, scratch]) await rm(each, { recursive: true, force: true });
    },
  };
}

export function toolNamed(tools: readonly Tool[], name: string): Tool {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool;
}

/** The text of a result that must be no error. */
export async function runForText(tool: Tool, input: JsonObject, context: ToolContext): Promise<string> {
  return textOf(await tool.run(input, context));
}

export function textOf(output: ToolOutput): string {
  if (output.isError) throw new Error('the call ended in an error result');
  return output.content.map((block) => (block.type === 'text' ? block.text : `<${block.mimeType}>`)).join('');
}
