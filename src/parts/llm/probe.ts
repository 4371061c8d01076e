// What only the server knows of a model: how long a prompt may be as it is loaded, which is often a fraction of what
// the model could do, and what it costs. Each kind of server has an address of its own for that; which one a provider
// has is in its row. A probe that fails has learned nothing, and nobody is told: the model works without.

import type { ModelFacts } from '../../core/model.ts';
import { besideVersion } from './endpoint.ts';
import {
  ask,
  count,
  type Item,
  isRecord,
  type Listed,
  listModels,
  million,
  parseJson,
  type Server,
} from './list-models.ts';
import type { ProbeName } from './provider-row.ts';

/** Never throws. */
export async function probe(
  name: ProbeName,
  id: string,
  server: Server,
  signal: AbortSignal,
): Promise<ModelFacts> {
  const get = (path: string) => answerOf(server, { method: 'GET', path }, signal);
  try {
    switch (name) {
      case 'list':
        return find(await listModels(server, signal), id)?.facts ?? {};
      case 'ollama': {
        const body = Buffer.from(JSON.stringify({ model: id }));
        const [loaded, shown] = await Promise.all([
          get('/api/ps'),
          answerOf(server, { method: 'POST', path: '/api/show', body }, signal),
        ]);
        return ollama(id, loaded, shown);
      }
      case 'llamacpp':
        return llamaCpp(await get(`/props?model=${encodeURIComponent(id)}&autoload=false`));
      case 'lmstudio':
        return lmStudio(id, await get('/api/v0/models'));
      case 'litellm':
        return liteLlm(id, await get('/model/info'));
    }
  } catch {
    return {};
  }
}

interface Question {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Buffer;
}

/** The JSON of a good answer; an empty object for any other. */
async function answerOf(
  server: Server,
  { method, path, body }: Question,
  signal: AbortSignal,
): Promise<Item> {
  const url = besideVersion(server.endpoint.baseUrl, path);
  const { status, text } = await ask(server, { method, url, ...(body && { body: [body] }) }, signal);
  const said = status === 200 ? parseJson(text) : undefined;
  return isRecord(said) ? said : {};
}

/**
 * Ollama: the window of a loaded model is in `/api/ps`; of one that is not, only what its file demands is known, since
 * the rest depends on the memory that is free when it is loaded.
 */
function ollama(id: string, loaded: Item, shown: Item): ModelFacts {
  const names = [id, `${id}:latest`];
  const running = itemsOf(loaded['models']).find((item) =>
    names.includes(String(item['model'] ?? item['name'])),
  );
  const parameters = typeof shown['parameters'] === 'string' ? shown['parameters'] : '';
  const demanded = /^num_ctx\s+(\d+)$/m.exec(parameters)?.[1];
  const contextWindow = count(running?.['context_length']) ?? count(Number(demanded));
  const abilities = shown['capabilities'];
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(Array.isArray(abilities) && {
      input: abilities.includes('vision') ? ['image'] : [],
      reasoning: abilities.includes('thinking'),
    }),
  };
}

/** llama.cpp: `/props`; the figure is that of one slot. */
function llamaCpp(props: Item): ModelFacts {
  const generation = isRecord(props['default_generation_settings'])
    ? props['default_generation_settings']
    : {};
  const contextWindow = count(generation['n_ctx']);
  const kinds = props['modalities'];
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(isRecord(kinds) && { input: kinds['vision'] === true ? ['image'] : [] }),
  };
}

/** LM Studio: `max_context_length` is what the model could do, `loaded_context_length` what it does. */
function lmStudio(id: string, answer: Item): ModelFacts {
  const item = itemsOf(answer['data']).find((model) => model['id'] === id);
  const contextWindow = count(item?.['loaded_context_length']);
  const type = item?.['type'];
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(typeof type === 'string' && { input: type === 'vlm' ? ['image'] : [] }),
  };
}

/** LiteLLM: `/model/info`. */
function liteLlm(id: string, answer: Item): ModelFacts {
  const item = itemsOf(answer['data']).find((model) => model['model_name'] === id)?.['model_info'];
  if (!isRecord(item)) return {};
  const contextWindow = count(item['max_input_tokens']);
  const maxOutput = count(item['max_output_tokens']);
  const rate = (field: string) => (typeof item[field] === 'number' ? million(item[field]) : undefined);
  const [input, output] = [rate('input_cost_per_token'), rate('output_cost_per_token')];
  const kinds: ('image' | 'pdf')[] = [];
  if (item['supports_vision'] === true) kinds.push('image');
  if (item['supports_pdf_input'] === true) kinds.push('pdf');
  return {
    ...(contextWindow !== undefined && { contextWindow }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(input !== undefined &&
      output !== undefined && {
        price: {
          input,
          output,
          cacheRead: rate('cache_read_input_token_cost') ?? input,
          cacheWrite: rate('cache_creation_input_token_cost') ?? input,
        },
      }),
    ...(typeof item['supports_vision'] === 'boolean' && { input: kinds }),
    ...(typeof item['supports_reasoning'] === 'boolean' && { reasoning: item['supports_reasoning'] }),
    ...(typeof item['supports_response_schema'] === 'boolean' && {
      structured: item['supports_response_schema'],
    }),
  };
}

function itemsOf(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function find(listed: readonly Listed[], id: string): Listed | undefined {
  return listed.find((model) => model.id === id);
}
