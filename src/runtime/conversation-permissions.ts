// What one conversation permits: the rules of its declaration, those that the person gave while it was open, and the folders
// that count as its workspace. While it is in another folder than the one that it was opened in, there are two gates, because
// what that one forbids stays forbidden.

import type { Declaration } from '../core/agent.ts';
import type { GateRequest, PermissionMode, Risk, Rule, Verdict, Withheld } from '../core/permission.ts';
import { createGate, type PermissionGate } from '../parts/permissions/gate.ts';
import type { History } from './history.ts';
import type { RuntimeHost } from './host.ts';

export interface ConversationPermissionsOptions {
  readonly host: Pick<RuntimeHost, 'files' | 'homeFolder' | 'guardedFolders'>;
  readonly declaration: Pick<Declaration, 'rules' | 'directories'>;
  /** The conversation's folder for what is too long to show. */
  readonly scratch: string;
  /** The folder that the conversation was opened in. */
  readonly home: string;
}

/** Where rules come from that were given in the conversation itself. */
export const ANSWERED = 'this session';

export class ConversationPermissions {
  readonly #options: ConversationPermissionsOptions;
  #cwd: string;
  #gate!: PermissionGate;
  /** Of the folder that the conversation was opened in, while it is in another. */
  #homeGate: PermissionGate | undefined;
  /** Rules that the person gave in answers and commands of this session. */
  #answered: Rule[] = [];
  /** Rules that the person keeps for ever, given while this conversation is open. */
  readonly #kept: Rule[] = [];
  /** Folders that were added while it is open. */
  readonly #directories: string[] = [];

  constructor(options: ConversationPermissionsOptions) {
    this.#options = options;
    this.#cwd = options.home;
  }

  /** What the session says counts from here on. */
  load({ grants, restrictions }: Pick<History, 'grants' | 'restrictions'>): void {
    this.#answered = [
      ...grants.map((text): Rule => ({ decision: 'allow', text, source: ANSWERED })),
      ...restrictions.map(({ decision, rule }): Rule => ({ decision, text: rule, source: ANSWERED })),
    ];
    this.#openGates();
  }

  goTo(cwd: string): void {
    this.#cwd = cwd;
    this.#openGates();
  }

  #openGates(): void {
    const { home } = this.#options;
    this.#gate = this.#gateOf(this.#cwd);
    this.#homeGate = this.#cwd === home ? undefined : this.#gateOf(home);
  }

  #gateOf(cwd: string): PermissionGate {
    const { host, declaration, scratch } = this.#options;
    const gate = createGate({
      cwd,
      directories: [...this.directories, scratch],
      rules: [...declaration.rules, ...this.#kept],
      resolve: (path) => host.files.resolve(path),
      ...(host.homeFolder !== undefined && { home: host.homeFolder }),
      ...(host.guardedFolders !== undefined && { guarded: host.guardedFolders }),
    });
    for (const rule of this.#answered) {
      if (rule.decision === 'allow') gate.allow(rule);
      else gate.add(rule);
    }
    return gate;
  }

  get #gates(): readonly PermissionGate[] {
    return this.#homeGate === undefined ? [this.#gate] : [this.#gate, this.#homeGate];
  }

  /** Beside the working folder. */
  get directories(): readonly string[] {
    return [...this.#options.declaration.directories, ...this.#directories];
  }

  /** What holds at this moment. */
  get held(): { readonly rules: readonly Rule[]; readonly directories: readonly string[] } {
    const { rules } = this.#options.declaration;
    return { rules: [...rules, ...this.#kept, ...this.#answered], directories: this.directories };
  }

  /**
   * `lasts`: the person keeps it for ever, and not for this session alone. Throws `CrabError` (`usage`) when it cannot be
   * read: a rule that forbids must not be left out in silence.
   */
  add(rule: Rule, lasts = false): void {
    for (const gate of this.#gates) gate.add(rule);
    (lasts ? this.#kept : this.#answered).push(rule);
  }

  /** One more folder that counts as the workspace; absolute. */
  include(folder: string): void {
    this.#directories.push(folder);
    for (const gate of this.#gates) gate.include(folder);
  }

  async check(request: GateRequest): Promise<Verdict> {
    const verdict = await this.#gate.check(request);
    if (this.#homeGate === undefined || verdict.decision === 'deny') return verdict;
    const atHome = await this.#homeGate.check(request);
    return atHome.decision === 'deny' && atHome.rule !== undefined ? atHome : verdict;
  }

  /** As in `PermissionGate`. */
  onlyReads(request: GateRequest): Promise<boolean> {
    return this.#gate.onlyReads(request);
  }

  /** As in `PermissionGate`. */
  grantFor(request: GateRequest): Promise<Rule | undefined> {
    return this.#gate.grantFor(request);
  }

  async riskOf(request: GateRequest): Promise<Risk> {
    return (await this.#gate.explain(request)).risk;
  }

  /** As in `ToolContext`, of the tool of this name. */
  async withheld(tool: string, mode: PermissionMode): Promise<Withheld | undefined> {
    const here = await this.#gate.withheld(tool, mode);
    const atHome = await this.#homeGate?.withheld(tool, mode);
    if (here === undefined || atHome === undefined) return here ?? atHome;
    const both = (path: string) => here(path) || atHome(path);
    return Object.assign(both, { byNameOnly: here.byNameOnly === true && atHome.byNameOnly === true });
  }
}
