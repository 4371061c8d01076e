// Rules whose tool there is not. A name that is only foreign, such as that of another agent's tool, does no harm; one that
// is nearly ours was meant to forbid or to allow something and does neither.

import type { Rule } from '../core/permission.ts';
import type { Tool } from '../core/tool.ts';
import { suggestions } from '../engine/route.ts';
import { readRule } from '../parts/permissions/rules.ts';

/** A sentence for each rule that was probably mistyped. */
export function mistypedRules(rules: readonly Rule[], tools: readonly Tool[]): readonly string[] {
  const names = tools.flatMap((tool) => [tool.name, ...(tool.aliases ?? [])]);
  return rules.flatMap(({ text, source }) => {
    const { covers, isNamed } = readRule(text, source);
    if (!isNamed || names.some(covers)) return [];
    const written = text.replace(/\([\s\S]*$/, '').toLowerCase();
    // A name that only begins like another is whole in itself.
    const near = suggestions(written, names).find((name) => !name.toLowerCase().startsWith(written));
    if (near === undefined) return [];
    return [`The rule ${text} (${source}) is about no tool that there is. Did you mean ${near}?`];
  });
}
