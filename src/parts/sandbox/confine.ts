// One policy for every writer of a conversation: what starts programs and what changes files, behind the sandbox. Where
// a policy wants confinement and nothing confines, programs are refused (`required`) or run as they are (`preferred`):
// then the gate has asked about them, which is why it is told first (`state`).

import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { ToolFailure } from '../../core/errors.ts';
import type {
  Exec,
  ExecRequest,
  ExecResult,
  Files,
  OpenProcess,
  ProcessEnd,
  ProcessRequest,
} from '../../core/host.ts';
import type { SandboxPolicy, SandboxViolation } from '../../core/sandbox.ts';
import type { Backend, Enclosure, Reach, Wrapped } from './backend.ts';
import { denialsIn } from './denials.ts';
import { executableFailure, onlyExecutable } from './executable.ts';
import { limited } from './limits.ts';
import { SharedNetwork } from './network.ts';
import { type Place, placeOf } from './place.ts';
import { isObeyedByGit, isRepository, protectedFromTools } from './protected.ts';
import type { HostProxy } from './proxy.ts';
import type { Candidate, Sandbox } from './sandbox.ts';
import { type Planted, type Snapshot, Surfaces } from './surfaces.ts';

export interface ConfineOptions {
  readonly sandbox: Sandbox;
  readonly policy: SandboxPolicy;
  readonly cwd: string;
  /** Further folders of the workspace. */
  readonly directories: readonly string[];
  readonly exec: Exec;
  readonly open: OpenProcess;
  readonly files: Files;
  /** The conversation's own folder for what is large or passing: programs may write it. */
  readonly scratch: () => Promise<string>;
  /** A folder that programs may not write. */
  readonly kept: () => Promise<string>;
  readonly home?: string;
  /** What runs `bridge.ts`: a program and its first arguments. */
  readonly bridge: readonly string[];
  /** Whether a person or a rule has said yes to writing this very path, absolute with links resolved. */
  isPermitted(path: string): boolean;
}

export interface SandboxState {
  readonly backend?: Backend['name'];
  /** What it does not keep programs from. */
  readonly gaps: readonly string[];
  /** What was tried in vain. */
  readonly missing: readonly Candidate[];
}

export type Report = (violation: SandboxViolation) => void;

/** What one call is handed in place of the host's own. */
export interface Confined {
  readonly exec: Exec;
  readonly open: OpenProcess;
  readonly files: Files;
}

export interface Confinement {
  /** Which backend confines programs here. Never rejects. */
  state(): Promise<SandboxState>;
  /** What is kept from a call is told to `report`. `files` are those of the call, the host's own unless given. */
  confined(report: Report, files?: Files): Confined;
  /** The same in another workspace: of the same conversation, and in its network. */
  moved(place: Pick<ConfineOptions, 'cwd' | 'directories'>): Confinement;
  /** Lets go of the network when nothing runs in it any more. What is started from here on has one of its own. */
  close(): void;
}

export function createConfinement(options: ConfineOptions): Confinement {
  return new PolicyConfinement(options, new SharedNetwork());
}

/** A program about to be started. */
interface Start {
  readonly backend: Backend;
  readonly wrapped: Wrapped;
  readonly before: Snapshot;
  readonly reach: Reach;
  /** It runs in the conversation's network. */
  readonly isShared: boolean;
}

class PolicyConfinement implements Confinement {
  readonly #options: ConfineOptions;
  readonly #place: Place;
  readonly #surfaces: Surfaces;
  readonly #network: SharedNetwork;
  #proxy: Promise<HostProxy> | undefined;

  constructor(options: ConfineOptions, network: SharedNetwork) {
    this.#options = options;
    this.#network = network;
    this.#place = placeOf(options);
    this.#surfaces = new Surfaces({
      roots: this.#place.writable,
      quarantine: options.kept,
      ...(options.home !== undefined && { home: options.home }),
    });
  }

  async state(): Promise<SandboxState> {
    const { backend, candidates } = await this.#options.sandbox.find();
    return {
      gaps: backend?.gaps ?? [],
      missing: candidates.filter(({ holds }) => !holds),
      ...(backend !== undefined && { backend: backend.name }),
    };
  }

  confined(report: Report, files = this.#options.files): Confined {
    return {
      exec: (request, signal) => this.#exec(request, signal, report),
      open: (request, signal) => this.#open(request, signal, report),
      files: this.#files(report, files),
    };
  }

  moved(place: Pick<ConfineOptions, 'cwd' | 'directories'>): Confinement {
    return new PolicyConfinement({ ...this.#options, ...place }, this.#network);
  }

  close(): void {
    this.#network.close();
  }

  async #exec(request: ExecRequest, signal: AbortSignal, report: Report): Promise<ExecResult> {
    const leave = this.#network.use();
    try {
      return await this.#execIn(request, signal, report);
    } finally {
      leave();
    }
  }

  async #execIn(request: ExecRequest, signal: AbortSignal, report: Report): Promise<ExecResult> {
    const { exec } = this.#options;
    const start = await this.#start(request, report);
    if (start === undefined) {
      const result = await exec(this.#unwrapped(request), signal);
      reportBounds(result, report);
      return result;
    }
    try {
      const result = await exec(this.#bounded(withWrapped(request, start.wrapped)), signal);
      this.#checkResult(start, result);
      reportBounds(result, report);
      if (result.exitCode !== 0)
        for (const denial of denialsIn(`${result.stdout.text}\n${result.stderr.text}`, {
          network: start.reach === 'none',
          shared: start.isShared,
          processes: this.#options.policy.limits.processes,
          kept: (path) => keptFrom(resolve(request.cwd, path), this.#place, start.backend),
        }))
          report(denial);
      return result;
    } finally {
      await this.#verify(start, report);
    }
  }

  #bounded<Request extends ProcessRequest>(request: Request): Request {
    const { memoryMib, processes } = this.#options.policy.limits;
    const bounds = {
      ...(memoryMib !== undefined && { memoryMib }),
      ...(processes !== undefined && { processes }),
    };
    return { ...request, bounds };
  }

  /** Not confined, and within its limits all the same. */
  #unwrapped<Request extends ProcessRequest>(request: Request): Request {
    if (process.platform === 'win32') return request;
    const argv = limited(request.argv, this.#options.policy.limits, { isBesideOthers: true });
    return this.#bounded({ ...request, argv });
  }

  async #open(request: ProcessRequest, signal: AbortSignal, report: Report) {
    const leave = this.#network.use();
    try {
      const running = await this.#openIn(request, signal, report);
      const ended = running.ended.finally(leave);
      ended.catch(() => {});
      return { ...running, ended };
    } catch (error) {
      leave();
      throw error;
    }
  }

  async #openIn(request: ProcessRequest, signal: AbortSignal, report: Report) {
    const { open } = this.#options;
    const start = await this.#start(request, report);
    const over = async (end: ProcessEnd): Promise<ProcessEnd> => {
      reportBounds(end, report);
      if (start !== undefined) await this.#verify(start, report);
      return end;
    };
    const running = await open(await this.#opening(request, start), signal);
    // Whoever hears of the end has heard before of what it was kept from.
    return { ...running, ended: running.ended.then(over) };
  }

  async #opening(request: ProcessRequest, start: Start | undefined): Promise<ProcessRequest> {
    if (start === undefined) return this.#unwrapped(request);
    const wrapped = request.terminal === undefined ? start.wrapped : await this.#withoutPipes(start.wrapped);
    return this.#bounded(withWrapped(request, wrapped));
  }

  /** Undefined where the program is to run as it is. */
  async #start(request: ProcessRequest, report: Report): Promise<Start | undefined> {
    const { policy, sandbox } = this.#options;
    if (policy.mode === 'off') return undefined;
    if (request.unconfined === true) {
      if (policy.mode === 'preferred' && policy.mayAskToLeave) return undefined;
      throw new ToolFailure(
        'The sandbox cannot be left here: the settings do not allow it. Nothing was run.',
      );
    }
    const { backend, candidates } = await sandbox.find();
    if (backend === undefined) {
      if (policy.mode === 'preferred') return undefined;
      throw new ToolFailure(`Nothing was run: ${missingText(candidates)}`);
    }
    const { readable, executable } = this.#place;
    if (!backend.narrows && (readable ?? executable) !== undefined)
      throw new ToolFailure(
        `Nothing was run: ${backend.name} cannot keep to what the settings name as readable or executable.`,
      );
    const before = this.#surfaces.snapshot();
    const enclosure = await this.#enclosure(backend, before);
    const { cwd } = request;
    const argv = executable === undefined ? request.argv : onlyExecutable(request.argv, executable);
    const isBridged = enclosure.reach === 'bridge';
    const inner = isBridged ? [...this.#options.bridge, ...argv] : argv;
    const wrapped = backend.wrap(inner, cwd, enclosure);
    return {
      backend,
      before,
      reach: enclosure.reach,
      isShared: enclosure.network !== undefined,
      wrapped: isBridged ? await this.#bridged(wrapped, report) : wrapped,
    };
  }

  async #enclosure(backend: Backend, before: Snapshot): Promise<Enclosure> {
    const { policy, scratch, files } = this.#options;
    const own = await files.resolve(await scratch());
    const temporary = join(own, 'tmp');
    const { mkdir } = await import('node:fs/promises');
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    const reach = reachOf(policy, backend);
    const network = reach === 'all' ? undefined : await this.#network.made(backend.makeNetwork);
    return {
      writable: [...this.#place.writable, own],
      hidden: this.#place.hidden,
      ...(this.#place.readable !== undefined && { readable: this.#place.readable }),
      covered: this.#surfaces.covers(before),
      temporary,
      shown: this.#shown(),
      reach,
      ...(network !== undefined && { network }),
      unixSockets: policy.unixSockets,
      limits: policy.limits,
    };
  }

  /** The bridge is Crab itself, wherever it lies. */
  #shown(): readonly string[] {
    const { bridge } = this.#options;
    return this.#place.readable === undefined
      ? bridge.flatMap(installedInTemporary)
      : bridge.flatMap(installed);
  }

  async #bridged(wrapped: Wrapped, report: Report): Promise<Wrapped> {
    const { policy } = this.#options;
    if (typeof policy.network === 'string') return wrapped;
    const { createProxy } = await import('./proxy.ts');
    this.#proxy ??= createProxy(policy.network);
    const proxy = await this.#proxy;
    const descriptors = [
      ...(wrapped.keeper?.descriptors ?? []),
      { kind: 'channel', connect: (stream: unknown) => proxy.serve(stream, report) } as const,
    ];
    return { ...wrapped, keeper: { descriptors } };
  }

  /** A program on a terminal is started with no further pipes: what it reads from one comes from a file. */
  async #withoutPipes(wrapped: Wrapped): Promise<Wrapped> {
    const { keeper, ...rest } = wrapped;
    const [first, ...others] = keeper?.descriptors ?? [];
    if (first?.kind !== 'bytes') return wrapped;
    if (others.length > 0)
      throw new ToolFailure(
        'A program on a terminal can have no network of single hosts; run it without a terminal.',
      );
    const file = join(await this.#options.kept(), 'filter');
    await this.#options.files.write(file, first.bytes);
    const argv = ['/bin/sh', '-c', 'exec 3<"$0"; exec "$@"', file, ...wrapped.argv];
    return { ...rest, argv, keeper: { descriptors: [] } };
  }

  #checkResult({ backend }: Start, result: ExecResult): void {
    if (result.exitCode === 0) return;
    const said = result.stderr.bytes > 0 ? result.stderr : result.stdout;
    const failure = backend.failure(said.text) ?? executableFailure(said.text);
    if (failure === undefined) return;
    this.#options.sandbox.distrust();
    throw new ToolFailure(
      `The sandbox (${backend.name}) could not be set up, so nothing was run: ${failure}.`,
    );
  }

  async #verify({ backend, before }: Start, report: Report): Promise<void> {
    for (const planted of await this.#surfaces.verify(before, { isCovered: backend.covers }))
      report({ what: 'planted', target: planted.path, detail: plantedText(planted) });
  }

  #files(report: Report, files: Files): Files {
    if (this.#options.policy.mode === 'off') return files;
    const check = async (path: string): Promise<string> => {
      const real = await files.resolve(path);
      const refusal = await this.#refusal(path, real);
      if (refusal === undefined) return real;
      report({ what: 'write', target: path, detail: refusal });
      throw new ToolFailure(refusal);
    };
    return {
      info: (path, options) => files.info(path, options),
      resolve: (path) => files.resolve(path),
      read: (path, range) => files.read(path, range),
      list: (path) => files.list(path),
      write: async (path, bytes) => files.write(await check(path), bytes, { resolved: true }),
      remove: async (path) => {
        await check(path);
        await files.remove(path);
      },
    };
  }

  /** What git obeys of a folder that it takes for its own by what is in it, or would with this file. */
  async #obeyedByGit(root: string, real: string): Promise<string | undefined> {
    const names = relative(root, real).split(sep);
    const isThere = async (path: string) => (await this.#options.files.info(path)) !== undefined;
    for (const [index, name] of names.entries()) {
      const folder = join(root, ...names.slice(0, index));
      // Most folders are told by one look.
      if (name !== 'HEAD' && !(await isThere(join(folder, 'HEAD')))) continue;
      const entries = new Set([name, 'HEAD']);
      for (const other of ['objects', 'commondir'])
        if (await isThere(join(folder, other))) entries.add(other);
      if (!isRepository(entries)) continue;
      const isCompleted = ['HEAD', 'objects'].includes(name) && !(await isThere(join(folder, name)));
      const steers = (await isThere(join(folder, 'config'))) || (await isThere(join(folder, 'hooks')));
      if (isObeyedByGit(name) || (isCompleted && steers)) return join(...names.slice(0, index + 1));
    }
    return undefined;
  }

  async #refusal(path: string, real: string): Promise<string | undefined> {
    const { files, policy, isPermitted, scratch } = this.#options;
    if (policy.mode === 'preferred' && isPermitted(real)) return undefined;
    const root = this.#place.writable.find((one) => isWithin(real, one));
    if (root === undefined) {
      const own = await files.resolve(await scratch());
      return isWithin(real, own)
        ? undefined
        : `${path} is outside the folders that the sandbox lets be written.`;
    }
    const guarded = protectedFromTools(relative(root, real)) ?? (await this.#obeyedByGit(root, real));
    return guarded === undefined
      ? undefined
      : `${path} is protected: ${guarded} changes what later runs by itself.`;
  }
}

/** What the sandbox keeps a program from that the person could do. */
function keptFrom(
  path: string,
  { writable, hidden, readable, executable }: Place,
  { deniesLikeOthers }: Backend,
): 'write' | 'read' | 'exec' | undefined {
  const isIn = (roots: readonly string[]) => roots.some((root) => isWithin(path, root));
  const isSeen = readable === undefined || isIn(readable) || isIn(writable);
  if (deniesLikeOthers && (!isSeen || hidden.some((one) => isWithin(path, one.path)))) return 'read';
  if (executable !== undefined && !isIn(executable) && isProgram(path)) return 'exec';
  if (!deniesLikeOthers || isIn(writable)) return undefined;
  return isPermitted(existsSync(path) ? path : dirname(path), constants.W_OK) ? 'write' : undefined;
}

function isProgram(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true && isPermitted(path, constants.X_OK);
}

function isPermitted(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function reportBounds({ exceeded }: Pick<ExecResult, 'exceeded'>, report: Report): void {
  if (exceeded !== undefined) report({ what: 'limit', target: '', detail: exceeded });
}

function withWrapped<Request extends ProcessRequest>(request: Request, wrapped: Wrapped): Request {
  return { ...request, ...wrapped, env: { ...request.env, ...wrapped.env } };
}

function reachOf({ network }: SandboxPolicy, backend: Backend): Reach {
  if (typeof network === 'string') return network;
  return network.hosts.length > 0 && backend.bridges ? 'bridge' : 'none';
}

/** Where Crab itself runs from `/tmp`, as from a checkout that somebody tries out. */
function installedInTemporary(path: string): readonly string[] {
  const [root] = /^\/tmp\/.+?(?=\/(?:node_modules|dist|src)\/)/.exec(path) ?? [];
  return root === undefined ? [] : [root];
}

/** Of a program the file, of what it runs the folder that Crab was built into, and nothing of the project around it. */
function installed(path: string, index: number): readonly string[] {
  if (!path.startsWith('/')) return [];
  return [(index > 0 && /^.+\/(?:dist|src)(?=\/)/.exec(path)?.[0]) || path];
}

function isWithin(path: string, root: string): boolean {
  return path === root || resolve(path).startsWith(root.endsWith(sep) ? root : root + sep);
}

function plantedText({ path, what, movedTo }: Planted): string {
  const did = { new: 'was made', changed: 'was changed', gone: 'was removed', astray: 'was led elsewhere' }[
    what
  ];
  const undone = what === 'new' || what === 'astray' ? 'taken away' : 'put back';
  const where = movedTo === undefined ? '' : ` (what was written is in ${movedTo})`;
  return `${path} ${did} by a program in the sandbox and ${undone}${where}: it changes what later runs by itself.`;
}

/** Why nothing confines, as one sentence. */
export function missingText(candidates: readonly Candidate[]): string {
  const reasons = candidates.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
  return `there is no sandbox on this machine (${reasons === '' ? 'no backend for this system' : reasons}).`;
}
