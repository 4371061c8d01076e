// Servers that run on this machine. Nobody is chosen for a key here: with none at all, the first that answers at its
// usual address is taken. Their windows are as long as whoever started them said, so each says how to make it longer.

import type { OpenAiDialect, ProbeName, ProviderRow } from './provider-row.ts';

/** A server of OpenAI's Chat Completions API of which nothing more is known. */
export const PLAIN_CHAT: OpenAiDialect = {
  wire: 'openai-completions',
  completionTokenHosts: [],
  efforts: [],
};

function local(row: {
  readonly name: string;
  readonly baseUrl: string;
  readonly baseUrlKey?: string;
  readonly probe: ProbeName;
  readonly widen: string;
}): ProviderRow {
  return {
    ...row,
    endpoints: ['/chat/completions'],
    auth: { kind: 'none' },
    keyless: true,
    local: true,
    onlyNamed: true,
    listsModels: true,
    dialect: PLAIN_CHAT,
  };
}

export const LOCAL_PROVIDERS: readonly ProviderRow[] = [
  local({
    name: 'ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    baseUrlKey: 'OLLAMA_HOST',
    probe: 'ollama',
    widen: 'start Ollama with OLLAMA_CONTEXT_LENGTH=32768 or more',
  }),
  local({
    name: 'lmstudio',
    baseUrl: 'http://127.0.0.1:1234/v1',
    probe: 'lmstudio',
    widen: 'load the model in LM Studio with a larger context length',
  }),
  local({
    name: 'llamacpp',
    baseUrl: 'http://127.0.0.1:8080/v1',
    probe: 'llamacpp',
    widen: 'start llama-server with a larger --ctx-size',
  }),
  local({
    name: 'vllm',
    baseUrl: 'http://127.0.0.1:8000/v1',
    probe: 'list',
    widen: 'start vLLM with a larger --max-model-len',
  }),
];
