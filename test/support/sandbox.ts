// A confinement over real programs and files in a folder of its own, for the tests and the campaign of this room.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Clock, ExecRequest, ExecResult } from '../../src/core/host.ts';
import type { SandboxPolicy, SandboxViolation } from '../../src/core/sandbox.ts';
import { createLocalFiles } from '../../src/parts/files/local-files.ts';
import { createExec, type HostExec } from '../../src/parts/process/exec.ts';
import type { Backend } from '../../src/parts/sandbox/backend.ts';
import { type Confinement, type ConfineOptions, createConfinement } from '../../src/parts/sandbox/confine.ts';
import { createSandbox, type Sandbox, type SandboxOptions } from '../../src/parts/sandbox/sandbox.ts';

export const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal && { signal }),
};

export const REQUIRED: SandboxPolicy = {
  mode: 'required',
  writable: [],
  unreadable: [],
  network: 'none',
  unixSockets: false,
  limits: {},
  mayAskToLeave: false,
};

/** Backends that could be here; one that does not hold is told of by the test that wants it. */
export const LINUX_BACKENDS: readonly Backend['name'][] = ['bubblewrap', 'landlock'];

export interface Ground extends AsyncDisposable {
  /** The workspace. */
  readonly cwd: string;
  /** Outside, and not to be written. */
  readonly outside: string;
  readonly exec: HostExec;
  readonly sandbox: Sandbox;
  readonly confinement: Confinement;
  /** Of another conversation in the same workspace. */
  another(): Confinement;
  readonly violations: SandboxViolation[];
  /** Runs a script of bash in the workspace. */
  run(script: string, options?: Partial<Pick<ExecRequest, 'unconfined' | 'argv'>>): Promise<ExecResult>;
}

export interface GroundOptions {
  readonly policy?: Partial<SandboxPolicy>;
  readonly sandbox?: Partial<SandboxOptions>;
  /** Changes what was found, as a backend with a hole would. */
  readonly alter?: (sandbox: Sandbox) => Sandbox;
  readonly permitted?: readonly string[];
  /** Called with the folder that holds everything, before the confinement is made. */
  readonly prepare?: (cwd: string) => void;
}

export function createGround({
  policy = {},
  sandbox: given = {},
  alter = (sandbox) => sandbox,
  permitted = [],
  prepare = () => {},
}: GroundOptions = {}): Ground {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'crab-ground-')));
  const at = (name: string) => join(base, name);
  for (const name of ['workspace', 'outside', 'scratch', 'kept', 'temporary']) mkdirSync(at(name));
  writeFileSync(at('outside/secret'), 'the secret');
  prepare(at('workspace'));
  const exec = createExec({ env: process.env, clock });
  const sandbox = alter(createSandbox({ exec, open: exec.open, temporary: at('temporary'), ...given }));
  const violations: SandboxViolation[] = [];
  const options: ConfineOptions = {
    sandbox,
    policy: { ...REQUIRED, ...policy },
    cwd: at('workspace'),
    directories: [],
    exec,
    open: exec.open,
    files: createLocalFiles(),
    scratch: async () => at('scratch'),
    kept: async () => at('kept'),
    bridge: [process.execPath, fileURLToPath(new URL('sandbox-bridge.ts', import.meta.url))],
    isPermitted: (path) => permitted.includes(path),
  };
  const confinement = createConfinement(options);
  const confined = confinement.confined((violation) => violations.push(violation));
  return {
    cwd: at('workspace'),
    outside: at('outside'),
    exec,
    sandbox,
    confinement,
    another: () => createConfinement(options),
    violations,
    run: (script, options = {}) =>
      confined.exec(
        {
          argv: ['bash', '--noprofile', '--norc', '-c', `exec 2>&1\n${script}`],
          cwd: at('workspace'),
          timeoutMs: 30_000,
          ...options,
        },
        new AbortController().signal,
      ),
    async [Symbol.asyncDispose]() {
      await exec.sweep();
      confinement.close();
      rmSync(base, { recursive: true, force: true });
    },
  };
}
