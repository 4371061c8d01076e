// The `[permissions]` of a settings file. Rules keep where they stand, because a person who is asked or refused wants to
// know which line to change; whether they can be read is for those to say who know the tools.

import { type Decision, PERMISSION_MODES, type PermissionMode, type Rule } from '../../core/permission.ts';
import type { PermissionSettings } from '../../core/settings.ts';
import { choice, file, list, placeOfText, type Reader, table, text } from './values.ts';

interface Read {
  readonly mode?: PermissionMode;
  readonly allow?: readonly Rule[];
  readonly ask?: readonly Rule[];
  readonly deny?: readonly Rule[];
  readonly directories?: readonly string[];
}

function rules(decision: Decision): Reader<readonly Rule[]> {
  const rule: Reader<Rule> = (value, context) => {
    const written = text(value, context);
    return { decision, text: written, source: placeOfText(context, written) };
  };
  return list(rule);
}

const LISTS = {
  allow: ['allow', rules('allow')],
  ask: ['ask', rules('ask')],
  deny: ['deny', rules('deny')],
  additional_directories: ['directories', list(file)],
} as const;

export const PERMISSION_KEYS = { default_mode: ['mode', choice(...PERMISSION_MODES)], ...LISTS } as const;

/** A project proposes how careful to be; that nothing is to be asked about is not for it to say. */
const PROJECT_MODE = choice('plan', 'default', 'acceptEdits', 'trustProject');

export const PERMISSIONS: Reader<PermissionSettings> = joined(table<Read>(PERMISSION_KEYS));

export const PROJECT_PERMISSIONS: Reader<PermissionSettings> = joined(
  table<Read>({ ...PERMISSION_KEYS, default_mode: ['mode', PROJECT_MODE] }),
);

function joined(read: Reader<Read>): Reader<PermissionSettings> {
  return (value, context) => {
    const { mode, allow = [], ask = [], deny = [], directories = [] } = read(value, context);
    return { ...(mode !== undefined && { mode }), rules: [...deny, ...ask, ...allow], directories };
  };
}

/** What all of them say together, the last one choosing the mode; undefined when none says anything. */
export function together(
  layers: readonly (PermissionSettings | undefined)[],
): PermissionSettings | undefined {
  const given = layers.filter((layer) => layer !== undefined);
  if (given.length === 0) return undefined;
  const mode = given.map((layer) => layer.mode).findLast((each) => each !== undefined);
  return {
    ...(mode !== undefined && { mode }),
    rules: given.flatMap((layer) => layer.rules),
    directories: given.flatMap((layer) => layer.directories),
  };
}
