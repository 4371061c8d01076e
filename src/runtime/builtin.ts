// The extensions that every Crab has. They come through the same door as a person's own.

import type { Extension } from '../core/extension.ts';
import type { SessionSearch } from '../core/search.ts';
import { createFileTools } from '../parts/files/file-tools.ts';
import { createMemoryTools, type Memories } from '../parts/memory/memory-tools.ts';
import { createSearchTool } from '../parts/search/search-tool.ts';
import { createShellTool } from '../parts/shell/shell-tool.ts';
import { builtinCommands } from './commands.ts';
import { rewindCommands } from './rewind-commands.ts';

export interface BuiltinOptions {
  readonly memories: Memories;
  readonly search: SessionSearch;
}

/** The order is the order in which the model sees the tools. */
export function builtinExtensions({ memories, search }: BuiltinOptions): readonly Extension[] {
  const remembered = [...createMemoryTools(memories), createSearchTool(search)];
  const tools = [...createFileTools(), createShellTool(), ...remembered];
  return [{ name: 'tools', tools: async () => tools }, builtinCommands, rewindCommands];
}
