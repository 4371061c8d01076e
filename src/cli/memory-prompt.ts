// The list of what is remembered, for the system prompt of those who want it there.

import { described } from '../parts/memory/note-file.ts';
import { ageInDays } from '../parts/memory/ranking.ts';
import { gathered } from '../parts/memory/scopes.ts';
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
  warn(text: string): void;
}

/** Undefined where nothing is remembered. */
export async function memoryPrompt(request: MemoryPromptRequest): Promise<string | undefined> {
  const { env, cwd, now, trusted, warn } = request;
  const memories = memoriesOf(env);
  const team = trusted && memories.teamFolder(cwd) !== undefined ? (['team'] as const) : [];
  const { found, failures } = await gathered(['project', ...team, 'user'], async (scope) => {
    const entries = await memories.of(scope, request).entries();
    return entries.filter(({ kind }) => kind === 'note');
  });
  for (const { message } of failures) warn(message);
  const notes = found.map((note): RememberedNote => {
    const { name, scope, content } = note;
    return { name, scope, days: ageInDays(note, now), about: described(content) };
  });
  return memoryList(notes);
}
