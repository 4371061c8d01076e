// `crab permissions suggest`: rules for what the person said yes to in past sessions of this folder, the most frequent
// first. An approval was noted as the narrowest rule for its call and never for a danger, and each rule is judged again
// here: what would still be asked about as a danger, or is allowed by now, is not proposed.

import { APPROVAL_ENTRY, GRANT_ENTRY } from '../core/custom.ts';
import type { Tapes } from '../core/tape.ts';
import { visibleLine } from '../faces/visible.ts';
import { createTapes } from '../parts/tape/tapes.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment } from './home.ts';
import type { Workplace } from './permissions-desk.ts';

export interface Suggestion {
  readonly rule: string;
  /** How often a call that it covers was approved. */
  readonly approvals: number;
  /** What it stands for, where it is wider than what was approved. */
  readonly covers: readonly string[];
}

const MAX_SESSIONS = 200;
/** Different commands with the same beginning that make a pattern of it. */
const ALIKE = 3;

export async function suggestions(place: Workplace, env: Environment): Promise<readonly Suggestion[]> {
  const tapes = createTapes({ home: crabHome(env), clock: systemClock, random: Math.random });
  const counts = await approvals(tapes, place.cwd);
  const open = new Map<string, number>();
  for (const [rule, count] of counts) if (await isStillAsked(rule, place)) open.set(rule, count);
  return ranked(open);
}

async function approvals(tapes: Tapes, cwd: string): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const sessions = await tapes.list({ cwd });
  for (const { path } of sessions.slice(0, MAX_SESSIONS)) {
    const tape = await tapes.read(path).catch(() => undefined);
    if (tape === undefined) continue;
    for (const entry of tape.entries(({ type }) => type === 'custom')) {
      if (entry.type !== 'custom') continue;
      if (entry.customType !== APPROVAL_ENTRY && entry.customType !== GRANT_ENTRY) continue;
      const { rule } = entry.data as { readonly rule?: unknown };
      if (typeof rule === 'string') counts.set(rule, (counts.get(rule) ?? 0) + 1);
    }
  }
  return counts;
}

const COMMAND = /^Bash\((?<command>[\s\S]+)\)$/;

async function isStillAsked(rule: string, { gate, cwd }: Workplace): Promise<boolean> {
  const command = COMMAND.exec(rule)?.groups?.['command'];
  // Of other tools the call cannot be had back from the rule; the rules that hold are compared by their text.
  if (command === undefined) return !gate.has(rule);
  const text = command.replaceAll(/\\([\\*])/g, '$1');
  const {
    verdict,
    risk: { effect },
  } = await gate.explain({
    tool: 'bash',
    input: { command: text },
    access: { kind: 'command', command: text, cwd },
    mode: 'default',
  });
  return effect !== 'dangerous' && verdict.decision === 'ask';
}

function ranked(counts: ReadonlyMap<string, number>): readonly Suggestion[] {
  const found: Suggestion[] = [];
  const groups = Map.groupBy(counts.keys(), (rule) => beginning(rule) ?? '');
  for (const [start, rules] of groups) {
    const sum = (some: readonly string[]) => some.reduce((total, rule) => total + (counts.get(rule) ?? 0), 0);
    if (start !== '' && rules.length >= ALIKE)
      found.push({ rule: `Bash(${start} *)`, approvals: sum(rules), covers: [...rules].sort() });
    else found.push(...rules.map((rule) => ({ rule, approvals: sum([rule]), covers: [] })));
  }
  return found.sort((a, b) => b.approvals - a.approvals || (a.rule < b.rule ? -1 : 1));
}

/** Program and subcommand of a command of plain words: `npm run` of `Bash(npm run lint)`. */
function beginning(rule: string): string | undefined {
  const command = COMMAND.exec(rule)?.groups?.['command'] ?? '';
  if (!/^[\w@%+=:,./ -]+$/.test(command)) return undefined;
  const [program, subcommand, ...rest] = command.split(/ +/);
  if (program === undefined || subcommand === undefined || !/^[a-z][\w-]*$/.test(subcommand))
    return undefined;
  return rest.length > 0 ? `${program} ${subcommand}` : undefined;
}

export function suggestionText(found: readonly Suggestion[]): string {
  if (found.length === 0)
    return 'There is nothing to suggest: no call was approved here that is still asked about.\n';
  const rows = found.flatMap(({ rule, approvals, covers }) => [
    `${String(approvals).padStart(5)}  ${visibleLine(rule, 300)}`,
    ...covers.map((one) => `         ${visibleLine(one, 300)}`),
  ]);
  return `Approved  Rule\n${rows.join('\n')}\n\nWrite those that you want into [permissions] allow of ~/.crab/config.toml.\n`;
}
