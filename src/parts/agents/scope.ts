// The tools that a definition grants. One that names tools grants those, one that only names skills the few that skills
// are carried out with; whoever may remember can recall, the servers that it brings are for it to use, and everybody may
// pass a task on: to whom is the scope of the one that it is passed to, which is never wider for a worker. What a
// definition takes away is away, whatever it grants.

import type { Agent } from '../../core/agent.ts';

export interface Grants {
  /** Empty for no restriction. */
  readonly tools: readonly string[];
  readonly withoutTools: readonly string[];
  readonly skills: readonly string[];
  /** Names of servers. */
  readonly mcps: readonly string[];
  readonly memory: boolean;
}

const BASE_TOOLS = ['bash', 'ask_user', 'read', 'edit'];
const MEMORY_TOOLS = ['remember', 'forget', 'recall'];

type Scope = Pick<Agent, 'tools' | 'withoutTools'>;

export function scopeOf({ tools, withoutTools, skills, mcps, memory }: Grants): Scope {
  const isOpen = tools.length === 0 && skills.length === 0;
  const away = [...withoutTools, ...(isOpen && !memory ? MEMORY_TOOLS : [])];
  const without = away.length > 0 && { withoutTools: [...new Set(away)] };
  if (isOpen) return { ...without };
  const own = tools.length > 0 ? tools : BASE_TOOLS;
  const servers = mcps.map((name) => `mcp__${name}__*`);
  const all = [...own, ...servers, ...(memory ? MEMORY_TOOLS : []), 'delegate'];
  return { tools: [...new Set(all)], ...without };
}

/** What of a scope a definition says in so many words: `scopeOf` makes the same scope of it. */
export function saidOf({ tools, withoutTools = [] }: Scope): Scope & { readonly memory: boolean } {
  const memory = tools === undefined ? !hasMemory(withoutTools) : hasMemory(tools);
  const away =
    tools === undefined && !memory ? withoutTools.filter((one) => !MEMORY_TOOLS.includes(one)) : withoutTools;
  return {
    ...(tools !== undefined && { tools }),
    ...(away.length > 0 && { withoutTools: away }),
    memory,
  };
}

function hasMemory(names: readonly string[]): boolean {
  return MEMORY_TOOLS.every((name) => names.includes(name));
}
