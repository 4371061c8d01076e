// What a tape says about a conversation when it is opened again: the view that the model gets, the values that tools
// kept, the grants, the model, the prompt. Crab's own facts are `custom` entries, named here and nowhere else.

import type { Message } from '../core/message.ts';
import { userMessage } from '../core/message.ts';
import type { Effort } from '../core/model.ts';
import type { Entry, EntryBody } from '../core/tape.ts';
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

export interface History {
  readonly view: View;
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

/** From the least to the most. */
export const EFFORTS = ['off', 'low', 'medium', 'high', 'max'] as const satisfies readonly Effort[];

const custom = (customType: string, data: unknown): EntryBody => ({ type: 'custom', customType, data });

export const stateEntry = (values: Readonly<Record<string, unknown>>): EntryBody => custom(STATE, values);
export const grantEntry = (rule: string): EntryBody => custom(GRANT, { rule });
export const anchorEntry = (anchor: Anchor): EntryBody => custom(ANCHOR, anchor);
export const shellEntry = (record: ShellRecord): EntryBody => custom(SHELL, record);
export const promptEntry = (prompt: RecordedPrompt): EntryBody => custom(PROMPT, prompt);

/** Reads a branch from its root to its head. Entries of unknown kinds are somebody else's and are passed over. */
export function readHistory(branch: readonly Entry[]): History {
  let view = createView();
  let model: string | undefined;
  let effort: Effort | undefined;
  let prompt: RecordedPrompt | undefined;
  const state = new Map<string, unknown>();
  const grants: string[] = [];
  for (const entry of branch) {
    if (entry.type === 'message') view.add(entry.message);
    else if (entry.type === 'model_change') model = `${entry.provider}/${entry.modelId}`;
    else if (entry.type === 'thinking_level_change')
      effort = EFFORTS.find((known) => known === entry.thinkingLevel) ?? effort;
    else if (entry.type === 'custom') {
      const data = entry.data as Record<string, unknown>;
      const timestamp = Date.parse(entry.timestamp);
      if (entry.customType === STATE) for (const key of Object.keys(data)) state.set(key, data[key]);
      else if (entry.customType === GRANT) grants.push(String(data.rule));
      else if (entry.customType === PROMPT) prompt = data as unknown as RecordedPrompt;
      else if (entry.customType === SHELL) view.add(shellMessage(data as unknown as ShellRecord, timestamp));
      else if (entry.customType === ANCHOR) view = viewAfter(data as unknown as Anchor, timestamp);
    }
  }
  return { view, state, grants, model, effort, prompt };
}

/** The view that begins at an anchor: what came before stays on the tape and leaves the model's sight. */
export function viewAfter(anchor: Anchor, timestamp: number): View {
  const view = createView();
  if (anchor.summary === '') return view;
  const text = `<handoff name="${attribute(anchor.name)}">\n${anchor.summary}\n</handoff>`;
  view.add(userMessage(text, timestamp));
  return view;
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
