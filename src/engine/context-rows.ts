// What fills a model's context, by kind. The provider counts only the whole, so each part is an estimate, and the parts
// are brought to add up to the whole.

import type { Message } from '../core/message.ts';
import type { ToolSchema } from '../core/model.ts';
import { blockTokens, textTokens } from './estimate.ts';

export interface ContextParts {
  readonly system: string;
  /** The part of `system` that the project's own files are. */
  readonly instructions: string;
  readonly tools: readonly ToolSchema[];
  readonly messages: readonly Message[];
  /** The first message is the summary of a compaction. */
  readonly isSummarised: boolean;
}

export interface ContextRow {
  readonly kind: string;
  readonly tokens: number;
}

/** `total` undefined: the rows are as estimated. Kinds without tokens are left out. */
export function contextRows(parts: ContextParts, total?: number): readonly ContextRow[] {
  const rows = estimated(parts).filter(({ tokens }) => tokens > 0);
  return total === undefined ? rows : scaled(rows, total);
}

function estimated({
  system,
  instructions,
  tools,
  messages,
  isSummarised,
}: ContextParts): readonly ContextRow[] {
  const kinds = new Map<string, number>();
  const add = (kind: string, tokens: number) => kinds.set(kind, (kinds.get(kind) ?? 0) + tokens);
  const own = textTokens(instructions);
  add('system prompt', Math.max(0, textTokens(system) - own));
  add('project instructions', own);
  add('tools', tools.length === 0 ? 0 : textTokens(JSON.stringify(tools)));
  for (const [at, message] of messages.entries()) {
    const isSummary = isSummarised && at === 0;
    if (typeof message.content === 'string') {
      add(isSummary ? 'summary' : 'prompts', textTokens(message.content));
      continue;
    }
    // A prompt right behind the summary is one message with it.
    for (const [block, content] of message.content.entries())
      add(isSummary && block === 0 ? 'summary' : kindOf(message, content.type), blockTokens(content));
  }
  return [...kinds].map(([kind, tokens]) => ({ kind, tokens }));
}

function kindOf({ role }: Message, type: Exclude<Message['content'], string>[number]['type']): string {
  if (type === 'image' || type === 'document') return 'images and documents';
  if (type === 'thinking') return 'thinking';
  if (type === 'toolCall') return 'calls';
  if (role === 'toolResult') return 'results';
  return role === 'user' ? 'prompts' : 'answers';
}

/** By largest remainders, so that the sum is exact. */
function scaled(rows: readonly ContextRow[], total: number): readonly ContextRow[] {
  const sum = rows.reduce((all, { tokens }) => all + tokens, 0);
  if (sum === 0) return total === 0 ? [] : [{ kind: 'system prompt', tokens: total }];
  const exact = rows.map(({ kind, tokens }) => ({ kind, share: (tokens * total) / sum }));
  const whole = exact.map(({ share }) => Math.floor(share));
  const left = total - whole.reduce((all, tokens) => all + tokens, 0);
  const order = exact
    .map(({ share }, at) => ({ at, rest: share - Math.floor(share) }))
    .sort((a, b) => b.rest - a.rest || a.at - b.at);
  const more = new Set(order.slice(0, left).map(({ at }) => at));
  return rows.map(({ kind }, at) => ({ kind, tokens: (whole[at] ?? 0) + (more.has(at) ? 1 : 0) }));
}
