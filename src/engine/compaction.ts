// What a compaction does to a conversation, worked out before anybody is asked for a summary: where the kept part
// begins, what the summary takes the place of, and what is listed behind it whatever the summary says: the files that were
// touched so far, decisions, rules, open work. Follows pi's algorithm (packages/coding-agent/src/core/compaction of
// pi-mono). Only the cut is found by estimates; nothing else is.

import { type AssistantMessage, type Message, type ToolCallContent, toolCalls } from '../core/message.ts';
import type { Access } from '../core/permission.ts';
import type { CarriedLines, FilesTouched } from '../core/tape.ts';
import { NO_USAGE } from '../core/usage.ts';
import { carriedFrom, unsaid } from './carried.ts';
import { shortTitle } from './title.ts';

/** A message of the view, and the entry of the tape that it comes from. */
export interface Source {
  readonly id: string;
  readonly message: Message;
}

export interface PreviousCompaction {
  /** Without the lists behind it. */
  readonly summary: string;
  readonly files: FilesTouched;
  readonly carried?: CarriedLines;
}

export interface CompactionInput {
  /** What the model sees, in the order of the tape, without the summary of `previous`. */
  readonly sources: readonly Source[];
  readonly previous?: PreviousCompaction | undefined;
  /** Of the newest messages; 0 keeps none. */
  readonly keepRecentTokens: number;
  /** Of the lines that are carried on, by estimate. */
  readonly carryTokens: number;
  /** What a call would touch, as its tool says; undefined for one that cannot be planned any more. */
  accessOf(call: ToolCallContent): Access | undefined;
  /** Where a search is no reading of a file. */
  readonly cwd: string;
}

export interface CompactionPlan {
  /** The messages that the summary takes the place of, up to the turn that is cut. */
  readonly summarised: readonly Message[];
  /** The beginning of the turn whose end is kept; empty when no turn is cut. */
  readonly turnPrefix: readonly Message[];
  readonly kept: readonly Source[];
  /** Empty when nothing is kept: no entry has that id, so that every reader of the format keeps nothing. */
  readonly firstKeptEntryId: string;
  readonly previousSummary: string | undefined;
  readonly files: FilesTouched;
  readonly carried: CarriedLines;
}

const CHARS_PER_TOKEN = 4;
const TOKENS_PER_BLOCK = 100;

/** An estimate, good enough to choose a cut: four characters a token, a hundred for every block that is no text. */
export function roughTokens(message: Message): number {
  if (typeof message.content === 'string') return Math.ceil(message.content.length / CHARS_PER_TOKEN);
  let tokens = 0;
  for (const block of message.content)
    tokens += block.type === 'text' ? Math.ceil(block.text.length / CHARS_PER_TOKEN) : TOKENS_PER_BLOCK;
  return tokens;
}

/** Undefined when there is nothing that a summary could take the place of. */
export function planCompaction(input: CompactionInput): CompactionPlan | undefined {
  const { sources, previous, keepRecentTokens, carryTokens } = input;
  const cut = cutPoint(sources, keepRecentTokens);
  if (cut === 0) return undefined;
  const messages = sources.map(({ message }) => message);
  const turnStart = startOfTurn(messages, cut);
  const gone = messages.slice(0, cut);
  return {
    summarised: messages.slice(0, turnStart),
    turnPrefix: messages.slice(turnStart, cut),
    kept: sources.slice(cut),
    firstKeptEntryId: sources[cut]?.id ?? '',
    previousSummary: previous?.summary,
    files: filesTouched(gone, { ...input, previous: previous?.files }),
    carried: carriedFrom({ messages: gone, previous, most: carryTokens * CHARS_PER_TOKEN }),
  };
}

/** The index of the first message that is kept: a prompt or an answer, so that calls and results stay together. */
function cutPoint(sources: readonly Source[], keepRecentTokens: number): number {
  let at = sources.length;
  // A prompt that nobody has answered is still to be answered.
  if (keepRecentTokens <= 0) while (sources[at - 1]?.message.role === 'user') at--;
  if (keepRecentTokens <= 0) return at;
  for (let tokens = 0; at > 0 && tokens < keepRecentTokens; ) {
    const source = sources[--at];
    if (source !== undefined) tokens += roughTokens(source.message);
  }
  if (at === 0) return 0;
  const isCut = (index: number) => sources[index]?.message.role !== 'toolResult';
  for (let index = at; index < sources.length; index++) if (isCut(index)) return index;
  while (at > 0 && !isCut(at)) at--;
  return at;
}

/** The prompt that the kept part answers to, when that is cut off from it; else the cut itself. */
function startOfTurn(messages: readonly Message[], cut: number): number {
  const first = messages[cut];
  if (first === undefined || first.role === 'user') return cut;
  for (let at = cut - 1; at >= 0; at--) if (messages[at]?.role === 'user') return at;
  return cut;
}

/** What calls read and changed; those that failed did neither. */
export function filesTouched(
  messages: readonly Message[],
  {
    previous,
    accessOf,
    cwd,
  }: Pick<CompactionInput, 'accessOf' | 'cwd'> & { readonly previous?: FilesTouched | undefined },
): FilesTouched {
  const read = new Set(previous?.readFiles);
  const modified = new Set(previous?.modifiedFiles);
  const failed = new Set<string>();
  for (const message of messages)
    if (message.role === 'toolResult' && message.isError) failed.add(message.toolCallId);
  for (const call of messages.flatMap(callsOf)) {
    const access = failed.has(call.id) ? undefined : accessOf(call);
    if (access?.kind === 'write') for (const path of access.paths) modified.add(path);
    if (access?.kind === 'read') for (const path of access.paths) if (!isAround(path, cwd)) read.add(path);
  }
  return {
    readFiles: [...read].filter((path) => !modified.has(path)).sort(),
    modifiedFiles: [...modified].sort(),
  };
}

/** The folder that one works in, or one above it. */
function isAround(path: string, cwd: string): boolean {
  return path === cwd || `${cwd}/`.startsWith(path.endsWith('/') ? path : `${path}/`);
}

function callsOf(message: Message): readonly ToolCallContent[] {
  return message.role === 'assistant' ? toolCalls(message) : [];
}

/** Lines of each list that the model is told of; the tape has them all. */
const MAX_LISTED = 300;

/** What stands behind a summary, which no model's words can lose. */
export interface SummaryLists {
  readonly files: FilesTouched;
  readonly carried: CarriedLines;
  /** What tools say is still to be done. */
  readonly open: readonly string[];
}

/** Lists that the model is shown behind a summary; what it says itself is not said twice. */
export function withLists(summary: string, { files, carried, open }: SummaryLists): string {
  const text = summary.trim();
  const lines = (list: readonly string[]) => unsaid(list, text).map((line) => `- ${line}`);
  return [
    text,
    listed('decisions-so-far', lines(carried.decisions)),
    listed('rules-so-far', lines(carried.rules)),
    listed('unfinished-so-far', lines(carried.unfinished)),
    listed('open-work', open),
    listed('read-files', files.readFiles),
    listed('modified-files', files.modifiedFiles),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

function listed(name: string, all: readonly string[]): string {
  if (all.length === 0) return '';
  const more = all.length - MAX_LISTED;
  const lines = more > 0 ? [...all.slice(0, MAX_LISTED), `… and ${more} more`] : all;
  return `<${name}>\n${lines.join('\n')}\n</${name}>`;
}

const LISTS =
  /\n*<(decisions-so-far|rules-so-far|unfinished-so-far|open-work|read-files|modified-files)>\n[\s\S]*?\n<\/\1>/g;

/** The summary without those lists, as it goes along with the next one. */
export function withoutLists(summary: string): string {
  return summary.replace(LISTS, '').trim();
}

/** As the model is shown a summary. */
export function summaryText(summary: string): string {
  return `The conversation before this point was compacted into this summary.\n\n<summary>\n${summary.trim()}\n</summary>`;
}

/**
 * A message that is kept. What its provider counted was a request that nobody sends any more, so that it must not be
 * taken for the size of the next one.
 */
export function uncounted(message: Message): Message {
  if (message.role !== 'assistant' || message.usage.totalTokens === 0) return message;
  return { ...message, usage: NO_USAGE } satisfies AssistantMessage;
}

/** The first sentence of a summary that says something, at most 60 characters. */
export function titleOf(summary: string): string {
  const lines = withoutLists(summary)
    .split('\n')
    .map((line) =>
      line
        .replace(/^(?:[\s>*-]+|\d+\.\s+|\[[ x]\]\s+)*/, '')
        .replace(/[*_`]/g, '')
        .trim(),
    );
  const line =
    lines.find((text) => /\p{L}/u.test(text) && !text.startsWith('#') && !/^<[^>]*>$/.test(text)) ?? '';
  const sentence = /^.*?(?:[.!?](?=\s|$)|[。！？])/u.exec(line)?.[0] ?? line;
  return shortTitle(sentence);
}
