// Quirks as a person writes them into settings: plain texts and switches, by the names that `OpenAiQuirks` documents.
// Loaded only for a provider of one's own.

import { CrabError } from '../../core/errors.ts';
import type { Effort } from '../../core/model.ts';
import type { OpenAiQuirks } from './openai-quirks.ts';
import type { AnthropicQuirks } from './provider-row.ts';

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
  return readQuirks(given, where, ACCEPTED, 'Chat Completions');
}

const ANTHROPIC: Readonly<Record<keyof AnthropicQuirks, Accepted>> = {
  cacheTtl: ['5m', '1h'],
  citations: 'switch',
  files: 'switch',
};

/** As `quirksFromSettings`, for Anthropic's Messages API. */
export function anthropicQuirksFromSettings(given: Given, where: string): AnthropicQuirks {
  return readQuirks(given, where, ANTHROPIC, 'the Messages API');
}

type Given = Readonly<Record<string, string | boolean>>;

/** Names are written as everything else in settings: `max_tokens_field`. */
function readQuirks(
  given: Given,
  where: string,
  known: Readonly<Record<string, Accepted>>,
  of: string,
): object {
  const quirks: Record<string, unknown> = {};
  for (const [written, value] of Object.entries(given)) {
    const name = written.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
    const accepted = Object.hasOwn(known, name) ? known[name] : undefined;
    if (accepted === undefined)
      throw new CrabError('usage', `${where}.${written} is no quirk of ${of}.`, {
        hint: `There are ${Object.keys(known).map(settingOf).join(', ')}.`,
      });
    const read = readValue(value, accepted);
    if (read === undefined)
      throw new CrabError('usage', `${where}.${written} is ${JSON.stringify(value)}, which it cannot be.`, {
        hint: `It is ${wanted(accepted)}.`,
      });
    quirks[name] = read;
  }
  return quirks;
}

/** How settings write the name of a quirk. */
export function settingOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
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
