// The sandbox of one conversation, beside its gate: what a verdict comes to where nothing confines programs or a call
// asks to leave, and which paths somebody has said yes to. It only lowers a verdict (law 8), but for the one command
// that a person let out before.

import type { Files } from '../core/host.ts';
import type { GateRequest, Verdict } from '../core/permission.ts';
import type { SandboxPolicy } from '../core/sandbox.ts';
import type { Confined, Confinement, Report, SandboxState } from '../parts/sandbox/confine.ts';
import type { ConfineRequest, RuntimeHost } from './host.ts';

export interface ConversationSandboxOptions {
  readonly host: RuntimeHost;
  readonly request: Omit<ConfineRequest, 'isPermitted' | 'cwd' | 'directories'>;
  /** The workspace at this moment. */
  place(): Pick<ConfineRequest, 'cwd' | 'directories'>;
  /** As in `PermissionGate`. */
  onlyReads(request: GateRequest): Promise<boolean>;
}

export class ConversationSandbox {
  readonly policy: SandboxPolicy;
  readonly #options: ConversationSandboxOptions;
  /** Absolute, with links resolved. */
  readonly #permitted = new Set<string>();
  /** Commands that a person let out of the sandbox for the rest of the session, with their folders. */
  readonly #letOut = new Set<string>();
  #confinement: Promise<Confinement> | undefined;
  #isTold = false;

  constructor(options: ConversationSandboxOptions) {
    this.#options = options;
    this.policy = options.request.policy;
  }

  /** `files` are those of the call. */
  confined(report: Report, files: Files): Confined {
    const confined = async () => (await this.#loaded()).confined(report, files);
    return {
      exec: async (request, signal) => (await confined()).exec(request, signal),
      open: async (request, signal) => (await confined()).open(request, signal),
      files: {
        info: (path, options) => files.info(path, options),
        resolve: (path) => files.resolve(path),
        read: (path, range) => files.read(path, range),
        list: (path) => files.list(path),
        write: async (path, bytes) => (await confined()).files.write(path, bytes),
        remove: async (path) => (await confined()).files.remove(path),
      },
    };
  }

  async state(): Promise<SandboxState> {
    return (await this.#loaded()).state();
  }

  /** `tell` is called once, where programs go unconfined though the policy would rather have it otherwise. */
  async judge(request: GateRequest, verdict: Verdict, tell: (notice: string) => void): Promise<Verdict> {
    if (this.policy.mode === 'off' || verdict.decision === 'deny') return verdict;
    const { access } = request;
    if (access.kind === 'write' && verdict.decision === 'allow' && verdict.rule !== undefined)
      await this.permit(request);
    if (access.kind !== 'command') return verdict;
    if (access.unconfined === true) return this.#judgeLeaving(request, verdict);
    if (verdict.decision === 'ask') return verdict;
    const { backend, missing } = await this.state();
    if (backend !== undefined || this.policy.mode === 'required') return verdict;
    const reasons = missing.map(({ name, reason }) => `${name}: ${reason}`).join('; ');
    const why = `there is no sandbox on this machine${reasons === '' ? '' : ` (${reasons})`}`;
    if (!this.#isTold)
      tell(`Commands are asked about: ${why}. \`crab doctor\` tells more; --sandbox off does without.`);
    this.#isTold = true;
    if (verdict.rule !== undefined || (await this.#options.onlyReads(request))) return verdict;
    return lowered(
      request,
      `Nothing would confine this command, because ${why}; a rule that names it or --sandbox off would allow it.`,
    );
  }

  #judgeLeaving(request: GateRequest, verdict: Verdict): Verdict {
    const { mode, mayAskToLeave } = this.policy;
    if (mode === 'required' || !mayAskToLeave)
      return {
        decision: 'deny',
        reason: 'The settings let no command leave the sandbox; run it without dangerously_disable_sandbox.',
      };
    if (request.mode === 'bypassPermissions') return verdict;
    if (this.#letOut.has(keyOf(request)) && verdict.decision !== 'deny')
      return { decision: 'allow', reason: 'An answer of this session lets this command out of the sandbox.' };
    return lowered(request, 'It wants to run outside the sandbox, with all your rights.');
  }

  /** A person, or a rule, has said yes to this very call. */
  async permit({ access }: GateRequest): Promise<void> {
    if (access.kind !== 'write') return;
    for (const path of access.paths) this.#permitted.add(await this.#options.host.files.resolve(path));
  }

  /** True when the answer was about leaving the sandbox: it is no rule for the command inside. */
  remember(request: GateRequest): boolean {
    if (request.access.kind !== 'command' || request.access.unconfined !== true) return false;
    this.#letOut.add(keyOf(request));
    return true;
  }

  /** The workspace is another: programs that start from here on are confined to it. */
  moved(): void {
    const { place } = this.#options;
    this.#confinement = this.#confinement?.then((confinement) => confinement.moved(place()));
    // Whoever needs it hears of it.
    this.#confinement?.catch(() => {});
  }

  /** Nothing is started from here on. Never rejects. */
  async close(): Promise<void> {
    (await this.#confinement?.catch(() => undefined))?.close();
  }

  #loaded(): Promise<Confinement> {
    const { host, request, place } = this.#options;
    const isPermitted = (path: string) => this.#permitted.has(path);
    this.#confinement ??= host.confine({ ...request, ...place(), isPermitted });
    return this.#confinement;
  }
}

function lowered({ mode }: GateRequest, reason: string): Verdict {
  return { decision: mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask', reason };
}

function keyOf({ access }: GateRequest): string {
  return access.kind === 'command' ? `${access.cwd}\0${access.command}` : '';
}
