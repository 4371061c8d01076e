// What a call is, in a word for a badge: how serious, and why. Data for a screen and for `explain`; nothing is
// decided by it.

import type { Badge, Column, GateRequest, Risk } from '../../core/permission.ts';
import type { Survey, SurveyedPart } from './survey.ts';

const MAX_REASONS = 3;

const BADGES: Readonly<Record<Column, Omit<Risk, 'reasons'>>> = {
  read: { effect: 'read-only', word: 'reads', severity: 0 },
  write: { effect: 'mutating', word: 'writes', severity: 1 },
  spawn: { effect: 'mutating', word: 'agent', severity: 1 },
  external: { effect: 'mutating', word: 'reaches', severity: 2 },
  outside: { effect: 'mutating', word: 'outside', severity: 2 },
  dangerous: { effect: 'dangerous', word: 'danger', severity: 3 },
  denied: { effect: 'dangerous', word: 'danger', severity: 3 },
};

const NOTHING = { effect: 'read-only', word: 'nothing', severity: 0 } as const;

export function riskOf(request: GateRequest, surveyed: Survey): Risk {
  const { column, fact, parts, doubt } = surveyed;
  const badge = column === undefined ? NOTHING : BADGES[column];
  const unknown =
    column === 'outside' && (doubt !== undefined || parts.some(({ part }) => part.effect === 'unknown'));
  const alike = parts.filter((each) => each.column === column).map((each) => each.fact);
  const decided = doubt !== undefined && column !== 'dangerous' ? [fact] : alike;
  const reasons = decided.length === 0 ? [fact] : [...new Set(decided)].slice(0, MAX_REASONS);
  const harmless = column !== 'dangerous' && readsOnly(request, surveyed);
  return {
    ...badge,
    ...(harmless && { effect: 'read-only' as const }),
    ...(unknown && { word: 'unknown' }),
    reasons,
  };
}

export function effectOf({ column, part }: SurveyedPart): Badge {
  if (column === 'dangerous') return 'dangerous';
  return part.effect === 'read' ? 'read-only' : 'mutating';
}

/** Whether a call is known to change nothing, wherever it reads. */
export function readsOnly({ access }: GateRequest, { parts, doubt }: Survey): boolean {
  if (access.kind === 'read') return true;
  return (
    access.kind === 'command' && doubt === undefined && parts.every(({ part }) => part.effect === 'read')
  );
}
