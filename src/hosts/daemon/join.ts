// What becomes of a declaration when its conversation is in use already, under another one. Nothing that restricts may be
// lost in silence: then joining is refused. What differs otherwise is told.

import type { Declaration } from '../../core/agent.ts';
import { CrabError } from '../../core/errors.ts';
import { type PermissionMode, type Rule, stricterMode } from '../../core/permission.ts';
import type { OpenRequest } from '../../core/platform.ts';

/** What whoever joins should know. Throws `CrabError session-held` where what they declare would restrict it further. */
export function joinNotices(asked: OpenRequest, opened: OpenRequest): readonly string[] {
  const lost = restrictions(asked.declaration, opened.declaration);
  if (lost.length > 0)
    throw new CrabError(
      'session-held',
      `The session is in use, and was opened without what this command asks for: ${lost.join(', ')}.`,
      { hint: 'Leave that out to join it, or come back when nobody uses it.' },
    );
  if (JSON.stringify(asked.declaration) === JSON.stringify(opened.declaration) && asked.cwd === opened.cwd)
    return [];
  const { mode } = opened.declaration;
  return [`the session is in use: it goes on as it was opened, in ${opened.cwd} and mode ${mode}`];
}

/** What the first declaration forbids and the second one does not, in words. */
function restrictions(asked: Declaration, opened: Declaration): readonly string[] {
  const known = new Set(opened.rules.map(ruleKey));
  const rules = asked.rules.filter((rule) => rule.decision !== 'allow' && !known.has(ruleKey(rule)));
  const budget = (asked.limits.budget?.runUsd ?? Infinity) < (opened.limits.budget?.runUsd ?? Infinity);
  const wider = grants(asked).find((names) => !grants(opened).some((other) => isWithin(other, names)));
  const held = opened.modeCeiling ?? 'bypassPermissions';
  const ceiling = asked.modeCeiling ?? 'bypassPermissions';
  const sandbox =
    JSON.stringify(asked.sandbox) !== JSON.stringify(opened.sandbox) && asked.sandbox.mode !== 'off';
  const shape = JSON.stringify(asked.outputSchema);
  return [
    ...rules.map(({ decision, text }) => `${decision} ${text}`),
    ...(isStricter(asked.mode, opened.mode) ? [`mode ${asked.mode} (it is in ${opened.mode})`] : []),
    ...(isStricter(ceiling, held) ? [`no mode beyond ${ceiling}`] : []),
    ...(wider !== undefined ? [`no tools but ${wider.join(', ')}`] : []),
    ...withheld(asked)
      .filter((name) => !withheld(opened).includes(name))
      .map((name) => `no ${name}`),
    ...(sandbox ? ['that sandbox'] : []),
    ...(budget ? [`a budget of ${asked.limits.budget?.runUsd} USD`] : []),
    ...(shape !== undefined && shape !== JSON.stringify(opened.outputSchema)
      ? ['a value of that shape']
      : []),
  ];
}

function isStricter(one: PermissionMode, other: PermissionMode): boolean {
  return one !== other && stricterMode(other, one) === one;
}

/** Each of the lists that names all the tools there may be. */
function grants({ agent, onlyTools }: Declaration): readonly (readonly string[])[] {
  return [agent.tools, onlyTools].filter((names) => names !== undefined);
}

function withheld({ agent, withoutTools }: Declaration): readonly string[] {
  return [...withoutTools, ...(agent.withoutTools ?? [])];
}

function isWithin(names: readonly string[], others: readonly string[]): boolean {
  return names.every((name) => others.includes(name));
}

function ruleKey({ decision, text }: Rule): string {
  return `${decision} ${text}`;
}
