// The settings of this command. Most people have no file of them: then nothing that could read one is loaded.

import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NO_SETTINGS, type Settings } from '../core/settings.ts';
import type { Arguments } from './arguments.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';

export interface SettingsRequest {
  /** Absent for a subcommand, which has flags of its own. */
  readonly args?: Arguments;
  readonly env: Environment;
  warn(text: string): void;
}

/** Throws `CrabError` (`settings-invalid`). */
export async function loadSettings({ args, env, warn }: SettingsRequest): Promise<Settings> {
  const files = (args?.values('config') ?? []).map((path) => resolve(path));
  const profile = args?.value('profile') ?? (env['CRAB_PROFILE'] || undefined);
  const home = crabHome(env);
  if (files.length === 0 && profile === undefined && !isThere(join(home, 'config.toml'))) return NO_SETTINGS;
  const { readSettings } = await import('../parts/config/settings.ts');
  return readSettings({ home, homeFolder: homeFolder(env), env, files, ...(profile && { profile }), warn });
}

/** A home that cannot be looked into is told of by what must write there; here it means that there are no settings. */
function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
