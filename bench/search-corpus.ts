// Sessions to search, the same for the same seed: words are as common as they are in what people write (Zipf and
// Mandelbrot: the n-th word stands in proportion to 1/(n + 2.7)), so that some stand nearly everywhere.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createIds } from '../src/core/ids.ts';
import { seeded } from '../src/core/seeded.ts';

const VOCABULARY = 100_000;
const MEAN_WORDS = 40;
export const SESSION_MESSAGES = 50;
const START = Date.UTC(2024, 0, 1);
const SESSION_GAP_MS = 600_000;

export interface Speech {
  word(): string;
  /** Words of a message, of various length. */
  message(): string;
  random(): number;
}

export function createSpeech(seed: number): Speech {
  const random = seeded(seed);
  const shares = new Float64Array(VOCABULARY);
  let total = 0;
  for (let at = 0; at < VOCABULARY; at++) {
    total += 1 / (at + 2.7);
    shares[at] = total;
  }
  const word = () => spelled(firstAbove(shares, random() * total));
  const message = () =>
    Array.from({ length: 4 - Math.floor(Math.log(1 - random()) * MEAN_WORDS) }, word).join(' ');
  return { word, message, random };
}

function firstAbove(shares: Float64Array, share: number): number {
  let low = 0;
  let high = shares.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((shares[middle] ?? 0) < share) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A word of letters alone: an identifier would count in parts as well. */
export function spelled(number: number): string {
  let rest = number;
  let text = 'q';
  do {
    text += String.fromCharCode(97 + (rest % 26));
    rest = Math.floor(rest / 26);
  } while (rest > 0);
  return text;
}

/** Writes so many messages as sessions below `sessions`. Returns their files. */
export function writeCorpus(sessions: string, messages: number): readonly string[] {
  const { message, random } = createSpeech(1);
  let now = START;
  const ids = createIds({ now: () => now, random });
  const files: string[] = [];
  const folders = Array.from({ length: 20 }, (_, at) => join(sessions, 'crab', `project-${at}`));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  for (let at = 0; at < messages / SESSION_MESSAGES; at++) {
    now = START + at * SESSION_GAP_MS;
    const id = ids();
    const folder = folders[at % folders.length] ?? sessions;
    const timestamp = new Date(now).toISOString();
    const header = {
      type: 'session',
      version: 3,
      id,
      timestamp,
      cwd: folder,
      agent: 'crab',
      sender: `cli:${id}`,
    };
    const lines = [JSON.stringify(header)];
    let parentId: string | null = null;
    if (at % 4 === 0) {
      parentId = ids();
      const name = message().slice(0, 60);
      lines.push(JSON.stringify({ type: 'session_info', id: parentId, parentId: null, timestamp, name }));
    }
    for (let index = 0; index < SESSION_MESSAGES; index++) {
      const entry = messageLine(ids(), parentId, index, message(), now + index * 1000);
      parentId = entry.id;
      lines.push(JSON.stringify(entry));
    }
    const path = join(folder, `${id}.jsonl`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    files.push(path);
  }
  return files;
}

export function messageLine(
  id: string,
  parentId: string | null,
  index: number,
  text: string,
  timestamp: number,
) {
  const content = [{ type: 'text', text }];
  const said = [
    { role: 'user', content: text, timestamp },
    { role: 'assistant', content, timestamp },
    { role: 'toolResult', toolCallId: 'c', toolName: 'bash', content, isError: false, timestamp },
  ];
  return {
    type: 'message',
    id,
    parentId,
    timestamp: new Date(timestamp).toISOString(),
    message: said[index % 3],
  };
}
