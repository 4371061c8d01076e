// What a tape says about a conversation when it is opened again: the view that the model gets, the values that tools
// kept, the grants, the model, the prompt. Crab's own facts are `custom` entries, named here where nobody else reads them.

import {
  ANCHOR_ENTRY,
  type Anchor,
  APPROVAL_ENTRY,
  GRANT_ENTRY,
  RESTRICTION_ENTRY,
  SHELL_ENTRY,
  type ShellRecord,
} from '../core/custom.ts';
import { type Message, type UserMessage, userMessage } from '../core/message.ts';
import type { Effort } from '../core/model.ts';
import { PERMISSION_MODES, type PermissionMode } from '../core/permission.ts';
import type { JsonObject } from '../core/schema.ts';
import type {
  CarriedLines,
  CompactionBody,
  Entry,
  EntryBody,
  FilesTouched,
  Outline,
  TapeReader,
} from '../core/tape.ts';
import { type PreviousCompaction, type Source, summaryText, uncounted } from '../engine/compaction.ts';
import { createView, type View } from '../engine/view.ts';

interface RecordedPrompt {
  readonly cwd: string;
  readonly text: string;
}

/** A compaction that counts: the newest one that was not taken back, unless an anchor came after it. */
export interface Compacted extends PreviousCompaction {
  readonly entryId: string;
}

/** What of a tape is needed to read its branch. */
export type BranchReader = Pick<TapeReader, 'ancestry' | 'branch' | 'entries' | 'entry'>;

export interface History {
  readonly view: View;
  /** What the view shows, by entry; without the summary of `compacted`. */
  readonly sources: readonly Source[];
  readonly compacted: Compacted | undefined;
  readonly state: Map<string, unknown>;
  readonly grants: string[];
  /** What the person asked to be asked about, or forbade, for the rest of the session. */
  readonly restrictions: readonly Restriction[];
  readonly model: string | undefined;
  readonly effort: Effort | undefined;
  /** The permission mode that was chosen last. */
  readonly mode: PermissionMode | undefined;
  readonly prompt: RecordedPrompt | undefined;
  /** The tools that were offered last, where somebody recorded that. */
  readonly tools: readonly string[] | undefined;
}

const STATE = 'crab.state';
const PROMPT = 'crab.prompt';
const UNCOMPACT = 'crab.uncompact';
const MODE = 'crab.mode';

export interface Restriction {
  readonly decision: 'ask' | 'deny';
  readonly rule: string;
}

/** From the least to the most. */
export const EFFORTS = ['off', 'low', 'medium', 'high', 'max'] as const satisfies readonly Effort[];

const custom = (customType: string, data: unknown): EntryBody => ({ type: 'custom', customType, data });

export const stateEntry = (values: Readonly<Record<string, unknown>>): EntryBody => custom(STATE, values);
export const grantEntry = (rule: string): EntryBody => custom(GRANT_ENTRY, { rule });
export const restrictionEntry = (restriction: Restriction): EntryBody =>
  custom(RESTRICTION_ENTRY, restriction);
export const approvalEntry = (rule: string): EntryBody => custom(APPROVAL_ENTRY, { rule });
export const anchorEntry = (anchor: Anchor): EntryBody => custom(ANCHOR_ENTRY, anchor);
export const shellEntry = (record: ShellRecord): EntryBody => custom(SHELL_ENTRY, record);
export const promptEntry = (prompt: RecordedPrompt): EntryBody => custom(PROMPT, prompt);
/** Takes a compaction back. No leaf is moved, so that what was said since stays, too. */
export const uncompactEntry = (entryId: string): EntryBody => custom(UNCOMPACT, { entryId });
export const modeEntry = (mode: PermissionMode): EntryBody => custom(MODE, { mode });
export const isModeEntry = (entry: EntryBody): boolean =>
  entry.type === 'custom' && entry.customType === MODE;

/**
 * Reads the branch of a tape: of what was said only what the model still sees, of the rest everything, and from every
 * branch what the person forbade and the mode that they chose: going back takes neither back. Entries of
 * unknown kinds are somebody else's and are passed over.
 */
export function readHistory(tape: BranchReader): History {
  const { from, compaction } = viewStart(tape);
  const wanted = (outline: Outline) => isSaid(outline) || outline.id === compaction?.id;
  let sources: Source[] = [];
  for (const entry of tape.branch({ ...(from !== undefined && { from }), wanted })) {
    // What stands before it is what it kept.
    if (entry.id === compaction?.id)
      sources = sources.map(({ id, message }) => ({ id, message: uncounted(message) }));
    const message = messageOf(entry);
    if (message !== undefined) sources.push({ id: entry.id, message });
  }
  const messages = sources.map(({ message }) => message);
  const compacted = compaction && {
    entryId: compaction.id,
    summary: compaction.summary,
    files: filesOf(compaction),
    carried: carriedOf(compaction),
  };
  return {
    view: createView([...beginning(compaction, messages), ...messages]),
    sources,
    compacted,
    ...readFacts(tape),
    ...readSessionFacts(tape),
  };
}

/** Providers want a person to speak first. A damaged line may be that of the first prompt. */
function beginning(compaction: CompactionEntry | undefined, [first]: readonly Message[]): readonly Message[] {
  if (compaction !== undefined) return [summaryMessage(compaction.summary, Date.parse(compaction.timestamp))];
  return first === undefined || first.role === 'user' ? [] : [userMessage(BEGINNING_LOST, first.timestamp)];
}

const BEGINNING_LOST = '(The beginning of this conversation could not be read.)';

const FACTS = new Set([STATE, GRANT_ENTRY, PROMPT]);
const SESSION_FACTS = new Set([RESTRICTION_ENTRY, MODE]);
const FACT_TYPES = new Set(['model_change', 'thinking_level_change', 'active_tools_change']);
const SAID = new Set(['message', 'branch_summary', 'custom_message']);

function isSaid({ type, detail }: Outline): boolean {
  return SAID.has(type) || (type === 'custom' && (detail === SHELL_ENTRY || detail === ANCHOR_ENTRY));
}

function isFact({ type, detail }: Outline): boolean {
  return FACT_TYPES.has(type) || (type === 'custom' && FACTS.has(detail));
}

type CompactionEntry = Entry & CompactionBody;

interface ViewStart {
  /** The entry that the view begins with; absent for the root. */
  readonly from?: string;
  /** The one that counts: the newest that was not taken back, unless an anchor came after it. */
  readonly compaction?: CompactionEntry;
}

/** Goes up from the head, so that what lies before the newest boundary is not even looked at. */
function viewStart(tape: BranchReader): ViewStart {
  const takenBack = new Set<string>();
  let compaction: CompactionEntry | undefined;
  for (const { id, type, detail } of tape.ancestry()) {
    if (compaction !== undefined) {
      if (id === compaction.firstKeptEntryId) return { from: id, compaction };
    } else if (type === 'custom' && detail === ANCHOR_ENTRY) return { from: id };
    else if (type === 'custom' && detail === UNCOMPACT) {
      const entry = tape.entry(id);
      if (entry?.type === 'custom') takenBack.add(String(Object(entry.data).entryId));
    } else if (type === 'compaction' && !takenBack.has(id)) {
      const entry = tape.entry(id);
      if (entry?.type === 'compaction') compaction = entry;
    }
  }
  return compaction === undefined ? {} : { from: compaction.id, compaction };
}

type SessionFacts = Pick<History, 'mode' | 'restrictions'>;

function readFacts(tape: BranchReader): Omit<History, 'view' | 'sources' | 'compacted' | keyof SessionFacts> {
  let model: string | undefined;
  let effort: Effort | undefined;
  let prompt: RecordedPrompt | undefined;
  let tools: readonly string[] | undefined;
  const state = new Map<string, unknown>();
  const grants: string[] = [];
  for (const entry of tape.branch({ wanted: isFact })) {
    if (entry.type === 'model_change') model = `${entry.provider}/${entry.modelId}`;
    else if (entry.type === 'thinking_level_change')
      effort = EFFORTS.find((known) => known === entry.thinkingLevel) ?? effort;
    else if (entry.type === 'active_tools_change') tools = entry.tools;
    else if (entry.type === 'custom') {
      const data = entry.data as Record<string, unknown>;
      if (entry.customType === STATE) for (const key of Object.keys(data)) state.set(key, data[key]);
      else if (entry.customType === GRANT_ENTRY) grants.push(String(data.rule));
      else if (entry.customType === PROMPT) prompt = data as unknown as RecordedPrompt;
    }
  }
  return { state, grants, model, effort, prompt, tools };
}

function readSessionFacts(tape: BranchReader): SessionFacts {
  let mode: PermissionMode | undefined;
  const restrictions: Restriction[] = [];
  for (const entry of tape.entries(({ type, detail }) => type === 'custom' && SESSION_FACTS.has(detail))) {
    if (entry.type !== 'custom') continue;
    const data = entry.data as Record<string, unknown>;
    if (entry.customType === MODE) mode = PERMISSION_MODES.find((known) => known === data.mode) ?? mode;
    else restrictions.push({ decision: data.decision === 'ask' ? 'ask' : 'deny', rule: String(data.rule) });
  }
  return { mode, restrictions };
}

/** What an entry says to the model. */
export function messageOf(entry: Entry): Message | undefined {
  const timestamp = Date.parse(entry.timestamp);
  switch (entry.type) {
    case 'message':
      return spoken(entry.message);
    case 'branch_summary':
      return userMessage(branchBlock(entry.summary), timestamp);
    case 'custom_message':
      return userMessage(entry.content, timestamp);
    case 'custom':
      if (entry.customType === SHELL_ENTRY) return shellMessage(entry.data as ShellRecord, timestamp);
      return entry.customType === ANCHOR_ENTRY ? anchorMessage(entry.data as Anchor, timestamp) : undefined;
    default:
      return undefined;
  }
}

/** A message of the three, or what pi makes of two kinds of its own (`messages.ts` of pi-mono): what a person ran, and what an extension said. */
function spoken(message: Message): Message | undefined {
  const { role, command, output, exitCode, excludeFromContext, content, timestamp } =
    message as unknown as JsonObject;
  if (role === 'user' || role === 'assistant' || role === 'toolResult') return message;
  const time = typeof timestamp === 'number' ? timestamp : 0;
  if (role === 'custom' && (typeof content === 'string' || Array.isArray(content)))
    return userMessage(content as UserMessage['content'], time);
  if (role !== 'bashExecution' || excludeFromContext === true) return undefined;
  const code = typeof exitCode === 'number' ? exitCode : null;
  return shellMessage({ command: String(command), cwd: '', exitCode: code, output: String(output) }, time);
}

function branchBlock(summary: string): string {
  return `<branch_summary>\nThe conversation was on another branch and came back here. What happened there:\n${summary}\n</branch_summary>`;
}

const listOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

function carriedOf({ details }: CompactionBody): CarriedLines {
  const { decisions, rules, unfinished } = Object(details?.carried) as Partial<CarriedLines>;
  return { decisions: listOf(decisions), rules: listOf(rules), unfinished: listOf(unfinished) };
}

function filesOf({ details }: CompactionBody): FilesTouched {
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
  const where = cwd === '' ? '' : `cwd="${attribute(cwd)}" `;
  return `<command ${where}${how}>\n$ ${command}\n${output.trimEnd()}\n</command>`;
}

function attribute(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
