// The words of the permission system: modes, rules, what a call would touch, and the verdict on it. The
// table that turns one into the other is in `parts/permissions`; an agent, a wire and a screen need only these.

/** From the most careful to the least. Names are the field's; `trustProject` is ours. */
export const PERMISSION_MODES = [
  'plan',
  'default',
  'acceptEdits',
  'trustProject',
  'dontAsk',
  'bypassPermissions',
] as const;

export type PermissionMode = (typeof PERMISSION_MODES)[number];

/** How little each mode lets through: `dontAsk` refuses what `default` would ask about. */
const STRICTNESS: Readonly<Record<PermissionMode, number>> = {
  plan: 0,
  dontAsk: 1,
  default: 2,
  acceptEdits: 3,
  trustProject: 4,
  bypassPermissions: 5,
};

/** The one that lets less through. */
export function stricterMode(one: PermissionMode, other: PermissionMode | undefined): PermissionMode {
  return other !== undefined && STRICTNESS[other] < STRICTNESS[one] ? other : one;
}

export type Decision = 'allow' | 'ask' | 'deny';

/** What a call would touch, as its tool declares it. Paths are absolute; links are not yet resolved. */
export type Access =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly paths: readonly string[] }
  | { readonly kind: 'write'; readonly paths: readonly string[] }
  | {
      readonly kind: 'command';
      readonly command: string;
      readonly cwd: string;
      /** It asks to run outside the sandbox. */
      readonly unconfined?: true;
    }
  | { readonly kind: 'network'; readonly url: string }
  | {
      readonly kind: 'external';
      readonly server: string;
      /** The end of a sentence that begins with the tool: `acts on the page in the browser`. Absent for a person's own server. */
      readonly does?: string;
      /** It reaches too much to be allowed for good by an answer, or by a rule that does not name the tool. */
      readonly sessionOnly?: true;
    }
  | { readonly kind: 'spawn'; readonly agent: string };

export function isSessionOnly(access: Access): boolean {
  return access.kind === 'external' && access.sessionOnly === true;
}

/** One line of policy, such as allow `Bash(npm run *)`, and where it was read. */
export interface Rule {
  readonly decision: Decision;
  /** The rule as written: `Tool`, `Tool(spec)` or a glob over tool names. */
  readonly text: string;
  /** Where it comes from, for example `--allowedTools` or a file and line. */
  readonly source: string;
}

/** A path that was judged, and where it led at that moment. */
export interface JudgedPath {
  /** Absolute, as the call's access names it. */
  readonly named: string;
  /** With every link followed. */
  readonly real: string;
}

export interface Verdict {
  readonly decision: Decision;
  /** One sentence for the person and the model alike. */
  readonly reason: string;
  /** The rule that decided, when one did. */
  readonly rule?: Rule;
  /** The cell of the mode table that decided, when none did. */
  readonly column?: Column;
  /** The paths of a `read` or `write` that were looked up: the verdict holds for where they led, and nowhere else. */
  readonly paths?: readonly JudgedPath[];
}

/** The seven columns of the mode table: what kind of thing a call would do. */
export const COLUMNS = ['read', 'write', 'outside', 'dangerous', 'external', 'spawn', 'denied'] as const;

export type Column = (typeof COLUMNS)[number];

export interface GateRequest {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly access: Access;
  readonly mode: PermissionMode;
}

/** What a call is known to do, in the three degrees that a person reads at a glance. */
export const BADGES = ['read-only', 'mutating', 'dangerous'] as const;

export type Badge = (typeof BADGES)[number];

/** What a call is known to do, whatever rules and modes say of it: for a screen. Nothing is decided by it. */
export interface Risk {
  readonly effect: Badge;
  /** One word: `nothing`, `reads`, `writes`, `outside`, `unknown`, `reaches`, `agent`, `danger`. */
  readonly word: string;
  /** From 0, nothing to see, to 3, read it twice. */
  readonly severity: 0 | 1 | 2 | 3;
  /** What decided, one clause for each part that is as serious as the whole; at most three. */
  readonly reasons: readonly string[];
}

/** Which files a call that may look through a folder leaves out: a test of absolute paths with every link followed. */
export interface Withheld {
  (path: string): boolean;
  /** No rule of the person's is among the reasons: all that is left out is secret by its name. */
  readonly byNameOnly?: boolean;
}

/** Decides on one call. Never throws: what it cannot judge it asks about (law 3). */
export type Gate = (request: GateRequest) => Promise<Verdict>;
