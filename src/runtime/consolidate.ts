// Merging notes that say the same, which a model finds. It happens only for whoever asks for it (law 9); what it replaces is
// kept, and a note that somebody changes meanwhile stays as it is.

import { asCrabError, CrabError } from '../core/errors.ts';
import type { Consolidation, ConsolidationRequest } from '../core/extension.ts';
import { type Memory, type MemoryEntry, type MemoryOperation, noteMark } from '../core/memory.ts';
import {
  CONSOLIDATION_SYSTEM,
  consolidationPrompt,
  type Merge,
  mergesIn,
} from '../engine/consolidation-prompt.ts';
import { type Consultation, consult } from './consult.ts';

const ANSWER_TOKENS = 8_000;

/** Throws `CrabError` as the request or the memory fails, and `memory-taken` while somebody else is at it. */
export async function consolidate(
  consultation: Consultation,
  { scope, dryRun }: ConsolidationRequest,
): Promise<Consolidation> {
  const { host, conversation, emit } = consultation;
  const memory = host.memories.of(scope, conversation.identity);
  const store = await host.memories.consolidations(scope, conversation.identity);
  const release = await store.begin();
  if (release === undefined)
    throw new CrabError(
      'memory-taken',
      `The memory of the ${scope} is being consolidated by another process.`,
      {
        hint: 'Wait until it is done.',
      },
    );
  try {
    const notes = await notesOf(memory);
    const merges = await wanted(consultation, notes);
    if (dryRun || merges.length === 0) {
      if (!dryRun) await store.done({ at: host.clock.now(), marks: notes.map(noteMark) });
      return { merges: merges.map(plain) };
    }
    const replaced = merges.flatMap(({ from }) => from);
    const kept = await store.keep(replaced, host.clock.now());
    const done: Merge[] = [];
    for (const merge of merges) {
      if (!(await replaces(memory, merge))) continue;
      emit({ type: 'memorySaved', name: merge.name });
      done.push(merge);
    }
    await store.done({ at: host.clock.now(), marks: (await notesOf(memory)).map(noteMark) });
    return { merges: done.map(plain), kept };
  } finally {
    release();
  }
}

/** False where somebody has changed one of the notes, or taken one out, since they were looked at. */
async function replaces(memory: Memory, merge: Merge): Promise<boolean> {
  try {
    await memory.apply(...operationsOf(merge));
    return true;
  } catch (error) {
    const { code } = asCrabError(error);
    if (code === 'memory-taken' || code === 'memory-unknown') return false;
    throw error;
  }
}

function plain({ name, from, content }: Merge): Consolidation['merges'][number] {
  return { name, content, from: from.map((note) => note.name) };
}

async function notesOf(memory: Memory): Promise<readonly MemoryEntry[]> {
  return (await memory.entries()).filter(({ kind }) => kind === 'note');
}

async function wanted(consultation: Consultation, notes: readonly MemoryEntry[]): Promise<readonly Merge[]> {
  const asking = consolidationPrompt(notes);
  if (asking === undefined) return [];
  const { redact = String } = consultation.host;
  const question = {
    system: CONSOLIDATION_SYSTEM,
    prompt: redact(asking.prompt),
    maxTokens: ANSWER_TOKENS,
  };
  return mergesIn(redact(await consult(consultation, question, 'memory')), asking.shown);
}

/** All of it happens or nothing; the other names go on as aliases. */
function operationsOf({ name, from, content }: Merge): readonly MemoryOperation[] {
  const others = from.filter((note) => note.name !== name);
  const aliases = from.flatMap((note) => [note.name, ...note.aliases]).filter((each) => each !== name);
  const own = from.find((note) => note.name === name);
  return [
    ...others.map((note) => ({ type: 'remove', name: note.name, was: note.content }) as const),
    { type: 'update', name, content, aliases, ...(own !== undefined && { was: own.content }) },
  ];
}
