// What stands at the top of an exported session.

import { messageText } from '../core/message.ts';
import type { TapeReader } from '../core/tape.ts';
import { count } from './amounts.ts';
import type { Redact } from './redaction.ts';

export interface ExportHead {
  readonly title: string;
  readonly facts: readonly (readonly [string, string])[];
}

const TITLE_LENGTH = 80;

/** The title is the session's name, else how its first prompt begins. */
export function exportHead(reader: TapeReader, redact: Redact): ExportHead {
  const { id, timestamp, agent, origin, parentSession } = reader.header;
  const { name, cwd, messages } = reader.info();
  const { models, costUsd, firstPrompt } = glance(reader, redact);
  const facts: (readonly [string, string | undefined])[] = [
    ['Session', id],
    ['Begun', timestamp],
    ['Folder', cwd],
    ['Agent', agent],
    ['Models', models.length === 0 ? undefined : models.join(', ')],
    ['Holds', `${count(messages, 'message')}${costUsd > 0 ? `, $${costUsd.toFixed(4)}` : ''}`],
    ['Forked from', parentSession],
    ['Imported from', origin && `${origin.kind}, ${origin.path}`],
  ];
  return {
    title: redact(name ?? firstPrompt ?? 'Session'),
    facts: facts.flatMap(([key, value]) =>
      value === undefined || value === '' ? [] : [[key, redact(value)] as const],
    ),
  };
}

interface Glance {
  readonly models: readonly string[];
  readonly costUsd: number;
  readonly firstPrompt: string | undefined;
}

function glance(reader: TapeReader, redact: Redact): Glance {
  const models = new Set<string>();
  let costUsd = 0;
  let firstPrompt: string | undefined;
  for (const entry of reader.branch({ wanted: ({ type }) => type === 'message' })) {
    if (entry.type !== 'message') continue;
    const { message } = entry;
    // A secret that is cut in the middle is none that anybody would know.
    if (message.role === 'user')
      firstPrompt ??= redact(messageText(message)).trim().slice(0, TITLE_LENGTH) || undefined;
    if (message.role !== 'assistant') continue;
    models.add(`${message.provider}/${message.model}`);
    // Another program's message may have no usage.
    costUsd += (message as Partial<typeof message>).usage?.cost?.total ?? 0;
  }
  return { models: [...models], costUsd, firstPrompt };
}
