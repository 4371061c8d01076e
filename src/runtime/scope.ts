// What an agent may reach. Its declaration is the grant (law 8): what it does not name is not there for it, neither to
// see nor to call, under whatever name.

import type { Agent, Declaration } from '../core/agent.ts';
import type { Peer, Tool } from '../core/tool.ts';

export type NamedTool = Pick<Tool, 'name' | 'aliases'>;

export function namesOf({ name, aliases = [] }: NamedTool): readonly string[] {
  return [name, ...aliases];
}

/** `*` stands for any letters. */
export function isNamed(tool: NamedTool, patterns: readonly string[]): boolean {
  return namesOf(tool).some((name) => patterns.some((pattern) => matches(pattern, name)));
}

function matches(pattern: string, name: string): boolean {
  if (!pattern.includes('*')) return pattern === name;
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(name);
}

/**
 * Names that the agent's definition has and that are those of no tool. A pattern that grants nothing is one of them, as of a
 * server that there is not; one that takes nothing away does no harm. Of its own servers the definition itself tells.
 */
export function unknownTools(
  { tools = [], withoutTools = [], mcps = {} }: Agent,
  all: readonly NamedTool[],
): readonly string[] {
  const told = new Set(Object.keys(mcps).map((name) => `mcp__${name}__*`));
  return [...tools, ...withoutTools.filter((name) => !name.includes('*'))].filter(
    (name) => !told.has(name) && !all.some((tool) => isNamed(tool, [name])),
  );
}

export function isInScope(
  tool: NamedTool,
  { agent, withoutTools, onlyTools }: Pick<Declaration, 'agent' | 'withoutTools' | 'onlyTools'>,
): boolean {
  if (isNamed(tool, withoutTools)) return false;
  if (agent.withoutTools !== undefined && isNamed(tool, agent.withoutTools)) return false;
  const granted = agent.tools === undefined || isNamed(tool, agent.tools);
  return granted && (onlyTools === undefined || isNamed(tool, onlyTools));
}

/** Empty where nothing is scoped. */
export function scopeBlock({ tools, skills }: Agent, inScope: readonly NamedTool[]): string {
  const lines = [
    ...(tools === undefined ? [] : [`tools: ${inScope.map(({ name }) => name).join(', ') || 'none'}`]),
    ...(skills === undefined ? [] : [`skills: ${skills.join(', ') || 'none'}`]),
  ];
  if (lines.length === 0) return '';
  return `<scope>\nYou may use these and nothing else; anything outside is refused.\n${lines.join('\n')}\n</scope>`;
}

/** Empty where there is nobody. */
export function agentsBlock(peers: readonly Peer[]): string {
  if (peers.length === 0) return '';
  const lines = peers.map(({ name, description }) => `- ${name}: ${description.replace(/\s+/g, ' ').trim()}`);
  return `<agents>\nYou can give these agents tasks with delegate:\n${lines.join('\n')}\n</agents>`;
}
