// Everything that the extensions of a conversation contribute, gathered once when it opens: tools by every name they
// answer to, commands likewise, and what the model is shown of the tools. Two that claim one name are an error.

import type { Declaration } from '../core/agent.ts';
import type { CommandInfo } from '../core/command.ts';
import { CrabError } from '../core/errors.ts';
import type { Command, Extension } from '../core/extension.ts';
import type { ToolSchema } from '../core/model.ts';
import type { Tool } from '../core/tool.ts';
import { suggestions } from '../engine/route.ts';

export interface Catalogue {
  readonly extensions: readonly Extension[];
  /** In the order that the model sees them. */
  readonly tools: readonly Tool[];
  readonly toolsByName: ReadonlyMap<string, Tool>;
  readonly schemas: readonly ToolSchema[];
  readonly commands: readonly CommandInfo[];
  readonly runtimeCommands: ReadonlyMap<string, Command>;
  readonly commandNames: ReadonlySet<string>;
  readonly promptParts: readonly string[];
}

export async function gather(
  extensions: readonly Extension[],
  declaration: Declaration,
  channelCommands: readonly CommandInfo[],
): Promise<Catalogue> {
  const all: Tool[] = [];
  const commands: Command[] = [];
  const promptParts: string[] = [];
  for (const extension of extensions) {
    all.push(...((await extension.tools?.()) ?? []));
    commands.push(...((await extension.commands?.()) ?? []));
    const part = await extension.prompt?.();
    if (part !== undefined) promptParts.push(part);
  }
  requireTools(declaration, all);
  const tools = all.filter((tool) => isOffered(tool, declaration));
  const listed = [...commands, ...channelCommands];
  return {
    extensions,
    tools,
    toolsByName: byName(tools, 'tool'),
    schemas: tools.map(({ name, description, input }) => ({ name, description, input })),
    commands: listed.map(({ name, aliases, description, usage, side }) => ({
      name,
      aliases,
      description,
      usage,
      side,
    })),
    runtimeCommands: byName(commands, 'command'),
    commandNames: new Set(byName<CommandInfo>(listed, 'command').keys()),
    promptParts,
  };
}

/** A mistyped name would leave the model without the tool that somebody meant. */
function requireTools({ agent }: Declaration, tools: readonly Tool[]): void {
  const names = new Set(tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]));
  for (const name of agent.tools ?? []) {
    if (names.has(name)) continue;
    const near = suggestions(name, names);
    const hint = near.length > 0 ? `Did you mean ${near[0]}?` : 'Run `crab -p ,tools` for the list.';
    throw new CrabError('usage', `There is no tool ${name}.`, { hint });
  }
}

function isOffered(tool: Tool, { agent, withoutTools }: Declaration): boolean {
  const names = [tool.name, ...(tool.aliases ?? [])];
  if (names.some((name) => withoutTools.includes(name))) return false;
  return agent.tools === undefined || names.some((name) => agent.tools?.includes(name));
}

function byName<Named extends { readonly name: string; readonly aliases?: readonly string[] }>(
  all: readonly Named[],
  what: string,
): ReadonlyMap<string, Named> {
  const found = new Map<string, Named>();
  for (const each of all)
    for (const name of [each.name, ...(each.aliases ?? [])]) {
      if (found.has(name)) throw new CrabError('internal', `Two ${what}s are called ${name}.`);
      found.set(name, each);
    }
  return found;
}
