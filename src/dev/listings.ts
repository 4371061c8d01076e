// Which models there are, as each vendor lists them, and what a local server says of itself when it is asked: Ollama
// (docs.ollama.com/api) or llama.cpp (its server's README). A server is one of them, so a scenario says which.

import type { JsonObject } from '../core/schema.ts';
import { asText, isObject } from './json.ts';
import type { Incoming } from './respond.ts';
import type { ListedModel, Scenario } from './scenario.ts';

export interface Listing {
  readonly status: number;
  readonly body: JsonObject;
}

/** Fixed, so that a scenario always yields the same bytes. */
const CREATED = '2025-01-01T00:00:00Z';
const DEFAULT_MODEL: ListedModel = { id: 'fake-model' };

/** Undefined for what is no question of this kind. */
export function list(
  incoming: Incoming,
  { models = [DEFAULT_MODEL], server }: Scenario,
): Listing | undefined {
  const { method, path, headers } = incoming;
  switch (`${method} ${path}`) {
    case 'GET /v1/models':
      // Anthropic and OpenAI share the path; a client of the first names the version that it speaks.
      return ok(headers['anthropic-version'] === undefined ? openaiList(models) : anthropicList(models));
    case 'GET /v1beta/models':
      return ok({ models: models.map(geminiModel) });
    case 'GET /api/tags':
      return server === 'ollama' ? ok({ models: models.map(ollamaModel) }) : undefined;
    case 'POST /api/show':
      return server === 'ollama' ? ollamaShow(incoming, models) : undefined;
    case 'GET /props':
      return server === 'llama.cpp' ? ok(llamaProps(models)) : undefined;
    default:
      return undefined;
  }
}

function ok(body: JsonObject): Listing {
  return { status: 200, body };
}

function openaiList(models: readonly ListedModel[]): JsonObject {
  const data = models.map(({ id, contextWindow }) => ({
    id,
    object: 'model',
    created: 0,
    owned_by: 'crab',
    // As vLLM and llama.cpp say it; others leave it out.
    ...(contextWindow !== undefined && {
      max_model_len: contextWindow,
      meta: { n_ctx_train: contextWindow },
    }),
  }));
  return { object: 'list', data };
}

function anthropicList(models: readonly ListedModel[]): JsonObject {
  const data = models.map(({ id, contextWindow, maxOutput }) => ({
    type: 'model',
    id,
    display_name: id,
    created_at: CREATED,
    ...(contextWindow !== undefined && { max_input_tokens: contextWindow }),
    ...(maxOutput !== undefined && { max_tokens: maxOutput }),
  }));
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

function geminiModel({ id, contextWindow, maxOutput }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    ...(contextWindow !== undefined && { inputTokenLimit: contextWindow }),
    ...(maxOutput !== undefined && { outputTokenLimit: maxOutput }),
  };
}

const DETAILS = { format: 'gguf', family: 'fake', parameter_size: '1B', quantization_level: 'Q4_K_M' };

function ollamaModel({ id }: ListedModel): JsonObject {
  return { name: id, model: id, modified_at: CREATED, size: 0, digest: '0'.repeat(64), details: DETAILS };
}

function ollamaShow({ body = new Uint8Array() }: Incoming, models: readonly ListedModel[]): Listing {
  const name = nameIn(Buffer.from(body).toString());
  const model = models.find(({ id }) => id === name);
  if (model === undefined) return { status: 404, body: { error: `model '${name}' not found` } };
  const length = model.contextWindow === undefined ? {} : { 'fake.context_length': model.contextWindow };
  return ok({
    details: DETAILS,
    model_info: { 'general.architecture': 'fake', ...length },
    capabilities: ['completion', 'tools'],
  });
}

function nameIn(json: string): string {
  try {
    const asked: unknown = JSON.parse(json);
    return isObject(asked) ? asText(asked['model'] ?? asked['name']) : '';
  } catch {
    return '';
  }
}

function llamaProps([model = DEFAULT_MODEL]: readonly ListedModel[]): JsonObject {
  const { id, contextWindow } = model;
  return {
    default_generation_settings: contextWindow === undefined ? {} : { n_ctx: contextWindow },
    total_slots: 1,
    model_path: `/models/${id}.gguf`,
    model_alias: id,
  };
}
