// The rooms as biome.json knows them: where each lies and what it may import.

import biome from '../../biome.json' with { type: 'json' };

export interface Room {
  /** As in ARCHITECTURE.md: `core`, `parts/llm`, `channels/*`, and `main.ts` for what lies beside the rooms. */
  readonly name: string;
  /** A folder of this room, below `src`: `.` for `main.ts`, and for `channels/*` one that stands for all. */
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
    if (includes.length > 1 && patterns.length > 0) throw new Error(`one rule for many rooms: ${includes}`);
    return patterns.map((pattern) => roomOf(includes[0] ?? '', pattern));
  });
}

function roomOf(include: string, { group, message }: Pattern): Room {
  const path = include
    .replace(/^src\//, '')
    .replace(/\/\*\*$/, '')
    .replace('*.ts', 'main.ts');
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
    folder: path === 'main.ts' ? '.' : name.replace('*', PLANTED),
    mayImport: others.map((one) => one.replace(/^(?:\.{1,2}\/)+(.+)\/\*$/, '$1')),
    allowed: exceptions,
    message,
  };
}
