// What it means to speak with an agent of one's own: its definition becomes part of the declaration. What the person says
// with a command wins where both choose, and narrows where both bound.

import type { AgentProfile, Declaration } from '../core/agent.ts';
import { type PermissionMode, stricterMode } from '../core/permission.ts';
import type { Prompt } from '../core/platform.ts';

/** The declaration of a conversation with this agent. */
export function asAgent(
  declaration: Declaration,
  { agent, prompt, mode, limits = {} }: AgentProfile,
): Declaration {
  const given = declaration.agent;
  const { system = prompt } = declaration.instructions;
  const most: PermissionMode | undefined = mode;
  const turns = least(declaration.limits.turns, limits.turns);
  const maxTokens = least(declaration.limits.maxTokens, limits.maxTokens);
  const runUsd = least(declaration.limits.budget?.runUsd, limits.runUsd);
  return {
    ...declaration,
    agent: { ...agent, ...given, name: agent.name, ...(agent.tools !== undefined && { tools: agent.tools }) },
    mode: stricterMode(declaration.mode, most),
    ...(most !== undefined && { modeCeiling: stricterMode(most, declaration.modeCeiling) }),
    limits: {
      ...declaration.limits,
      ...(turns !== undefined && { turns }),
      ...(maxTokens !== undefined && { maxTokens }),
      budget: { ...declaration.limits.budget, ...(runUsd !== undefined && { runUsd }) },
    },
    instructions: { ...declaration.instructions, ...(system !== '' && { system }) },
  };
}

function least(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}

/** `@name text` is for a guest, where there is an agent of that name. */
export function promptFor(text: string, agents: readonly string[]): Prompt {
  const [, name = '', words = ''] = /^@([\w.-]+)[\s:,]+(\S.*)$/s.exec(text.trimStart()) ?? [];
  const guest = agents.find((known) => known.toLowerCase() === name.toLowerCase());
  return guest === undefined ? { text } : { text: words, guest };
}
