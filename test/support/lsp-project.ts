// A project with real files, real processes and the servers of this repository's own `node_modules`, for tests.

import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Extension } from '../../src/core/extension.ts';
import type { OpenProcess } from '../../src/core/host.ts';
import type { JsonObject } from '../../src/core/schema.ts';
import type { LspServerSettings } from '../../src/core/settings.ts';
import type { Tool, ToolContext } from '../../src/core/tool.ts';
import { createLocalFiles } from '../../src/parts/files/local-files.ts';
import { createWatchFiles } from '../../src/parts/files/watch.ts';
import { createLsp } from '../../src/parts/lsp/lsp.ts';
import { createExec } from '../../src/parts/process/exec.ts';
import { realClock, toolContext } from './tool-context.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Project extends AsyncDisposable {
  /** Absolute and without links. */
  readonly cwd: string;
  readonly context: ToolContext;
  readonly extension: Extension;
  readonly tool: Tool;
  at(path: string): string;
  /** The text of the answer; rejects with what the tool throws. */
  ask(input: JsonObject, context?: Partial<ToolContext>): Promise<string>;
  /** A tool of another conversation. */
  newTool(): Promise<Tool>;
  /** Process ids of servers that were started and have not ended. */
  running(): readonly number[];
  /** How many servers were started. */
  started(): number;
}

export async function openProject(
  files: Readonly<Record<string, string>>,
  changes: Partial<ToolContext> = {},
  settings: Readonly<Record<string, LspServerSettings>> = {},
): Promise<Project> {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'crab-lsp-')));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), text);
  }
  await symlink(join(ROOT, 'node_modules'), join(cwd, 'node_modules'));
  const exec = createExec({ env: process.env, clock: realClock });
  const alive = new Set<number>();
  let started = 0;
  const open: OpenProcess = async (request, signal) => {
    const child = await exec.open(request, signal);
    started++;
    alive.add(child.pid);
    void child.ended.then(() => alive.delete(child.pid));
    return child;
  };
  const context = toolContext(cwd, { exec, open, files: createLocalFiles(), ...changes });
  const extension = createLsp({ settings, watch: createWatchFiles() });
  const newTool = async () => {
    const [tool] = (await extension.tools?.()) ?? [];
    if (tool === undefined) throw new Error('there is no tool');
    return tool;
  };
  const tool = await newTool();
  return {
    cwd,
    context,
    extension,
    tool,
    newTool,
    at: (path) => join(cwd, path),
    ask: async (input, more = {}) => {
      const { content } = await tool.run(input, { ...context, ...more });
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
    running: () => [...alive],
    started: () => started,
    async [Symbol.asyncDispose]() {
      await extension.close?.(context.identity);
      await exec.sweep();
      await rm(cwd, { recursive: true, force: true });
    },
  };
}
