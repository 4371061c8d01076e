// Programs that only run another: `timeout 5 npm test` is judged as `npm test`. One whose own options are not
// all known is left in place, where it counts as a program that nobody knows.

import { readOptions } from './options.ts';
import type { Word } from './script.ts';

export interface Unwrapped {
  /** The program at the heart, and its arguments. */
  readonly words: readonly Word[];
  /** Assignments that a wrapper adds, as `env` does. */
  readonly assignments: readonly Word[];
  /** The names of what was looked through, outermost first. */
  readonly wrappers: readonly string[];
}

const WRAPPERS: Readonly<Record<string, string>> = {
  timeout: '-s: -k: -v --signal: --kill-after: --preserve-status --foreground --verbose',
  time: '-p',
  nice: '-n: -# --adjustment:',
  nohup: '',
  stdbuf: '-i: -o: -e: --input: --output: --error:',
  command: '-p',
  builtin: '',
  env: '-i -u: --ignore-environment --unset:',
  ionice: '-c: -n: -t --class: --classdata: --ignore',
  setsid: '-f -w -c --fork --wait --ctty',
};

export function unwrap(words: readonly Word[]): Unwrapped {
  const assignments: Word[] = [];
  const wrappers: string[] = [];
  let rest = words;
  while (rest[0] !== undefined) {
    const name = programName(rest[0]);
    const list = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (list === undefined) break;
    const { operands, unknown } = readOptions(rest.slice(1), list, true);
    const inner =
      name === 'timeout' ? operands.slice(1) : name === 'env' ? afterAssignments(operands) : operands;
    if (unknown !== undefined || inner.length === 0) break;
    if (name === 'env') assignments.push(...operands.slice(0, operands.length - inner.length));
    wrappers.push(name);
    rest = inner;
  }
  return { words: rest, assignments, wrappers };
}

function afterAssignments(operands: readonly Word[]): readonly Word[] {
  const first = operands.findIndex(({ value }) => !/^[A-Za-z_]\w*=/.test(value));
  return first === -1 ? [] : operands.slice(first);
}

/** `/usr/bin/rm` and `\rm` are `rm`. A path of the project keeps its folder: it is another program. */
export function programName({ value }: Word): string {
  return /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$/.test(value)
    ? value.slice(value.lastIndexOf('/') + 1)
    : value;
}
