// A tool context over real files in a folder of its own, with a state that tests can look into.

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type { Exec, Files } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Tool, ToolContext, ToolOutput } from '../../core/tool.ts';
import { createLocalFiles } from './local-files.ts';

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
  readonly signal?: AbortSignal;
}

export async function createTestFolder(options: TestFolderOptions = {}): Promise<TestFolder> {
  const root = process.env['TMPDIR'] ?? '/tmp';
  const path = await realpath(await mkdtemp(join(root, 'crab-files-')));
  const state = new Map<string, unknown>();
  const context: ToolContext = {
    callId: 'call-1',
    identity: { agent: 'crab', sender: 'cli:test', session: 'test', cwd: path, mode: 'default' },
    signal: options.signal ?? new AbortController().signal,
    exec: options.exec ?? (() => Promise.reject(new ToolFailure('Nothing can be run here.'))),
    files: options.files ?? createLocalFiles(),
    state: { get: (key) => state.get(key), set: (key, value) => void state.set(key, value) },
    withheld: async () => undefined,
    scratch: () => Promise.reject(new Error('no scratch folder was expected')),
    output: () => {},
    progress: () => {},
    ask: () => Promise.reject(new Error('no question was expected')),
  };
  return {
    path,
    context,
    state,
    at: (...names) => join(path, ...names),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
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
