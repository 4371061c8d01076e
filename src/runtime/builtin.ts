// The extensions that every Crab has. They come through the same door as a person's own.

import type { Extension } from '../core/extension.ts';
import { createFileTools } from '../parts/files/file-tools.ts';
import { createMemoryTools, type Memories } from '../parts/memory/memory-tools.ts';
import { createShellTool } from '../parts/shell/shell-tool.ts';
import { builtinCommands } from './commands.ts';
import { rewindCommands } from './rewind-commands.ts';

/** The order is the order in which the model sees the tools. */
export function builtinExtensions({ memories }: { readonly memories: Memories }): readonly Extension[] {
  const tools = [...createFileTools(), createShellTool(), ...createMemoryTools(memories)];
  return [{ name: 'tools', tools: async () => tools }, builtinCommands, rewindCommands];
}
