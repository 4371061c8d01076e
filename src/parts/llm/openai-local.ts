// Servers of one's own. They run whatever somebody loaded into them, so thinking and tool calls may come as text.

import type { OpenAiQuirks } from './openai-quirks.ts';
import { chatRow } from './openai-row.ts';
import type { ProviderRow } from './provider-row.ts';

export const LOCAL_QUIRKS: OpenAiQuirks = { thinkTags: true, textCalls: true };

const LOCAL = { keyless: true, local: true, listsModels: true } as const;

export const LOCAL_SERVERS: readonly ProviderRow[] = [
  // docs.ollama.com/openai: `tool_choice` is ignored.
  chatRow({
    name: 'ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    keys: [],
    ...LOCAL,
    hostKey: 'OLLAMA_HOST',
    probe: 'ollama',
    widen: 'start Ollama with OLLAMA_CONTEXT_LENGTH=32768 or more',
    quirks: {
      ...LOCAL_QUIRKS,
      efforts: { off: 'none' },
      replayThinking: 'reasoning',
      toolChoice: 'none',
      responseFormat: 'json_schema',
    },
  }),
  // lmstudio.ai/docs/developer/openai-compat
  chatRow({
    name: 'lmstudio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    ...LOCAL,
    probe: 'lmstudio',
    widen: 'load the model in LM Studio with a larger context length',
    quirks: { ...LOCAL_QUIRKS, toolChoice: 'required', responseFormat: 'json_schema' },
  }),
  // github.com/ggml-org/llama.cpp, tools/server: a named `tool_choice` is taken for `auto`.
  chatRow({
    name: 'llamacpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    ...LOCAL,
    probe: 'llamacpp',
    widen: 'start llama-server with a larger --ctx-size',
    quirks: {
      ...LOCAL_QUIRKS,
      thinkingSwitch: 'chat_template_kwargs',
      replayThinking: 'reasoning_content',
      toolChoice: 'required',
      parallelCalls: true,
      responseFormat: 'json_schema',
    },
  }),
  // docs.vllm.ai: prompt and answer together must fit, and what is not said is counted by the server.
  chatRow({
    name: 'vllm',
    baseUrl: 'http://127.0.0.1:8000/v1',
    ...LOCAL,
    probe: 'list',
    widen: 'start vLLM with a larger --max-model-len',
    quirks: {
      ...LOCAL_QUIRKS,
      maxTokensField: 'none',
      thinkingSwitch: 'chat_template_kwargs',
      replayThinking: 'reasoning',
      responseFormat: 'json_schema',
    },
  }),
  // docs.litellm.ai: a gateway of one's own, to models that cost what they cost.
  chatRow({
    name: 'litellm',
    baseUrl: 'http://127.0.0.1:4000/v1',
    keyless: true,
    listsModels: true,
    probe: 'litellm',
    quirks: { efforts: { off: 'none' }, documents: true, costField: 'cost' },
    where: [{ ids: /claude/, quirks: { cacheMarks: true } }],
  }),
];
