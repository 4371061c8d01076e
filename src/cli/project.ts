// Which project a folder belongs to, what its own settings ask for, and whether the person trusts it. Most projects have
// no settings and most people decided nothing: then nothing that could read either is loaded.

import { realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TrustState } from '../core/extension.ts';
import type { Rule } from '../core/permission.ts';
import type { PermissionSettings } from '../core/settings.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';

/** Below the folder of the project and below the one we are in; the last one wins. */
const FILES = ['.crab/config.toml', '.crab/config.local.toml'];

export interface Project {
  /** The nearest folder with a `.git`, or the one we are in; links followed. Trust is given to it. */
  readonly root: string;
  /** Its settings files that are there. */
  readonly files: readonly string[];
  /** Undefined when they say nothing. */
  readonly settings: PermissionSettings | undefined;
  /** Undefined when the person was never asked. */
  readonly trusted: boolean | undefined;
  /** What the person always allows in this very folder. */
  readonly grants: readonly Rule[];
}

/** Throws `CrabError` (`settings-invalid`). */
export async function projectOf(cwd: string, env: Environment): Promise<Project> {
  const home = crabHome(env);
  const here = real(cwd);
  const root = rootOf(here);
  const own = real(home);
  const folders = root === here ? [root] : [root, here];
  const files = folders
    .flatMap((folder) => FILES.map((name) => join(folder, name)))
    // In the home folder the file of this name is the person's own.
    .filter((path) => dirname(real(path)) !== own && isThere(path));
  const [settings, decisions] = await Promise.all([
    files.length === 0 ? undefined : readFiles(files, env),
    isThere(join(home, 'projects.toml')) ? readHome(home) : undefined,
  ]);
  const trust = decisions?.trust(root);
  return { root, files, settings, trusted: trust?.trusted, grants: decisions?.grants(here) ?? [] };
}

/** As in `RuntimeHost`. */
export async function trustOf(
  cwd: string,
  env: Environment,
  decision: boolean | undefined,
): Promise<TrustState> {
  const { root, trusted } = await projectOf(cwd, env);
  if (decision === undefined || decision === trusted) return { root, trusted };
  const { addTrust } = await import('../parts/config/decisions.ts');
  addTrust(crabHome(env), { path: root, trusted: decision }, Date.now());
  return { root, trusted: decision };
}

async function readFiles(
  files: readonly string[],
  env: Environment,
): Promise<PermissionSettings | undefined> {
  const { readProjectSettings } = await import('../parts/config/project.ts');
  return readProjectSettings(files, { homeFolder: homeFolder(env) });
}

async function readHome(home: string) {
  return (await import('../parts/config/decisions.ts')).readDecisions(home);
}

function rootOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (isThere(join(at, '.git'))) return at;
    if (dirname(at) === at) return folder;
  }
}

function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** With links followed; of what is not there, of the nearest folder that is. */
export function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return dirname(path) === path ? path : join(real(dirname(path)), path.slice(dirname(path).length));
  }
}
