// The token for a Crab elsewhere: in a variable, in a file, or as `crab auth login remote:NAME` stored it. Never on the
// command line, where every user of the machine could read it.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { CrabError, messageOf } from '../core/errors.ts';
import type { RemoteSettings } from '../core/settings.ts';
import { systemClock } from './clock.ts';
import { lockCredentials } from './file-lock.ts';
import { crabHome, type Environment } from './home.ts';

/** What it is stored under. */
export function remoteAccount(name: string): string {
  return `remote:${name}`;
}

/** Throws `CrabError` (`auth-missing`, `auth-failed`, `settings-invalid`). */
export async function remoteToken(
  name: string,
  { tokenEnv, tokenFile }: RemoteSettings,
  env: Environment,
): Promise<string> {
  if (tokenEnv !== undefined) {
    const token = env[tokenEnv]?.trim();
    if (token) return token;
    const what = `The token of ${name} should be in ${tokenEnv}, which is not set.`;
    throw new CrabError('auth-missing', what, { hint: `Set ${tokenEnv}.` });
  }
  if (tokenFile !== undefined) return tokenIn(tokenFile);
  const token = await storedToken(name, env);
  if (token !== undefined) return token;
  throw new CrabError('auth-missing', `There is no token for ${name}.`, {
    hint: `Store one with \`crab auth login ${remoteAccount(name)}\`, or name token_env or token_file in [remotes.${name}].`,
  });
}

/** Throws `settings-invalid`. */
export function tokenIn(path: string): string {
  let token: string;
  try {
    token = readFileSync(resolve(path), 'utf8').trim();
  } catch (cause) {
    throw new CrabError('settings-invalid', `The token in ${path} cannot be read: ${messageOf(cause)}.`, {
      cause,
    });
  }
  // Anything else would be cut, or would be a header of its own.
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  throw new CrabError('settings-invalid', `${path} holds no token: one line of letters and digits.`);
}

async function storedToken(name: string, env: Environment): Promise<string | undefined> {
  const [{ openStore }, { createExec }] = await Promise.all([
    import('../parts/auth/open-store.ts'),
    import('../parts/process/exec.ts'),
  ]);
  const exec = createExec({ env, clock: systemClock });
  const home = crabHome(env);
  const store = openStore({ home, exec, lock: lockCredentials, platform: process.platform });
  const entry = await store.read(remoteAccount(name));
  return entry?.type === 'api_key' ? entry.key : undefined;
}
