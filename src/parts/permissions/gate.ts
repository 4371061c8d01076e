// The permission gate: whether a call may run, must be asked about, or is refused (laws 3 and 8). The order is
// deny rules, the mode that bypasses the rest, ask rules, secrets, allow rules, the mode table. An allow rule lifts a
// question and never danger, and it lifts nothing that a mode forbids; one about secrets has to name them.

import { messageOf } from '../../core/errors.ts';
import type {
  Badge,
  Column,
  GateRequest,
  PermissionMode,
  Risk,
  Rule,
  Verdict,
  Withheld,
} from '../../core/permission.ts';
import { type GrantOptions, grantRule, remedy } from './grant.ts';
import { type Guard, guarded, secretsIn } from './guard.ts';
import { createMatcher, type Matcher, type MatchOptions } from './match.ts';
import { decide } from './matrix.ts';
import { createPathScope } from './path-scope.ts';
import { effectOf, readsOnly, riskOf } from './risk.ts';
import { isSecretFile } from './secret-files.ts';
import { type Survey, type Surveyor, shorten, survey } from './survey.ts';

export interface PermissionGate {
  /** Never throws: what it cannot judge it asks about. */
  check(request: GateRequest): Promise<Verdict>;
  /** Adds a rule, such as an answer of the person. One that cannot be read is left out: the question comes again. */
  allow(rule: Rule): void;
  /** Adds a rule of any kind. Throws `CrabError` (`usage`) when it cannot be read. */
  add(rule: Rule): void;
  /** One more folder that counts as the workspace; absolute. */
  include(folder: string): void;
  /**
   * The narrowest rule that, once allowed, allows this request. Undefined where no rule can: danger, a deny or
   * ask rule, or a mode that forbids. Links are known only of requests that were checked.
   */
  grantFor(request: GateRequest): Promise<Rule | undefined>;
  /**
   * Tells of the files in a folder that `tool` may look through which ones a deny or ask rule, or their name, keeps
   * from it. Undefined when nothing is kept from it.
   */
  withheld(tool: string, mode: PermissionMode): Promise<Withheld | undefined>;
  /** The verdict, and what the call is known to do whatever rules and modes say. Never throws. */
  explain(request: GateRequest): Promise<Explanation>;
  /** Whether there is an allow rule of this very text. */
  has(text: string): boolean;
  /** Whether a call is known to change nothing, whatever rules and modes say of it. */
  onlyReads(request: GateRequest): Promise<boolean>;
}

export interface Explanation {
  readonly verdict: Verdict;
  readonly risk: Risk;
  /** Of a command: its parts, with a clause each that says what was found. Empty for everything else. */
  readonly parts: readonly { readonly text: string; readonly effect: Badge; readonly fact: string }[];
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
  /** Folders that no rule opens for writing, such as Crab's own home; absolute. */
  readonly guarded?: readonly string[];
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
  #surveyor: Surveyor;
  #roots: readonly string[];
  readonly #guard: Guard;
  readonly #denying: Matcher[];
  readonly #asking: Matcher[];
  readonly #allowing: Matcher[];
  readonly #remembered = new Map<string, Remembered>();

  constructor({ cwd, directories, rules, resolve, home, guarded = [] }: GateOptions) {
    const known = home === undefined ? {} : { home };
    this.#options = { cwd, resolve, ...known };
    this.#roots = [cwd, ...directories];
    const scope = createPathScope({ roots: this.#roots, resolve, ...known });
    this.#surveyor = { cwd, scope, ...known };
    this.#guard = { guarded, resolve, ...known };
    const matchers = rules.map((rule) => createMatcher(rule, this.#options));
    const of = (decision: Rule['decision']) => matchers.filter(({ rule }) => rule.decision === decision);
    this.#denying = of('deny');
    this.#asking = of('ask');
    this.#allowing = of('allow');
  }

  async check(request: GateRequest): Promise<Verdict> {
    return this.#bypasses(request) ? BYPASSED : this.#checked(request, this.#survey(request));
  }

  /** Nothing that could be found would change the verdict, so nothing is looked up. */
  #bypasses({ mode }: GateRequest): boolean {
    return mode === 'bypassPermissions' && this.#denying.length === 0;
  }

  async #checked(request: GateRequest, surveying: Promise<Survey>): Promise<Verdict> {
    try {
      const surveyed = await surveying;
      const judged = await this.#judge(request, surveyed);
      const { liftable } = judged;
      const verdict = boundTo(judged.verdict, request, surveyed);
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

  add(rule: Rule): void {
    const matcher = createMatcher(rule, this.#options);
    if (rule.decision === 'deny') this.#denying.push(matcher);
    else if (rule.decision === 'ask') this.#asking.push(matcher);
    else this.#allowing.push(matcher);
  }

  include(folder: string): void {
    const { resolve, home } = this.#options;
    this.#roots = [...this.#roots, folder];
    const scope = createPathScope({ roots: this.#roots, resolve, ...(home !== undefined && { home }) });
    this.#surveyor = { ...this.#surveyor, scope };
  }

  async grantFor(request: GateRequest): Promise<Rule | undefined> {
    const known = this.#remembered.get(keyOf(request));
    if (known?.liftable === false) return undefined;
    return grantRule(request, { ...this.#options, ...(known !== undefined && { paths: known.paths }) });
  }

  async withheld(tool: string, mode: PermissionMode): Promise<Withheld | undefined> {
    const bypassed = mode === 'bypassPermissions';
    const tests = await testsOf(bypassed ? this.#denying : [...this.#denying, ...this.#asking], tool);
    const byRule = (path: string) => tests.some((test) => test(path));
    if (bypassed) return tests.length === 0 ? undefined : byRule;
    const opened = await testsOf(
      this.#allowing.filter((matcher) => matcher.namesSecrets),
      tool,
    );
    const secret = (path: string) => isSecretFile(path) && !opened.some((test) => test(path));
    return Object.assign((path: string) => byRule(path) || secret(path), { byNameOnly: tests.length === 0 });
  }

  async explain(request: GateRequest): Promise<Explanation> {
    const surveying = this.#survey(request);
    const verdict = this.#bypasses(request) ? BYPASSED : await this.#checked(request, surveying);
    try {
      const surveyed = await surveying;
      const parts = surveyed.parts.map((each) => ({
        text: each.part.text === '' ? each.part.wholeText : each.part.text,
        effect: effectOf(each),
        fact: each.fact,
      }));
      return { verdict, risk: riskOf(request, surveyed), parts };
    } catch {
      return { verdict, risk: unjudged(verdict), parts: [] };
    }
  }

  async #survey(request: GateRequest): Promise<Survey> {
    return guarded(await survey(request, this.#surveyor), this.#guard);
  }

  has(text: string): boolean {
    return this.#allowing.some(({ rule }) => rule.text === text);
  }

  async onlyReads(request: GateRequest): Promise<boolean> {
    try {
      return readsOnly(request, await this.#survey(request));
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
    // Danger says more, and no rule lifts it.
    const secrets = column === 'dangerous' ? undefined : await this.#secrets(request, surveyed);
    if (secrets !== undefined) {
      const decision = mode === 'plan' || mode === 'dontAsk' ? 'deny' : 'ask';
      const reason = await this.#aboutSecrets(request, secrets, surveyed);
      return { verdict: { decision, reason }, liftable: true };
    }
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
    const way = forbidden ? '' : await remedy(request, column, liftable, this.#known(surveyed));
    const reason = forbidden
      ? `${capital(fact)}, and plan mode only reads: leave plan mode to do this.`
      : `${capital(fact)}; ${nobodyAsked(mode)}${way} would allow it.`;
    return { verdict: { decision, reason, column }, liftable };
  }

  /** The secrets that the request would read and that no rule opens to it. */
  async #secrets(request: GateRequest, surveyed: Survey): Promise<string | undefined> {
    const found = secretsIn(request, surveyed);
    if (found === undefined) return undefined;
    for (const matcher of this.#allowing)
      if (matcher.isExact && (await matcher.covers(request, surveyed))) return undefined;
    const [rest] = found.filter(({ path }) => path === undefined);
    if (rest !== undefined) return rest.name;
    const opened = await testsOf(
      this.#allowing.filter((matcher) => matcher.namesSecrets),
      request.access.kind === 'command' ? 'read' : request.tool,
    );
    return found.find(({ path = '' }) => !opened.some((test) => test(path)))?.name;
  }

  async #aboutSecrets(request: GateRequest, name: string, surveyed: Survey): Promise<string> {
    const known = this.#known(surveyed);
    const why = `${shorten(name)} may hold secrets, which nothing reads unasked`;
    const rule = await grantRule(request, known);
    const way = rule === undefined ? 'a rule for each file' : await remedy(request, 'outside', true, known);
    return `${why}; ${nobodyAsked(request.mode)}${way} would allow it.`;
  }

  #known({ parts, touches }: Survey): GrantOptions {
    const paths = touches.map(({ place }) => place.path);
    return { ...this.#options, paths, effects: parts.map(({ part }) => part.effect) };
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

async function testsOf(
  matchers: readonly Matcher[],
  tool: string,
): Promise<readonly ((path: string) => boolean)[]> {
  const found = await Promise.all(matchers.map((matcher) => matcher.withheld(tool)));
  return found.filter((test) => test !== undefined);
}

/** A verdict on files holds for where their paths led when it was given. */
function boundTo(verdict: Verdict, { access }: GateRequest, { touches }: Survey): Verdict {
  if (access.kind !== 'read' && access.kind !== 'write') return verdict;
  return { ...verdict, paths: touches.map(({ asked, place }) => ({ named: asked, real: place.path })) };
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

function unjudged({ reason }: Verdict): Risk {
  return { effect: 'mutating', word: 'unknown', severity: 2, reasons: [reason] };
}

function nobodyAsked(mode: GateRequest['mode']): string {
  return mode === 'dontAsk' ? 'mode dontAsk asks nobody, and ' : '';
}

function capital(text: string): string {
  // Names of servers' tools and addresses are spelled as they are.
  return /^(?:mcp__|[a-z]+:)/.test(text) ? text : text.charAt(0).toUpperCase() + text.slice(1);
}

function keyOf({ tool, access, mode }: GateRequest): string {
  return JSON.stringify([tool, mode, access]);
}
