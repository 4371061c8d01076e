// What of a conversation will matter in others, found by a model when somebody asks for it, and kept as notes of the project.
// It is asked for by a command and never happens by itself (law 9).

import { secretIn } from '../core/secret-shapes.ts';
import { learnPrompt, SUMMARY_SYSTEM } from '../engine/summary-prompt.ts';
import { asked, type Consultation, lightModels } from './consult.ts';

const MAX_NOTES = 10;
const MAX_NAME = 80;
const MAX_CONTENT = 2_000;
const ANSWER_TOKENS = 4_000;

interface Note {
  readonly name: string;
  readonly content: string;
}

/** The names of the notes, which may be none. Throws `CrabError` as the request or the memory fails. */
export async function learn(consultation: Consultation, focus: string): Promise<readonly string[]> {
  const { host, conversation, emit } = consultation;
  const messages = conversation.view.messages();
  if (messages.length === 0) return [];
  const memory = host.memories.of('project', conversation.identity);
  const known = (await memory.entries()).filter(({ kind }) => kind === 'note').map(({ name }) => name);
  const [find = () => conversation.model()] = lightModels(consultation);
  const model = await find();
  const prompt = learnPrompt({ messages, known, focus, most: MAX_NOTES }, model.info, ANSWER_TOKENS);
  const question = { system: SUMMARY_SYSTEM, prompt, maxTokens: ANSWER_TOKENS };
  const answer = await asked(consultation, model, question, 'aside');
  const kept: string[] = [];
  for (const { name, content } of notesIn(host.redact?.(answer) ?? answer)) {
    const old = await memory.find(name);
    if (old?.kind === 'archive' || old?.content === content) continue;
    await memory.apply(
      old === undefined ? { type: 'add', kind: 'note', name, content } : { type: 'update', name, content },
    );
    emit({ type: 'memorySaved', name: old?.name ?? name });
    kept.push(old?.name ?? name);
  }
  return kept;
}

/** Lines that are no note, or hold what looks like a secret, are passed over. */
function notesIn(answer: string): readonly Note[] {
  return answer
    .split('\n')
    .flatMap((line) => noteIn(line) ?? [])
    .slice(0, MAX_NOTES);
}

function noteIn(line: string): Note | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const { name, content } = Object(value) as Partial<Note>;
  if (typeof name !== 'string' || typeof content !== 'string' || content.trim() === '') return undefined;
  const plain = name.replace(/\s+/g, ' ').trim().slice(0, MAX_NAME).toWellFormed().trim();
  if (plain === '' || /\p{Cc}/u.test(plain) || secretIn(`${name}\n${content}`) !== undefined)
    return undefined;
  return { name: plain, content: content.trim().slice(0, MAX_CONTENT).toWellFormed() };
}
