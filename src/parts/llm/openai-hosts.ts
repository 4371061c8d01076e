// Those who serve models that others made, over Chat Completions: gateways, and machines for open models. Where thinking
// is controlled per model, nothing is sent for a model that is not known to understand it.

import { type ChatRow, chatRow } from './openai-row.ts';
import type { ProviderRow } from './provider-row.ts';

const GPT_OSS = /gpt-oss/;
const CLAUDE = /(?:^|[/~])(?:anthropic\/|claude)/;

/** Templates that turn thinking on and off by an argument of their own. */
const HYBRID = /(?:glm|qwen3|kimi|deepseek-v[34]|nemotron)/i;

/** One gateway with two doors: a subscription, and pay as you go. */
const OPENCODE: Pick<ChatRow, 'quirks' | 'where'> = {
  quirks: {
    effortField: 'none',
    replayThinking: 'reasoning_content',
    thinkingRequired: true,
    conversationHeader: 'x-opencode-session',
  },
  where: [
    {
      ids: /^(?:deepseek-v4|glm-5\.[2-9])/,
      quirks: {
        effortField: 'reasoning_effort',
        efforts: { max: 'max' },
        images: false,
        toolChoice: 'none',
      },
    },
    { ids: /^(?:kimi-k2\.[5-9]|mimo)/, quirks: { toolChoice: 'none' } },
  ],
};

export const HOSTS: readonly ProviderRow[] = [
  // opencode.ai/docs/go
  chatRow({
    name: 'opencode',
    baseUrl: 'https://opencode.ai/zen/go/v1',
    defaultModel: 'deepseek-v4-flash',
    ...OPENCODE,
  }),
  // opencode.ai/docs/zen
  chatRow({
    name: 'opencode-zen',
    baseUrl: 'https://opencode.ai/zen/v1',
    keys: ['OPENCODE_API_KEY'],
    defaultModel: 'glm-5.2',
    ...OPENCODE,
  }),
  // openrouter.ai/docs: usage and its cost come unasked.
  chatRow({
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    // openrouter.ai/docs/guides/overview/auth/oauth: a login ends in a key; no client has to be registered.
    oauth: {
      authorizeUrl: 'https://openrouter.ai/auth',
      tokenUrl: 'https://openrouter.ai/api/v1/auth/keys',
      clientId: '',
      scopes: [],
      port: 3000,
      exchange: 'key',
    },
    defaultModel: 'anthropic/claude-sonnet-5',
    listsModels: true,
    probe: 'list',
    headers: { 'x-title': 'Crab' },
    quirks: {
      streamUsage: false,
      effortField: 'reasoning',
      efforts: { off: 'none', max: 'xhigh' },
      replayThinking: 'reasoning_details',
      documents: true,
      costField: 'cost',
      responseFormat: 'json_schema',
    },
    where: [{ ids: CLAUDE, quirks: { cacheMarks: true } }],
  }),
  // vercel.com/docs/ai-gateway
  chatRow({
    name: 'vercel',
    prefix: 'AI_GATEWAY',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
    defaultModel: 'anthropic/claude-sonnet-5',
    quirks: {
      effortField: 'reasoning',
      efforts: { off: 'none', max: 'xhigh' },
      replayThinking: 'reasoning_details',
      documents: true,
      responseFormat: 'json_schema',
    },
    where: [{ ids: CLAUDE, quirks: { cacheMarks: true } }],
  }),
  // console.groq.com/docs/reasoning
  chatRow({
    name: 'groq',
    baseUrl: 'https://api.groq.com/openai/v1',
    defaultModel: 'openai/gpt-oss-120b',
    quirks: { maxTokensField: 'max_completion_tokens', effortField: 'none', images: false },
    where: [
      { ids: GPT_OSS, quirks: { effortField: 'reasoning_effort', responseFormat: 'json_schema' } },
      {
        ids: /qwen3/,
        quirks: {
          effortField: 'reasoning_effort',
          efforts: { off: 'none', low: 'default', medium: 'default', high: 'default', max: 'default' },
        },
      },
      { ids: /llama-4|vision/, quirks: { images: true } },
    ],
  }),
  // docs.together.ai/docs/inference/chat/reasoning
  chatRow({
    name: 'together',
    baseUrl: 'https://api.together.ai/v1',
    defaultModel: 'zai-org/GLM-5.2',
    quirks: { effortField: 'none', responseFormat: 'json_schema' },
    where: [
      { ids: HYBRID, quirks: { thinkingSwitch: 'chat_template_kwargs' } },
      { ids: GPT_OSS, quirks: { effortField: 'reasoning_effort' } },
      { ids: /GLM-5\.[2-9]/, quirks: { effortField: 'reasoning_effort', efforts: { max: 'max' } } },
    ],
  }),
  // docs.fireworks.ai/guides/reasoning
  chatRow({
    name: 'fireworks',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    defaultModel: 'accounts/fireworks/models/glm-5p2',
    quirks: {
      efforts: { off: 'none' },
      replayThinking: 'reasoning_content',
      conversationHeader: 'x-session-affinity',
      fastTier: 'priority',
      responseFormat: 'json_schema',
    },
    where: [{ ids: GPT_OSS, quirks: { efforts: { off: 'low' } } }],
  }),
  // inference-docs.cerebras.ai/capabilities/reasoning
  chatRow({
    name: 'cerebras',
    baseUrl: 'https://api.cerebras.ai/v1',
    defaultModel: 'gpt-oss-120b',
    quirks: {
      maxTokensField: 'max_completion_tokens',
      effortField: 'none',
      images: false,
      responseFormat: 'json_schema',
    },
    where: [
      { ids: GPT_OSS, quirks: { effortField: 'reasoning_effort' } },
      {
        ids: /glm/,
        quirks: {
          effortField: 'reasoning_effort',
          efforts: { off: 'none', low: '', medium: '', high: '', max: '' },
        },
      },
    ],
  }),
  // docs.api.nvidia.com/nim/reference/llm-apis
  chatRow({
    name: 'nvidia',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
    defaultModel: 'z-ai/glm-5.1',
    quirks: { effortField: 'none', replayThinking: 'reasoning_content' },
    where: [
      { ids: HYBRID, quirks: { thinkingSwitch: 'chat_template_kwargs' } },
      { ids: GPT_OSS, quirks: { effortField: 'reasoning_effort' } },
    ],
  }),
  // docs.deepinfra.com/chat/reasoning
  chatRow({
    name: 'deepinfra',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
    keys: ['DEEPINFRA_API_KEY', 'DEEPINFRA_TOKEN'],
    defaultModel: 'deepseek-ai/DeepSeek-V4-Flash',
    quirks: {
      efforts: { off: 'none', max: 'xhigh' },
      replayThinking: 'reasoning_content',
      costField: 'estimated_cost',
    },
  }),
  // docs.tokenfactory.nebius.com
  chatRow({
    name: 'nebius',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    defaultModel: 'zai-org/GLM-5.2',
    quirks: { responseFormat: 'json_schema' },
  }),
  // docs.baseten.co/inference/model-apis/reasoning
  chatRow({
    name: 'baseten',
    baseUrl: 'https://inference.baseten.co/v1',
    defaultModel: 'zai-org/GLM-5.2',
    quirks: { effortField: 'none', responseFormat: 'json_schema' },
    where: [{ ids: /gpt-oss|DeepSeek-V4/, quirks: { effortField: 'reasoning_effort' } }],
  }),
  // novita.ai/docs/api-reference/model-apis-llm-create-chat-completion
  chatRow({
    name: 'novita',
    baseUrl: 'https://api.novita.ai/openai/v1',
    defaultModel: 'zai-org/glm-5.2',
    quirks: { effortField: 'none' },
    where: [{ ids: HYBRID, quirks: { thinkingSwitch: 'enable_thinking' } }],
  }),
  // docs.siliconflow.com/en/api-reference/chat-completions
  chatRow({
    name: 'siliconflow',
    baseUrl: 'https://api.siliconflow.com/v1',
    defaultModel: 'zai-org/GLM-5.2',
    quirks: { effortField: 'none' },
    where: [{ ids: HYBRID, quirks: { thinkingSwitch: 'enable_thinking' } }],
  }),
  // docs.ollama.com/openai
  chatRow({
    name: 'ollama-cloud',
    baseUrl: 'https://ollama.com/v1',
    keys: ['OLLAMA_API_KEY'],
    defaultModel: 'glm-5.2',
    quirks: { efforts: { off: 'none', max: 'max' }, replayThinking: 'reasoning', toolChoice: 'none' },
  }),
  // huggingface.co/docs/inference-providers/en/tasks/chat-completion
  chatRow({
    name: 'huggingface',
    prefix: 'HF',
    baseUrl: 'https://router.huggingface.co/v1',
    keys: ['HF_TOKEN'],
    meantBy: ['HF_MODEL'],
    defaultModel: 'zai-org/GLM-5.2',
    quirks: { efforts: { off: 'none', max: 'xhigh' } },
  }),
  // docs.github.com/en/rest/models/inference
  chatRow({
    name: 'github-models',
    baseUrl: 'https://models.github.ai/inference',
    keys: ['GITHUB_MODELS_TOKEN', 'GITHUB_TOKEN'],
    meantBy: ['GITHUB_MODELS_TOKEN', 'GITHUB_MODELS_MODEL'],
    defaultModel: 'openai/gpt-4.1',
    quirks: { effortField: 'none' },
    where: [
      { ids: /^openai\/(?:gpt-5|o\d)/, quirks: { maxTokensField: 'max_completion_tokens' } },
      { ids: /^openai\//, quirks: { responseFormat: 'json_schema' } },
    ],
  }),
];
