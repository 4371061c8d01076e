// The permission gate: whether a call may run, must be asked about, or is refused (laws 3 and 8). The order is
// deny rules, the mode that bypasses the rest, ask rules, allow rules, the mode table. An allow rule lifts a
// question and never danger, and it lifts nothing that a mode forbids.

import { messageOf } from '../../core/errors.ts';
import type { Column, GateRequest, PermissionMode, Rule, Verdict } from '../../core/permission.ts';
import { grantRule, remedy } from './grant.ts';
import { createMatcher, type Matcher, type MatchOptions } from './match.ts';
import { decide } from './matrix.ts';
import { createPathScope } from './path-scope.ts';
import { type Survey, type Surveyor, survey } from './survey.ts';

export interface PermissionGate {
  /** Never throws: what it cannot judge it asks about. */
  check(request: GateRequest): Promise<Verdict>;
  /** Adds a rule, such as an answer of the person. One that cannot be read is left out: the question comes again. */
  allow(rule: Rule): void;
  /**
   * The narrowest rule that, once allowed, allows this request. Undefined where no rule can: danger, a deny or
   * ask rule, or a mode that forbids. Links are known only of requests that were checked.
   */
  grantFor(request: GateRequest): Promise<Rule | undefined>;
  /**
   * Tells of the files in a folder that `tool` may look through which ones a deny or ask rule keeps from it: a test of
   * absolute paths with every link followed. Undefined when no rule is about single paths.
   */
  withheld(tool: string, mode: PermissionMode): Promise<((path: string) => boolean) | undefined>;
  /** Whether a call is known to change nothing, whatever rules and modes say of it. */
  onlyReads(request: GateRequest): Promise<boolean>;
}

export interface GateOptions {
  /** The workspace; absolute. */
  readonly cwd: string;
  /** Further folders that count as the workspace; absolute. */
  readonly directories: readonly string[];
  /** As `parseRules` returns them. */
  readonly rules: readonly Rule[];
  /** The path with every link followed; of what does not exist, the nearest existing folder is resolved. */
  readonly resolve: (path: string) => Promise<string>;
  readonly home?: string;
}

/** How many refused or questioned requests are remembered for `grantFor`. */
const REMEMBERED = 100;

interface Remembered {
  readonly liftable: boolean;
  /** With links followed. */
  readonly paths: readonly string[];
}

interface Judgement {
  readonly verdict: Verdict;
  /** Another allow rule would turn it into an allow. */
  readonly liftable: boolean;
}

const BYPASSED: Verdict = { decision: 'allow', reason: 'Mode bypassPermissions asks about nothing.' };

/** Throws `CrabError` `usage` when one of `rules` cannot be read. */
export function createGate(options: GateOptions): PermissionGate {
  return new RuleGate(options);
}

class RuleGate implements PermissionGate {
  readonly #options: MatchOptions;
  readonly #surveyor: Surveyor;
  readonly #denying: readonly Matcher[];
  readonly #asking: readonly Matcher[];
  readonly #allowing: Matcher[];
  readonly #remembered = new Map<string, Remembered>();

  constructor({ cwd, directories, rules, resolve, home }: GateOptions) {
    const known = home === undefined ? {} : { home };
    this.#options = { cwd, resolve, ...known };
    this.#surveyor = {
      cwd,
      scope: createPathScope({ roots: [cwd, ...directories], resolve, ...known }),
      ...known,
    };
    const matchers = rules.map((rule) => createMatcher(rule, this.#options));
    const of = (decision: Rule['decision']) => matchers.filter(({ rule }) => rule.decision === decision);
    this.#denying = of('deny');
    this.#asking = of('ask');
    this.#allowing = of('allow');
  }

  async check(request: GateRequest): Promise<Verdict> {
    // Nothing that could be found would change this, so nothing is looked up.
    if (request.mode === 'bypassPermissions' && this.#denying.length === 0) return BYPASSED;
    try {
      const surveyed = await survey(request, this.#surveyor);
      const { verdict, liftable } = await this.#judge(request, surveyed);
      if (verdict.decision !== 'allow')
        this.#remember(request, { liftable, paths: surveyed.touches.map(({ place }) => place.path) });
      return verdict;
    } catch (error) {
      const message = messageOf(error);
      const decision = request.mode === 'plan' || request.mode === 'dontAsk' ? 'deny' : 'ask';
      return {
        decision,
        reason: `What ${request.tool} would do could not be judged: ${message}.`,
        column: 'outside',
      };
    }
  }

  allow(rule: Rule): void {
    try {
      this.#allowing.push(createMatcher({ ...rule, decision: 'allow' }, this.#options));
    } catch {
      // A grant of an older or damaged session must not keep the session from opening.
    }
  }

  async grantFor(request: GateRequest): Promise<Rule | undefined> {
    const known = this.#remembered.get(keyOf(request));
    if (known?.liftable === false) return undefined;
    return grantRule(request, { ...this.#options, ...(known !== undefined && { paths: known.paths }) });
  }

  async withheld(tool: string, mode: PermissionMode): Promise<((path: string) => boolean) | undefined> {
    const restricting = mode === 'bypassPermissions' ? this.#denying : [...this.#denying, ...this.#asking];
    const found = await Promise.all(restricting.map((matcher) => matcher.withheld(tool)));
    const tests = found.filter((test) => test !== undefined);
    return tests.length === 0 ? undefined : (path) => tests.some((test) => test(path));
  }

  async onlyReads(request: GateRequest): Promise<boolean> {
    try {
      return readsOnly(request, await survey(request, this.#surveyor));
    } catch {
      return false;
    }
  }

  async #judge(request: GateRequest, surveyed: Survey): Promise<Judgement> {
    const { mode, tool } = request;
    const denying = await firstRestricting(this.#denying, request, surveyed);
    if (denying !== undefined) {
      const reason = `tool '${tool}' is denied by policy: the rule ${denying.text} (${denying.source}) forbids this in every mode.`;
      return { verdict: { decision: 'deny', reason, rule: denying }, liftable: false };
    }
    const { column, fact } = surveyed;
    if (column === undefined) return { verdict: { decision: 'allow', reason: `${fact}.` }, liftable: false };
    if (mode === 'bypassPermissions') return { verdict: BYPASSED, liftable: false };
    const asking = await firstRestricting(this.#asking, request, surveyed);
    if (asking !== undefined) return { verdict: askedByRule(asking, request, column), liftable: false };
    const hidden = [...this.#denying, ...this.#asking].find((matcher) =>
      matcher.mayRestrict(request, surveyed),
    );
    if (hidden !== undefined) return { verdict: askedForPattern(hidden.rule, request), liftable: false };
    return this.#byAllowRulesAndMode(request, surveyed, column);
  }

  async #byAllowRulesAndMode(request: GateRequest, surveyed: Survey, column: Column): Promise<Judgement> {
    const { mode } = request;
    const byCommand = request.access.kind === 'command';
    const { fact } = surveyed;
    const decision = decide(mode, column, byCommand);
    if (decision === 'allow')
      return {
        verdict: { decision, reason: `${capital(fact)}, which mode ${mode} allows.`, column },
        liftable: false,
      };
    // Plan mode reads and does nothing else; a rule may widen where it reads.
    const forbidden = mode === 'plan' && !readsOnly(request, surveyed);
    const liftable = column !== 'dangerous' && !forbidden;
    const rule = liftable ? await this.#allowingRule(request, surveyed) : undefined;
    if (rule !== undefined) {
      const reason = `The rule ${rule.text} (${rule.source}) allows this.`;
      return { verdict: { decision: 'allow', reason, rule }, liftable: false };
    }
    const way = forbidden ? '' : await remedy(request, column, liftable, this.#options);
    const reason = forbidden
      ? `${capital(fact)}, and plan mode only reads: leave plan mode to do this.`
      : `${capital(fact)}; ${nobodyAsked(mode)}${way} would allow it.`;
    return { verdict: { decision, reason, column }, liftable };
  }

  /** One rule that covers the whole request, or the first of several that together cover every part of a command. */
  async #allowingRule(request: GateRequest, surveyed: Survey): Promise<Rule | undefined> {
    for (const matcher of this.#allowing) if (await matcher.covers(request, surveyed)) return matcher.rule;
    if (surveyed.doubt !== undefined) return undefined;
    let first: Rule | undefined;
    for (const { part, column } of surveyed.parts) {
      if (decide(request.mode, column, true) === 'allow') continue;
      const matcher = this.#allowing.find((candidate) => candidate.coversPart(request, part));
      if (matcher === undefined) return undefined;
      first ??= matcher.rule;
    }
    // Rules for the parts say nothing of a folder outside; one for the whole command does.
    return surveyed.outsideFolder ? undefined : first;
  }

  #remember(request: GateRequest, what: Remembered): void {
    const key = keyOf(request);
    this.#remembered.delete(key);
    this.#remembered.set(key, what);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > REMEMBERED && oldest !== undefined) this.#remembered.delete(oldest);
  }
}

async function firstRestricting(
  matchers: readonly Matcher[],
  request: GateRequest,
  surveyed: Survey,
): Promise<Rule | undefined> {
  for (const matcher of matchers) if (await matcher.restricts(request, surveyed)) return matcher.rule;
  return undefined;
}

/** A rule that asks only lowers the verdict: where the mode forbids, or nobody is asked, it stays a refusal. */
function askedByRule(rule: Rule, { mode }: GateRequest, column: Column): Verdict {
  const why = `The rule ${rule.text} (${rule.source}) wants this to be asked about`;
  if (mode === 'dontAsk')
    return {
      decision: 'deny',
      reason: `${why}, and mode dontAsk asks nobody: use another --permission-mode.`,
      rule,
    };
  if (mode === 'plan' && column !== 'read')
    return {
      decision: 'deny',
      reason: `${why}, and plan mode only reads: leave plan mode to do this.`,
      rule,
    };
  return { decision: 'ask', reason: `${why}; without that rule the mode decides.`, rule };
}

function askedForPattern(rule: Rule, { mode }: GateRequest): Verdict {
  const decision = mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask';
  const reason = `The command may reach a file that the rule ${rule.text} (${rule.source}) is about; name the files one by one.`;
  return { decision, reason, rule };
}

function readsOnly({ access }: GateRequest, { parts, doubt }: Survey): boolean {
  if (access.kind === 'read') return true;
  return (
    access.kind === 'command' && doubt === undefined && parts.every(({ part }) => part.effect === 'read')
  );
}

function nobodyAsked(mode: GateRequest['mode']): string {
  return mode === 'dontAsk' ? 'mode dontAsk asks nobody, and ' : '';
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function keyOf({ tool, access, mode }: GateRequest): string {
  return JSON.stringify([tool, mode, access]);
}
