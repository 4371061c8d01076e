// Quirks as a person writes them into settings: plain texts and switches, by the names that `OpenAiQuirks` documents.
// Loaded only for a provider of one's own.

import { CrabError } from '../../core/errors.ts';
import type { Effort } from '../../core/model.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';

type Accepted = 'switch' | 'text' | 'number' | 'efforts' | readonly string[];

const ACCEPTED: Readonly<Record<keyof OpenAiQuirks, Accepted>> = {
  path: 'text',
  maxTokensField: ['max_tokens', 'max_completion_tokens', 'none'],
  systemRole: ['system', 'developer', 'user'],
  streamUsage: 'switch',
  refuseStore: 'switch',
  cacheField: 'text',
  conversationHeader: 'text',
  cacheMarks: 'switch',
  fastTier: 'text',
  effortField: ['reasoning_effort', 'reasoning', 'none'],
  efforts: 'efforts',
  effortWithTools: 'text',
  thinkingSwitch: ['thinking', 'enable_thinking', 'chat_template_kwargs', 'none'],
  replayThinking: [
    'reasoning_content',
    'reasoning',
    'reasoning_details',
    'thinking_part',
    'think_tags',
    'none',
  ],
  thinkingRequired: 'switch',
  thinkTags: 'switch',
  tools: 'switch',
  toolChoice: ['named', 'unthinking', 'required', 'none'],
  parallelCalls: 'switch',
  looseTools: 'switch',
  callIds: ['any', 'nine'],
  resultName: 'switch',
  assistantAfterResult: 'switch',
  textCalls: 'switch',
  images: 'switch',
  resultImages: 'switch',
  documents: 'switch',
  responseFormat: ['json_schema', 'json_object', 'none'],
  costField: 'text',
  costPerUsd: 'number',
};

export const QUIRK_NAMES = Object.keys(ACCEPTED) as readonly (keyof OpenAiQuirks)[];

const EFFORTS: readonly string[] = ['off', 'low', 'medium', 'high', 'max'] satisfies readonly Effort[];

/** `where` is what the person would look for, such as `providers.acme.quirks`. Throws `usage`. */
export function quirksFromSettings(
  given: Readonly<Record<string, string | boolean>>,
  where: string,
): OpenAiQuirks {
  const quirks: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const accepted = Object.hasOwn(ACCEPTED, name) ? ACCEPTED[name as keyof OpenAiQuirks] : undefined;
    if (accepted === undefined)
      throw new CrabError('usage', `${where}.${name} is no quirk of Chat Completions.`, {
        hint: `There are ${QUIRK_NAMES.join(', ')}.`,
      });
    const read = readValue(value, accepted);
    if (read === undefined)
      throw new CrabError('usage', `${where}.${name} is ${JSON.stringify(value)}, which it cannot be.`, {
        hint: `It is ${wanted(accepted)}.`,
      });
    quirks[name] = read;
  }
  return quirks;
}

function readValue(value: string | boolean, accepted: Accepted): unknown {
  if (accepted === 'switch') return typeof value === 'boolean' ? value : undefined;
  if (typeof value !== 'string') return undefined;
  if (accepted === 'text') return value === '' ? undefined : value;
  if (accepted === 'number') return Number(value) > 0 ? Number(value) : undefined;
  if (accepted === 'efforts') return effortsIn(value);
  return accepted.includes(value) ? value : undefined;
}

/** `off=none, max=xhigh` */
function effortsIn(text: string): OpenAiQuirks['efforts'] | undefined {
  const pairs = text.split(',').map((pair) => pair.trim().split('='));
  const known = pairs.every(([effort = '', name]) => EFFORTS.includes(effort.trim()) && name !== undefined);
  return known
    ? Object.fromEntries(pairs.map(([effort = '', name = '']) => [effort.trim(), name.trim()]))
    : undefined;
}

function wanted(accepted: Accepted): string {
  if (accepted === 'switch') return 'true or false';
  if (accepted === 'text') return 'a text';
  if (accepted === 'number') return 'a number above zero, as a text';
  if (accepted === 'efforts') return `a list such as "off=none, max=xhigh", of ${EFFORTS.join(', ')}`;
  return `one of ${accepted.join(', ')}`;
}
