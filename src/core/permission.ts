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

export type Decision = 'allow' | 'ask' | 'deny';

/** What a call would touch, as its tool declares it. Paths are absolute; links are not yet resolved. */
export type Access =
  | { readonly kind: 'none' }
  | { readonly kind: 'read'; readonly paths: readonly string[] }
  | { readonly kind: 'write'; readonly paths: readonly string[] }
  | { readonly kind: 'command'; readonly command: string; readonly cwd: string }
  | { readonly kind: 'network'; readonly url: string }
  | { readonly kind: 'external'; readonly server: string }
  | { readonly kind: 'spawn'; readonly agent: string };

/** One line of policy, such as allow `Bash(npm run *)`, and where it was read. */
export interface Rule {
  readonly decision: Decision;
  /** The rule as written: `Tool`, `Tool(spec)` or a glob over tool names. */
  readonly text: string;
  /** Where it comes from, for example `--allowedTools` or a file and line. */
  readonly source: string;
}

export interface Verdict {
  readonly decision: Decision;
  /** One sentence for the person and the model alike. */
  readonly reason: string;
  /** The rule that decided, when one did. */
  readonly rule?: Rule;
  /** The cell of the mode table that decided, when none did. */
  readonly column?: Column;
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

/** Decides on one call. Never throws: what it cannot judge it asks about (law 3). */
export type Gate = (request: GateRequest) => Promise<Verdict>;
