// Those who make models and serve them themselves, over Chat Completions. What each needs is in its own documentation;
// where that is not enough, the reason stands with the row. Efforts and switches: models.dev, June 2026.

import { chatRow } from './openai-row.ts';
import type { ProviderRow } from './provider-row.ts';

export const VENDORS: readonly ProviderRow[] = [
  // api-docs.deepseek.com/guides/thinking_mode: without its reasoning, a message with calls is refused.
  chatRow({
    name: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    defaultModel: 'deepseek-v4-flash',
    ids: /^deepseek-(?:chat|reasoner|v4-(?:flash|pro))$/,
    quirks: {
      thinkingSwitch: 'thinking',
      efforts: { max: 'max' },
      replayThinking: 'reasoning_content',
      thinkingRequired: true,
      toolChoice: 'unthinking',
      images: false,
      responseFormat: 'json_object',
    },
  }),
  // docs.mistral.ai/api: unknown fields are refused, `stream_options` among them; usage comes all the same.
  chatRow({
    name: 'mistral',
    baseUrl: 'https://api.mistral.ai/v1',
    defaultModel: 'mistral-medium-2604',
    ids: /^(?:mistral|ministral|magistral|codestral|devstral|pixtral)-(?:[a-z0-9]+-)*(?:latest|\d{4})$/,
    quirks: {
      streamUsage: false,
      effortField: 'none',
      callIds: 'nine',
      resultName: true,
      resultImages: true,
      conversationHeader: 'x-affinity',
      responseFormat: 'json_schema',
    },
    where: [
      { ids: /^magistral/, quirks: { replayThinking: 'thinking_part' } },
      {
        ids: /^mistral-(?:small|medium|large)-2[6-9]\d\d$/,
        quirks: {
          replayThinking: 'thinking_part',
          effortField: 'reasoning_effort',
          efforts: { off: 'none', low: 'high', medium: 'high', max: 'high' },
        },
      },
    ],
  }),
  // docs.x.ai: a cost of 10,000,000,000 ticks is a dollar.
  chatRow({
    name: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    defaultModel: 'grok-4.7',
    ids: /^grok-/,
    quirks: {
      maxTokensField: 'max_completion_tokens',
      efforts: { max: 'xhigh' },
      conversationHeader: 'x-grok-conv-id',
      costField: 'cost_in_usd_ticks',
      costPerUsd: 1e10,
      responseFormat: 'json_schema',
    },
    where: [
      { ids: /^grok-4\.3/, quirks: { efforts: { off: 'none', max: 'high' } } },
      { ids: /^grok-(?:build|code|4\.20|4(?:-|$))/, quirks: { effortField: 'none' } },
    ],
  }),
  // platform.moonshot.ai/docs/api/chat: Kimi K2.7 and the thinking models always think, and cannot be made to call.
  chatRow({
    name: 'moonshot',
    baseUrl: 'https://api.moonshot.ai/v1',
    defaultModel: 'kimi-k2.7-code',
    ids: /^(?:kimi|moonshot)-[\w.-]+$/,
    quirks: {
      thinkingSwitch: 'thinking',
      effortField: 'none',
      replayThinking: 'reasoning_content',
      thinkingRequired: true,
      toolChoice: 'unthinking',
      cacheField: 'prompt_cache_key',
      responseFormat: 'json_object',
    },
    where: [
      { ids: /^kimi-k2\.[7-9]|thinking/, quirks: { thinkingSwitch: 'none', toolChoice: 'none' } },
      {
        ids: /^kimi-k2-(?!thinking)|^moonshot-/,
        quirks: { thinkingSwitch: 'none', thinkingRequired: false, toolChoice: 'named' },
      },
    ],
  }),
  // docs.z.ai/api-reference/llm/chat-completion: `tool_choice` knows `auto` alone.
  chatRow({
    name: 'zai',
    baseUrl: 'https://api.z.ai/api/paas/v4',
    keys: ['ZAI_API_KEY', 'ZHIPU_API_KEY'],
    defaultModel: 'glm-5.2',
    ids: /^glm-\d[\w.-]*$/,
    quirks: {
      thinkingSwitch: 'thinking',
      effortField: 'none',
      replayThinking: 'reasoning_content',
      toolChoice: 'none',
      images: false,
      responseFormat: 'json_object',
    },
    where: [
      {
        ids: /^glm-(?:5\.[2-9]|[6-9])/,
        quirks: { effortField: 'reasoning_effort', efforts: { max: 'max' } },
      },
      { ids: /^glm-[\d.]+v/, quirks: { images: true } },
    ],
  }),
  // alibabacloud.com/help/en/model-studio/deep-thinking
  chatRow({
    name: 'dashscope',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    defaultModel: 'qwen3.7-plus',
    ids: /^(?:qwen(?:3(?:\.\d)?)?(?:-coder|-vl)?-(?:max|plus|flash|turbo)|qwq-plus|qvq-max)(?:-|$)/,
    quirks: {
      thinkingSwitch: 'enable_thinking',
      effortField: 'none',
      toolChoice: 'unthinking',
      responseFormat: 'json_object',
    },
  }),
  // platform.minimax.io: thinking stands in the text, and has to stay there.
  chatRow({
    name: 'minimax',
    baseUrl: 'https://api.minimax.io/v1',
    defaultModel: 'MiniMax-M3',
    ids: /^MiniMax-/,
    quirks: {
      effortField: 'none',
      thinkTags: true,
      replayThinking: 'think_tags',
      images: false,
      responseFormat: 'none',
    },
  }),
  // platform.xiaomimimo.com
  chatRow({
    name: 'xiaomi',
    baseUrl: 'https://api.xiaomimimo.com/v1',
    defaultModel: 'mimo-v2.5-pro',
    ids: /^mimo-/,
    quirks: {
      maxTokensField: 'max_completion_tokens',
      thinkingSwitch: 'thinking',
      effortField: 'none',
      replayThinking: 'reasoning_content',
      thinkingRequired: true,
      toolChoice: 'none',
      responseFormat: 'json_object',
    },
  }),
  // docs.cohere.com/docs/compatibility-api
  chatRow({
    name: 'cohere',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    defaultModel: 'command-a-plus-05-2026',
    ids: /^command-/,
    quirks: {
      efforts: { off: 'none', low: 'high', medium: 'high' },
      toolChoice: 'required',
      responseFormat: 'json_schema',
    },
  }),
  // docs.perplexity.ai: models that search and know no tools.
  chatRow({
    name: 'perplexity',
    baseUrl: 'https://api.perplexity.ai',
    defaultModel: 'sonar-pro',
    ids: /^sonar/,
    quirks: {
      streamUsage: false,
      tools: false,
      effortField: 'none',
      thinkTags: true,
      costField: 'cost.total_cost',
      responseFormat: 'json_schema',
    },
    where: [
      {
        ids: /^sonar-(?:reasoning|deep-research)/,
        quirks: { effortField: 'reasoning_effort', efforts: { off: 'minimal' } },
      },
    ],
  }),
];
