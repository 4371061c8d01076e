// The list of what is remembered, for the system prompt of those who want it there.

import { described } from '../parts/memory/note-file.ts';
import { ageInDays } from '../parts/memory/ranking.ts';
import { memoryList, type RememberedNote } from '../policy/memory.ts';
import type { Environment } from './home.ts';
import { memoriesOf } from './memory.ts';

export interface MemoryPromptRequest {
  readonly env: Environment;
  readonly agent: string;
  readonly cwd: string;
  /** The project is trusted, and so what its people share. */
  readonly trusted: boolean;
  readonly now: number;
}

/** Undefined where nothing is remembered. */
export async function memoryPrompt(request: MemoryPromptRequest): Promise<string | undefined> {
  const { env, cwd, now, trusted } = request;
  const memories = memoriesOf(env);
  const team = trusted && memories.teamFolder(cwd) !== undefined ? (['team'] as const) : [];
  const notes: RememberedNote[] = [];
  for (const scope of ['project', ...team, 'user'] as const)
    for (const entry of await memories.of(scope, request).entries())
      if (entry.kind === 'note')
        notes.push({
          name: entry.name,
          scope,
          days: ageInDays(entry, now),
          about: described(entry.content),
        });
  return memoryList(notes);
}
