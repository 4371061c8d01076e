// The rooms as biome.json knows them: where each lies and what it may import.

import biome from '../../biome.json' with { type: 'json' };

export interface Room {
  /** As in ARCHITECTURE.md: `core`, `parts/llm`, `channels/*`. */
  readonly name: string;
  /** A folder of this room, below `src`. For `channels/*` one that stands for all of them. */
  readonly folder: string;
  /** Room names, Node modules and packages. */
  readonly mayImport: readonly string[];
  /** What a file of the room may write after `from`; `*` is any name. */
  readonly allowed: readonly string[];
  /** What the linter says to anything else. */
  readonly message: string;
}

interface Pattern {
  readonly group: readonly string[];
  readonly message: string;
}

/** The file, or the folder, that stands for any name where a rule has `*`. */
export const PLANTED = 'planted';

export function readRooms(): readonly Room[] {
  return biome.overrides.flatMap(({ includes, linter }) => {
    const rule: unknown = Object(linter?.rules?.style).noRestrictedImports;
    const patterns: readonly Pattern[] = Object(rule).options?.patterns ?? [];
    const [include = '', ...more] = includes;
    if (!include.endsWith('/**') || more.length > 0) return [];
    return patterns.map((pattern) => roomOf(include, pattern));
  });
}

function roomOf(include: string, { group, message }: Pattern): Room {
  const path = include.replace(/^src\//, '').replace(/\/\*\*$/, '');
  const exceptions = group.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  if (group[0] !== '**' || exceptions.length !== group.length - 1) {
    throw new Error(`the rule of ${include} is no allow-list`);
  }
  const others = exceptions.filter((one) => one !== './*');
  // A rule that climbs one folder more than its own path has is for each folder in it.
  const climb = Math.max(0, ...others.map((one) => one.split('../').length - 1));
  const name = climb > path.split('/').length ? `${path}/*` : path;
  return {
    name,
    folder: name.replace('*', PLANTED),
    mayImport: others.map((one) => one.replace(/^(\.\.\/)+(.+)\/\*$/, '$2')),
    allowed: exceptions,
    message,
  };
}
