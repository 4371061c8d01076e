// What the settings and `--sandbox` say of the sandbox, with what is hidden from programs unless somebody works there:
// keys and logins of the person, and Crab's own.

import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { SANDBOX_MODES, type SandboxNetwork, type SandboxPolicy } from '../core/sandbox.ts';
import type { SandboxSettings, Settings } from '../core/settings.ts';
import type { Arguments } from './arguments.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';

/** Below the home folder. */
const SECRETS = [
  '.ssh',
  '.aws',
  '.azure',
  '.gnupg',
  '.kube',
  '.password-store',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.vault-token',
  '.docker/config.json',
  '.config/gcloud',
  '.config/gh',
  '.config/git/credentials',
  '.cargo/credentials.toml',
  '.claude/.credentials.json',
  '.codex/auth.json',
  '.local/share/keyrings',
  'Library/Keychains',
] as const;

/** Far above what a build takes, and far below what stops a machine. */
const FEWEST_PROCESSES = 1024;
const PROCESSES_OF_A_CORE = 256;

export function sandboxPolicy({
  args,
  env,
  settings,
}: {
  readonly args: Arguments;
  readonly env: Environment;
  readonly settings: Settings;
}): SandboxPolicy {
  const { sandbox = {} } = settings;
  const home = homeFolder(env);
  const { maxFileMib, maxCpuSeconds, maxProcesses = usualProcesses(), maxMemoryMib } = sandbox;
  return {
    mode: SANDBOX_MODES.find((mode) => mode === args.value('sandbox')) ?? sandbox.mode ?? 'preferred',
    writable: (sandbox.writable ?? []).map((path) => resolve(path)),
    unreadable: [...SECRETS.map((path) => join(home, path)), crabHome(env), ...(sandbox.unreadable ?? [])],
    ...(sandbox.readable !== undefined && { readable: sandbox.readable }),
    ...(sandbox.executable !== undefined && { executable: sandbox.executable }),
    network: networkOf(sandbox),
    unixSockets: sandbox.unixSockets ?? false,
    limits: {
      ...(maxFileMib !== undefined && { fileMib: maxFileMib }),
      ...(maxCpuSeconds !== undefined && { cpuSeconds: maxCpuSeconds }),
      ...(maxMemoryMib !== undefined && { memoryMib: maxMemoryMib }),
      processes: maxProcesses,
    },
    mayAskToLeave: sandbox.allowLeaving ?? true,
  };
}

function usualProcesses(): number {
  return Math.max(FEWEST_PROCESSES, PROCESSES_OF_A_CORE * availableParallelism());
}

function networkOf({ network, allowedHosts = [], privateHosts = [] }: SandboxSettings): SandboxNetwork {
  if (network === 'all') return 'all';
  const hosts = [...new Set([...allowedHosts, ...privateHosts])];
  // `none` said aloud wins over hosts of a layer below.
  return network === 'none' || hosts.length === 0 ? 'none' : { hosts, privateHosts };
}
