// What a tape says about a conversation when it is opened again: the view that the model gets, the values that tools
// kept, the grants, the model, the prompt. Crab's own facts are `custom` entries, named here and nowhere else.

import { ANCHOR_ENTRY, type Anchor, SHELL_ENTRY, type ShellRecord } from '../core/custom.ts';
import { type Message, type UserMessage, userMessage } from '../core/message.ts';
import type { JsonObject } from '../core/schema.ts';
import type { Entry, EntryBody, Outline, TapeReader } from '../core/tape.ts';
import { createView, type View } from '../engine/view.ts';

interface RecordedPrompt {
  readonly cwd: string;
  readonly text: string;
}

export interface History {
  readonly view: View;
  readonly state: Map<string, unknown>;
  readonly grants: string[];
  readonly model: string | undefined;
  readonly prompt: RecordedPrompt | undefined;
  /** The tools that were offered last, where somebody recorded that. */
  readonly tools: readonly string[] | undefined;
}

const STATE = 'crab.state';
const GRANT = 'crab.grant';
const PROMPT = 'crab.prompt';

const custom = (customType: string, data: unknown): EntryBody => ({ type: 'custom', customType, data });

export const stateEntry = (values: Readonly<Record<string, unknown>>): EntryBody => custom(STATE, values);
export const grantEntry = (rule: string): EntryBody => custom(GRANT, { rule });
export const anchorEntry = (anchor: Anchor): EntryBody => custom(ANCHOR_ENTRY, anchor);
export const shellEntry = (record: ShellRecord): EntryBody => custom(SHELL_ENTRY, record);
export const promptEntry = (prompt: RecordedPrompt): EntryBody => custom(PROMPT, prompt);

/**
 * Reads the branch of a tape: of what was said only what the model still sees, of the rest everything. Entries of
 * unknown kinds are somebody else's and are passed over.
 */
export function readHistory(tape: TapeReader): History {
  const from = viewStart(tape);
  const view = createView();
  let isBegun = false;
  for (const entry of tape.branch({ ...(from !== undefined && { from }), wanted: isSaid })) {
    const message = messageOf(entry);
    if (message === undefined) continue;
    // Providers want a person to speak first, and a damaged line may be that of the first prompt.
    if (!isBegun && message.role !== 'user') view.add(userMessage(BEGINNING_LOST, message.timestamp));
    isBegun = true;
    view.add(message);
  }
  return { view, ...readFacts(tape) };
}

const BEGINNING_LOST = '(The beginning of this conversation could not be read.)';

const FACTS = new Set([STATE, GRANT, PROMPT]);
const SAID = new Set(['message', 'branch_summary', 'custom_message']);

function isSaid({ type, detail }: Outline): boolean {
  return SAID.has(type) || (type === 'custom' && (detail === SHELL_ENTRY || detail === ANCHOR_ENTRY));
}

function isFact({ type, detail }: Outline): boolean {
  return (
    type === 'model_change' || type === 'active_tools_change' || (type === 'custom' && FACTS.has(detail))
  );
}

/** The entry that the view begins with; undefined for the root. */
function viewStart(tape: TapeReader): string | undefined {
  for (const { id, type, detail } of tape.ancestry())
    if (type === 'custom' && detail === ANCHOR_ENTRY) return id;
  return undefined;
}

function readFacts(tape: TapeReader): Omit<History, 'view'> {
  let model: string | undefined;
  let prompt: RecordedPrompt | undefined;
  let tools: readonly string[] | undefined;
  const state = new Map<string, unknown>();
  const grants: string[] = [];
  for (const entry of tape.branch({ wanted: isFact })) {
    if (entry.type === 'model_change') model = `${entry.provider}/${entry.modelId}`;
    else if (entry.type === 'active_tools_change') tools = entry.tools;
    else if (entry.type === 'custom') {
      const data = entry.data as Record<string, unknown>;
      if (entry.customType === STATE) for (const key of Object.keys(data)) state.set(key, data[key]);
      else if (entry.customType === GRANT) grants.push(String(data.rule));
      else if (entry.customType === PROMPT) prompt = data as unknown as RecordedPrompt;
    }
  }
  return { state, grants, model, prompt, tools };
}

/** What an entry says to the model. */
function messageOf(entry: Entry): Message | undefined {
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
