// A summary without a model: decisions, changes and what is unresolved, found by the words that people and models use
// for them. It says less than a model would, and nothing that was not said.

import { type Message, messageText, type ToolCallContent, toolCalls } from '../core/message.ts';
import type { Access } from '../core/permission.ts';
import { DECISION, oneLine, RULE, sentences, UNFINISHED } from './carried.ts';
import type { CompactionPlan } from './compaction.ts';

const MAX_LINES = 40;

export interface PatternInput {
  readonly plan: Pick<CompactionPlan, 'summarised' | 'turnPrefix' | 'previousSummary'>;
  accessOf(call: ToolCallContent): Access | undefined;
}

/** Never empty. */
export function summaryByPatterns({ plan, accessOf }: PatternInput): string {
  const messages = [...plan.summarised, ...plan.turnPrefix];
  const prompts = messages.filter((message) => message.role === 'user').map(messageText);
  const lines = messages.filter(({ role }) => role !== 'toolResult').flatMap(sentences);
  const parts = [
    titleLine(prompts),
    section('Earlier', plan.previousSummary),
    section('Goal', bullets(newest(prompts.map(oneLine)))),
    section('Decisions', bullets(newest(lines.filter((line) => DECISION.test(line) || RULE.test(line))))),
    section('Code changes', bullets(newest(messages.flatMap((message) => changes(message, accessOf))))),
    section(
      'Unresolved',
      bullets(newest([...lines.filter((line) => UNFINISHED.test(line)), ...failures(messages)])),
    ),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function titleLine(prompts: readonly string[]): string {
  return oneLine(prompts.find((text) => text.trim() !== '') ?? '') || 'A conversation without words.';
}

function section(title: string, text: string | undefined): string {
  return text === undefined || text === '' ? '' : `## ${title}\n${text}`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

/** Each once, the newest where there are too many. */
function newest(lines: readonly string[]): readonly string[] {
  return [...new Set(lines.filter((line) => line !== ''))].slice(-MAX_LINES);
}

function changes(message: Message, accessOf: PatternInput['accessOf']): readonly string[] {
  if (message.role !== 'assistant') return [];
  return toolCalls(message).flatMap((call) => {
    const access = accessOf(call);
    if (access?.kind === 'write') return access.paths.map((path) => `${call.name} ${path}`);
    return access?.kind === 'command' ? [oneLine(`${call.name}: ${access.command}`)] : [];
  });
}

/** A call whose error nothing of the same kind made good afterwards. */
function failures(messages: readonly Message[]): readonly string[] {
  const open = new Map<string, string>();
  const inputs = new Map<string, string>();
  for (const message of messages) {
    if (message.role === 'assistant')
      for (const call of toolCalls(message))
        inputs.set(call.id, `${call.name} ${JSON.stringify(call.arguments)}`);
    if (message.role !== 'toolResult') continue;
    const input = inputs.get(message.toolCallId) ?? message.toolName;
    if (message.isError) open.set(input, oneLine(`${input} failed: ${messageText(message)}`));
    else open.delete(input);
  }
  return [...open.values()];
}
