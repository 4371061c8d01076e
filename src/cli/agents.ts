// The agents of this command: those of the home and, where the person trusts it, of the project. Most people have none:
// then nothing that could read one is loaded.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentProfile } from '../core/agent.ts';
import { crabHome, type Environment } from './home.ts';
import type { Project } from './project.ts';

export interface AgentsRequest {
  readonly env: Environment;
  readonly cwd: string;
  readonly project: Pick<Project, 'root' | 'trusted'>;
  warn(text: string): void;
}

export function agentsFolder(env: Environment): string {
  return join(crabHome(env), 'agents');
}

/** Those of the project first, the nearest before all. */
export function agentFolders({ env, cwd, project }: Omit<AgentsRequest, 'warn'>): readonly string[] {
  const own = agentsFolder(env);
  return [...new Set([...projectFolders(cwd, project.root).filter(() => project.trusted === true), own])];
}

function projectFolders(cwd: string, root: string): readonly string[] {
  return [...new Set([cwd, root])].map((folder) => join(folder, '.crab', 'agents'));
}

/** What cannot be read is told and left out. */
export async function agentsFor(request: AgentsRequest): Promise<readonly AgentProfile[]> {
  const { cwd, project, warn, env } = request;
  if (project.trusted !== true)
    for (const folder of projectFolders(cwd, project.root))
      if (isThere(folder) && folder !== agentsFolder(env))
        warn(`${folder}: ignored, because ${project.root} is not trusted; see \`crab trust --help\``);
  const folders = agentFolders(request).filter(isThere);
  if (folders.length === 0) return [];
  const { readAgents } = await import('../parts/agents/agent-files.ts');
  const { definitions, faults } = await readAgents(folders);
  for (const fault of faults) warn(fault.replace(/\.$/, ''));
  return definitions.map(({ profile }) => profile);
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
