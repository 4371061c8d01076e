// The sandbox of this process: which backend holds here, found out once and again after it failed. Whoever confines asks
// it each time, so that a backend that breaks meanwhile is not believed in.

import type { Exec, OpenProcess } from '../../core/host.ts';
import type { Backend } from './backend.ts';
import { bubblewrap, RUN_FOLDERS } from './bubblewrap.ts';
import { landlock } from './landlock.ts';
import { NOT_SHARED } from './network.ts';
import { probe } from './probe.ts';
import { existing, findProgram, WINDOWS_FOLDERS } from './programs.ts';
import { architectureOf, type FilterOptions, seccompProgram } from './seccomp.ts';

export interface Candidate {
  readonly name: string;
  readonly holds: boolean;
  /** Why it does not. */
  readonly reason?: string;
}

export interface Found {
  readonly backend?: Backend;
  /** Of those that were tried, the first of which is used. */
  readonly holding: readonly Backend[];
  /** In the order in which they were tried; those behind the first that holds were not. */
  readonly candidates: readonly Candidate[];
}

export interface Sandbox {
  /** The first backend that holds. Never rejects. */
  find(): Promise<Found>;
  /** What was found is not believed any more. */
  distrust(): void;
  /** Every backend that this system could have, tried anew. */
  survey(): Promise<Found>;
}

export interface SandboxOptions {
  readonly exec: Exec;
  readonly open: OpenProcess;
  /** The system's folder for temporary files. */
  readonly temporary: string;
  readonly platform?: string;
  readonly architecture?: string;
  /** Folders in which programs are looked for. */
  readonly programs?: readonly string[];
  /** In place of the one for this machine. */
  readonly filter?: (options: FilterOptions) => Uint8Array;
  /** The name of the one backend that may be used. */
  readonly only?: string;
}

type Made = { readonly backend: Backend } | { readonly reason: string };

export function createSandbox(options: SandboxOptions): Sandbox {
  let finding: Promise<Found> | undefined;
  const search = async (all: boolean): Promise<Found> => {
    const candidates: Candidate[] = [];
    const holding: Backend[] = [];
    for (const { name, make } of makers(options)) {
      if (options.only !== undefined && options.only !== name) continue;
      const made = await make();
      const tried = 'reason' in made ? made : await held(made.backend, options);
      candidates.push({
        name,
        holds: 'backend' in tried,
        ...('reason' in tried && { reason: tried.reason }),
      });
      if ('reason' in tried) continue;
      holding.push(tried.backend);
      if (!all) break;
    }
    const { only } = options;
    if (only !== undefined && candidates.length === 0)
      candidates.push({ name: only, holds: false, reason: 'it is not for this system' });
    const [backend] = holding;
    return { candidates, holding, ...(backend !== undefined && { backend }) };
  };
  return {
    find() {
      finding ??= search(false);
      return finding;
    },
    distrust() {
      finding = undefined;
    },
    survey: () => search(true),
  };
}

/** One that can let programs share a network, and does not hold in one, may hold where each has its own. */
async function held(backend: Backend, options: SandboxOptions): Promise<Made> {
  if (await holdsInNetwork(backend, options)) return { backend };
  const { makeNetwork, ...alone } = backend;
  const reason = await probe(alone, options);
  if (reason !== undefined) return { reason };
  return { backend: makeNetwork === undefined ? alone : { ...alone, gaps: [...alone.gaps, NOT_SHARED] } };
}

async function holdsInNetwork(
  { makeNetwork, ...backend }: Backend,
  options: SandboxOptions,
): Promise<boolean> {
  const network = await makeNetwork?.().catch(() => undefined);
  if (network === undefined) return false;
  try {
    return (await probe(backend, { ...options, network })) === undefined;
  } finally {
    network.close();
  }
}

interface Maker {
  readonly name: Backend['name'];
  make(): Promise<Made>;
}

/** In the order in which they are tried. */
function makers(options: SandboxOptions): readonly Maker[] {
  const { platform = process.platform } = options;
  if (platform === 'linux')
    return [
      { name: 'bubblewrap', make: () => makeBubblewrap(options) },
      { name: 'landlock', make: () => makeLandlock(options) },
    ];
  if (platform === 'darwin') return [{ name: 'seatbelt', make: () => makeSeatbelt(options) }];
  if (platform === 'win32') return [{ name: 'wsl', make: () => makeWsl(options) }];
  return [];
}

async function makeBubblewrap(options: SandboxOptions): Promise<Made> {
  const program = findProgram('bwrap', options.programs);
  if (program === undefined) return { reason: 'bwrap is not installed (the package is bubblewrap)' };
  const filter = filterOf(options);
  if (filter === undefined) return { reason: `no filter of system calls for ${process.arch}` };
  const run = { cwd: '/', timeoutMs: 10_000 };
  const help = await options
    .exec({ ...run, argv: [program, '--help'] }, new AbortController().signal)
    .catch(() => undefined);
  const disablesNamespaces = help?.stdout.text.includes('--disable-userns') === true;
  const runFolders = existing(RUN_FOLDERS);
  const nsenter = findProgram('nsenter', options.programs);
  const sharing = nsenter !== undefined && { sharing: { nsenter, open: options.open } };
  return { backend: bubblewrap({ program, disablesNamespaces, runFolders, filter, ...sharing }) };
}

async function makeLandlock(options: SandboxOptions): Promise<Made> {
  const perl = findProgram('perl', options.programs);
  if (perl === undefined) return { reason: 'perl is not installed' };
  const filter = filterOf(options);
  const architecture = architectureOf(options.architecture ?? process.arch);
  if (filter === undefined || architecture === undefined)
    return { reason: `no filter of system calls for ${process.arch}` };
  const argv = [perl, '-e', 'print syscall(444, 0, 0, 1)'];
  const asked = await options
    .exec({ argv, cwd: '/', timeoutMs: 10_000 }, new AbortController().signal)
    .catch(() => undefined);
  const abi = Number(asked?.stdout.text ?? -1);
  if (!(abi >= 3)) return { reason: 'this kernel has no Landlock of version 3 or later' };
  return { backend: landlock({ perl, abi, architecture, filter }) };
}

async function makeSeatbelt(options: SandboxOptions): Promise<Made> {
  const program = findProgram('sandbox-exec', options.programs);
  if (program === undefined) return { reason: 'sandbox-exec is not there' };
  const { seatbelt } = await import('./seatbelt.ts');
  return { backend: seatbelt({ program }) };
}

async function makeWsl(options: SandboxOptions): Promise<Made> {
  const { programs = WINDOWS_FOLDERS, exec } = options;
  const program = findProgram('wsl.exe', programs);
  if (program === undefined) return { reason: 'WSL is not installed' };
  const filter = filterOf(options);
  if (filter === undefined) return { reason: `no filter of system calls for ${process.arch}` };
  const argv = [program, '--cd', '/', '--exec', 'bwrap', '--help'];
  // The machine behind it is started with the first program.
  const help = await exec(
    { argv, cwd: options.temporary, timeoutMs: 30_000 },
    new AbortController().signal,
  ).catch(() => undefined);
  if (help?.exitCode !== 0) return { reason: 'bwrap does not answer in WSL (the package is bubblewrap)' };
  const disablesNamespaces = help.stdout.text.includes('--disable-userns');
  const { wsl } = await import('./wsl.ts');
  return { backend: wsl({ program, disablesNamespaces, filter }) };
}

function filterOf({ filter, architecture }: SandboxOptions): SandboxOptions['filter'] {
  const machine = architectureOf(architecture ?? process.arch);
  if (filter !== undefined || machine === undefined) return filter;
  return (wanted) => seccompProgram(machine, wanted);
}
