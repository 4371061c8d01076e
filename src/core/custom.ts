// Crab's own `custom` entries that others than the runtime show: a line that the person ran, and a mark behind which
// the model starts afresh.

export const SHELL_ENTRY = 'crab.shell';
export const ANCHOR_ENTRY = 'crab.anchor';

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
