// Crab's own `custom` entries that others than the runtime show: a line that the person ran, and a mark behind which
// the model starts afresh.

import type { Effort } from './model.ts';
import type { PermissionMode } from './permission.ts';

export const SHELL_ENTRY = 'crab.shell';
export const ANCHOR_ENTRY = 'crab.anchor';
/** `{rule}`: what the person allows for the rest of the session. */
export const GRANT_ENTRY = 'crab.grant';
/** `{decision, rule}`: what the person forbids, or wants to be asked about, from then on: on every branch, and in every fork. */
export const RESTRICTION_ENTRY = 'crab.restriction';
/** `{rule}`: the narrowest rule for a call that the person said yes to once. It allows nothing. */
export const APPROVAL_ENTRY = 'crab.approval';

/** What the sandbox kept a call from. */
export const VIOLATION_ENTRY = 'crab.sandboxViolation';

/** `TemplateFacts`: the session is there for others to begin with. */
export const TEMPLATE_ENTRY = 'crab.template';

/** How a conversation begins that is made from a template, beside what was said in it. */
export interface TemplateFacts {
  readonly name: string;
  readonly model?: string;
  readonly effort?: Effort;
  readonly mode?: PermissionMode;
  /** Behind the system prompt. */
  readonly append?: readonly string[];
}

export interface ShellRecord {
  readonly command: string;
  /** Empty where it is not known. */
  readonly cwd: string;
  readonly exitCode: number | null;
  readonly output: string;
}

export interface Anchor {
  readonly name: string;
  readonly summary: string;
}
