// Which memories there are, and which of them a call may use. Where a name could mean several, the session's own is nearest,
// then the project's, then the team's, then the person's.

import { CrabError, ToolFailure } from '../../core/errors.ts';
import type { Memory } from '../../core/memory.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Identity, ToolContext } from '../../core/tool.ts';
import type { Consolidations } from './consolidations.ts';

export const MEMORY_SCOPES = ['session', 'project', 'team', 'user'] as const;

export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** Those of an agent that outlive a session. */
export type OwnScope = Extract<MemoryScope, 'project' | 'user'>;

export interface Memories {
  /**
   * The memory of an agent in a scope; the same object for the same file. Throws `CrabError` (`usage`) where there is no team,
   * and where no session is named.
   */
  of(
    scope: MemoryScope,
    identity: Pick<Identity, 'agent' | 'cwd'> & Partial<Pick<Identity, 'session'>>,
  ): Memory;
  /** What is kept about tidying a memory; the team's is its people's own affair. */
  consolidations(scope: OwnScope, identity: Pick<Identity, 'agent' | 'cwd'>): Promise<Consolidations>;
  /** Where the people of a folder's project keep what they share; undefined where nobody can. */
  teamFolder(cwd: string): string | undefined;
}

/** What a call may look at: what a project says is not obeyed before the person trusts it (law 11). */
export function scopesFor(
  memories: Memories,
  { identity, trusted }: Pick<ToolContext, 'identity' | 'trusted'>,
): readonly MemoryScope[] {
  const hasTeam = trusted === true && memories.teamFolder(identity.cwd) !== undefined;
  return MEMORY_SCOPES.filter((scope) => {
    if (scope === 'team') return hasTeam;
    return scope !== 'session' || identity.isPassing !== true;
  });
}

export interface Gathered<T> {
  readonly found: readonly (T & { readonly scope: MemoryScope })[];
  /** Why a memory could not be read. */
  readonly failures: readonly CrabError[];
}

/** What there is in several memories. One that is damaged costs nobody the others. */
export async function gathered<T extends object>(
  scopes: readonly MemoryScope[],
  read: (scope: MemoryScope) => Promise<readonly T[]>,
): Promise<Gathered<T>> {
  const found: (T & { readonly scope: MemoryScope })[] = [];
  const failures: CrabError[] = [];
  for (const scope of scopes)
    try {
      for (const one of await read(scope)) found.push({ ...one, scope });
    } catch (error) {
      if (!(error instanceof CrabError)) throw error;
      failures.push(error);
    }
  return { found, failures };
}

/** What the model can put right is told to it; a disk that fails is not its affair. */
export async function mended<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof CrabError) throw new ToolFailure(`${error.message} ${error.hint}`, { cause: error });
    throw error;
  }
}

export function textOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value.trim() : '';
}
