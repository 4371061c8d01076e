// How many tokens a request has before a provider has counted them. The provider's own count of the last answer is the
// base; only what came since is guessed, from its bytes. It errs on the high side, because budgets are built on it.

import type { AssistantMessage, Message } from '../core/message.ts';
import type { ModelRequest } from '../core/model.ts';

/** Bytes of UTF-8 that make at least one token in prose, in code and in Chinese alike. */
const BYTES_PER_TOKEN = 3;

/** What a large image costs with the vendors that say so. */
const IMAGE_TOKENS = 1600;

/** A page is about 3,000 tokens and 50 KB. */
const DOCUMENT_BYTES_PER_TOKEN = 16;

export interface InputEstimate {
  /** All tokens of the request. */
  readonly tokens: number;
  /** Those of them that the provider has said it keeps in its cache. */
  readonly cached: number;
}

/** How long providers keep a prompt after it was last used: five minutes, the shortest that any of them promises. */
const CACHE_MS = 5 * 60_000;

/** @param model `provider` and `id` of the model that will be asked: another one's cache is of no use to it */
export function estimateInput(
  request: Pick<ModelRequest, 'system' | 'messages' | 'tools'>,
  model: { readonly provider: string; readonly id: string },
  now: number,
): InputEstimate {
  const { messages } = request;
  let since = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message === undefined) break;
    if (message.role === 'assistant' && isCounted(message)) {
      const { usage } = message;
      const isWarm =
        message.provider === model.provider &&
        message.model === model.id &&
        now - message.timestamp < CACHE_MS;
      const cached = isWarm ? usage.cacheRead + usage.cacheWrite : 0;
      return { tokens: usage.totalTokens + since, cached };
    }
    since += tokensOf(message);
  }
  const tools = request.tools.length === 0 ? 0 : textTokens(JSON.stringify(request.tools));
  return { tokens: since + textTokens(request.system) + tools, cached: 0 };
}

/** By the provider's count of the last request and its answer; undefined where nothing was counted yet. */
export function countedTokens(messages: readonly Message[]): number | undefined {
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (message?.role === 'assistant' && isCounted(message)) return message.usage.totalTokens;
  }
  return undefined;
}

/** A message that was cut short may have been counted in part only. */
export function isCounted({ usage, stopReason }: AssistantMessage): boolean {
  return usage.totalTokens > 0 && stopReason !== 'error' && stopReason !== 'aborted';
}

export function textTokens(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
}

function tokensOf(message: Message): number {
  if (typeof message.content === 'string') return textTokens(message.content);
  let tokens = 0;
  for (const block of message.content) tokens += blockTokens(block);
  return tokens;
}

export function blockTokens(block: Exclude<Message['content'], string>[number]): number {
  switch (block.type) {
    case 'text':
      return textTokens(block.text);
    case 'thinking':
      return textTokens(block.thinking);
    case 'toolCall':
      return textTokens(JSON.stringify(block.arguments));
    case 'image':
      return IMAGE_TOKENS;
    case 'document':
      return Math.ceil(block.data.length / DOCUMENT_BYTES_PER_TOKEN);
  }
}
