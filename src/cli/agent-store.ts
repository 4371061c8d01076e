// What the daemon's agents are made of: the files in the home of this machine's Crab.

import { basename } from 'node:path';
import type { AgentProfile } from '../core/agent.ts';
import type { JsonObject } from '../core/schema.ts';
import { fileOf, readAgents, removeAgent, textOf, writeAgent } from '../parts/agents/agent-files.ts';
import { tomlOf, withValues } from '../parts/agents/agent-toml.ts';
import { readDefinition } from '../parts/agents/definition.ts';
import { BUILTIN_AGENTS } from '../runtime/peers.ts';
import { agentsFolder } from './agents.ts';
import type { Environment } from './home.ts';

/** For `createAgentStore`. */
export function agentFiles(env: Environment) {
  const folder = agentsFolder(env);
  return {
    builtin: BUILTIN_AGENTS,
    own: async (): Promise<readonly AgentProfile[]> =>
      (await readAgents([folder])).definitions.map(({ profile }) => profile),
    async change(name: string, values: JsonObject): Promise<void> {
      const there = await fileOf(folder, name);
      // A head has no tables; such a file becomes one of the other kind.
      const isToml = there?.endsWith('.toml') === true;
      const before =
        there === undefined
          ? ''
          : isToml
            ? textOf(there)
            : tomlOf((await readDefinition(there, textOf(there))).profile);
      const text = withValues(before, values);
      await readDefinition(`${folder}/${name}.toml`, text);
      const file = isToml ? basename(there) : `${name}.toml`;
      writeAgent(folder, file, text, there);
    },
    async remove(name: string): Promise<boolean> {
      const path = await fileOf(folder, name);
      if (path === undefined) return false;
      removeAgent(path);
      return true;
    },
  };
}
