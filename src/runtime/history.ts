// What a tape says about a conversation when it is opened again: the view that the model gets, the values that tools
// kept, the grants, the model, the prompt. Crab's own facts are `custom` entries, named here and nowhere else.

import type { Message } from '../core/message.ts';
import { userMessage } from '../core/message.ts';
import type { Effort } from '../core/model.ts';
import type { CompactionBody, Entry, EntryBody, FilesTouched } from '../core/tape.ts';
import { type PreviousCompaction, type Source, summaryText, uncounted } from '../engine/compaction.ts';
import { createView, type View } from '../engine/view.ts';

export interface ShellRecord {
  readonly command: string;
  readonly cwd: string;
  readonly exitCode: number | null;
  readonly output: string;
}

export interface Anchor {
  readonly name: string;
  readonly summary: string;
}

interface RecordedPrompt {
  readonly cwd: string;
  readonly text: string;
}

/** A compaction that counts: the newest one that was not taken back, unless an anchor came after it. */
export interface Compacted extends PreviousCompaction {
  readonly entryId: string;
}

export interface History {
  readonly view: View;
  /** What the view shows, by entry; without the summary of `compacted`. */
  readonly sources: readonly Source[];
  readonly compacted: Compacted | undefined;
  readonly state: Map<string, unknown>;
  readonly grants: string[];
  readonly model: string | undefined;
  readonly effort: Effort | undefined;
  readonly prompt: RecordedPrompt | undefined;
}

const STATE = 'crab.state';
const GRANT = 'crab.grant';
const ANCHOR = 'crab.anchor';
const SHELL = 'crab.shell';
const PROMPT = 'crab.prompt';
const UNCOMPACT = 'crab.uncompact';

/** From the least to the most. */
export const EFFORTS = ['off', 'low', 'medium', 'high', 'max'] as const satisfies readonly Effort[];

const custom = (customType: string, data: unknown): EntryBody => ({ type: 'custom', customType, data });

export const stateEntry = (values: Readonly<Record<string, unknown>>): EntryBody => custom(STATE, values);
export const grantEntry = (rule: string): EntryBody => custom(GRANT, { rule });
export const anchorEntry = (anchor: Anchor): EntryBody => custom(ANCHOR, anchor);
export const shellEntry = (record: ShellRecord): EntryBody => custom(SHELL, record);
export const promptEntry = (prompt: RecordedPrompt): EntryBody => custom(PROMPT, prompt);
/** Takes a compaction back. No leaf is moved, so that what was said since stays, too. */
export const uncompactEntry = (entryId: string): EntryBody => custom(UNCOMPACT, { entryId });

/** Reads a branch from its root to its head. Entries of unknown kinds are somebody else's and are passed over. */
export function readHistory(branch: readonly Entry[]): History {
  let sources: Source[] = [];
  let compacted: (Compacted & { readonly timestamp: number }) | undefined;
  let model: string | undefined;
  let effort: Effort | undefined;
  let prompt: RecordedPrompt | undefined;
  const state = new Map<string, unknown>();
  const grants: string[] = [];
  const takenBack = compactionsTakenBack(branch);
  for (const entry of branch) {
    const message = messageOf(entry);
    if (message !== undefined) sources.push({ id: entry.id, message });
    if (entry.type === 'compaction' && !takenBack.has(entry.id)) {
      sources = keptSources(sources, branch, entry);
      const timestamp = Date.parse(entry.timestamp);
      compacted = { entryId: entry.id, summary: entry.summary, files: filesOf(entry), timestamp };
    } else if (entry.type === 'model_change') model = `${entry.provider}/${entry.modelId}`;
    else if (entry.type === 'thinking_level_change')
      effort = EFFORTS.find((known) => known === entry.thinkingLevel) ?? effort;
    else if (entry.type === 'custom') {
      const data = entry.data as Record<string, unknown>;
      if (entry.customType === STATE) for (const key of Object.keys(data)) state.set(key, data[key]);
      else if (entry.customType === GRANT) grants.push(String(data.rule));
      else if (entry.customType === PROMPT) prompt = data as unknown as RecordedPrompt;
      else if (entry.customType === ANCHOR) {
        const message = anchorMessage(data as unknown as Anchor, Date.parse(entry.timestamp));
        sources = message === undefined ? [] : [{ id: entry.id, message }];
        compacted = undefined;
      }
    }
  }
  const messages = sources.map((source) => source.message);
  const view = createView(
    compacted === undefined
      ? messages
      : [summaryMessage(compacted.summary, compacted.timestamp), ...messages],
  );
  return { view, sources, compacted, state, grants, model, effort, prompt };
}

/** What an entry says to the model. */
function messageOf(entry: Entry): Message | undefined {
  const timestamp = Date.parse(entry.timestamp);
  if (entry.type === 'message') return entry.message;
  if (entry.type === 'custom_message') return userMessage(entry.content, timestamp);
  if (entry.type === 'custom' && entry.customType === SHELL)
    return shellMessage(entry.data as ShellRecord, timestamp);
  return undefined;
}

function compactionsTakenBack(branch: readonly Entry[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const entry of branch)
    if (entry.type === 'custom' && entry.customType === UNCOMPACT)
      ids.add(String((entry.data as { readonly entryId?: unknown }).entryId));
  return ids;
}

/** The first that is kept may be an entry that says nothing to the model. */
function keptSources(
  sources: readonly Source[],
  branch: readonly Entry[],
  { firstKeptEntryId }: CompactionBody,
): Source[] {
  const first = branch.findIndex(({ id }) => id === firstKeptEntryId);
  if (first < 0) return [];
  const kept = new Set(branch.slice(first).map(({ id }) => id));
  return sources
    .filter(({ id }) => kept.has(id))
    .map(({ id, message }) => ({ id, message: uncounted(message) }));
}

function filesOf({ details }: CompactionBody): FilesTouched {
  const listOf = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
  return { readFiles: listOf(details?.readFiles), modifiedFiles: listOf(details?.modifiedFiles) };
}

/** What the model sees in the place of the messages that were summarised. */
export function summaryMessage(summary: string, timestamp: number): Message {
  return userMessage(summaryText(summary), timestamp);
}

/** The view that begins at an anchor: what came before stays on the tape and leaves the model's sight. */
export function viewAfter(anchor: Anchor, timestamp: number): View {
  const message = anchorMessage(anchor, timestamp);
  return createView(message === undefined ? [] : [message]);
}

function anchorMessage({ name, summary }: Anchor, timestamp: number): Message | undefined {
  if (summary === '') return undefined;
  return userMessage(`<handoff name="${attribute(name)}">\n${summary}\n</handoff>`, timestamp);
}

/** A command that the person ran, as the model sees it. */
export function shellMessage(record: ShellRecord, timestamp: number): Message {
  return userMessage(commandBlock(record), timestamp);
}

export function commandBlock({ command, cwd, exitCode, output }: ShellRecord): string {
  const how = exitCode === null ? 'killed="true"' : `exit_code="${exitCode}"`;
  return `<command cwd="${attribute(cwd)}" ${how}>\n$ ${command}\n${output.trimEnd()}\n</command>`;
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
