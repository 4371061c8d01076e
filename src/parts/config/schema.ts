// Every setting there is: its key in the file, its name in `Settings`, and what it may be. `docs/guide/settings.md`
// lists the same keys; a test holds the two together.

import type {
  BudgetSettings,
  HistorySettings,
  ModelSettings,
  NetworkSettings,
  OAuthSettings,
  PolicySettings,
  ProviderSettings,
  Settings,
} from '../../core/settings.ts';
import {
  amount,
  choice,
  count,
  either,
  file,
  flag,
  list,
  named,
  type Reader,
  seconds,
  share,
  table,
  template,
  text,
} from './values.ts';

export const PRICE_KEYS = {
  input: ['input', amount],
  output: ['output', amount],
  cache_read: ['cacheRead', amount],
  cache_write: ['cacheWrite', amount],
} as const;

export const MODEL_KEYS = {
  context_window: ['contextWindow', count(1)],
  max_output: ['maxOutput', count(1)],
  price: ['price', table(PRICE_KEYS, ['input', 'output'])],
  input: ['input', list(choice('image', 'pdf'))],
  reasoning: ['reasoning', flag],
} as const;

export const OAUTH_KEYS = {
  authorize_url: ['authorizeUrl', template],
  token_url: ['tokenUrl', template],
  client_id: ['clientId', template],
  scopes: ['scopes', list(text)],
  port: ['port', count(1)],
} as const;

export const PROVIDER_KEYS = {
  api: ['api', text],
  base_url: ['baseUrl', template],
  api_key_env: ['apiKeyEnv', text],
  api_key: ['apiKey', text],
  api_key_helper: ['apiKeyHelper', text],
  headers: ['headers', named(template)],
  default_model: ['defaultModel', text],
  models: ['models', list(text)],
  oauth: ['oauth', table<OAuthSettings>(OAUTH_KEYS, ['authorize_url', 'token_url', 'client_id'])],
  max_retries: ['maxRetries', count(0)],
  quirks: ['quirks', named(either(flag, text, (value) => typeof value === 'boolean'))],
  region: ['region', template],
  profile: ['profile', template],
  project: ['project', template],
  resource: ['resource', template],
} as const;

export const BUDGET_KEYS = {
  run_usd: ['runUsd', amount],
  conversation_usd: ['conversationUsd', amount],
  day_usd: ['dayUsd', amount],
  sender_usd: ['senderUsd', amount],
} as const;

export const NETWORK_KEYS = {
  proxy: ['proxy', template],
  no_proxy: ['noProxy', template],
  ca_file: ['caFile', file],
  client_cert: ['clientCert', file],
  client_key: ['clientKey', file],
} as const;

export const HISTORY_KEYS = {
  quota_mib: ['quotaMib', count(0)],
} as const;

export const POLICY_KEYS = {
  auto_compact: ['autoCompact', flag],
  compact_reserve_tokens: ['compactReserveTokens', count(0)],
  compact_keep_recent_tokens: ['compactKeepRecentTokens', count(0)],
  compact_at: ['compactAt', share],
  snip_at: ['snipAt', share],
} as const;

const EFFORT = choice('off', 'low', 'medium', 'high', 'max');

export const TOP_KEYS = {
  model: ['model', text],
  fallback_models: ['fallbackModels', list(text)],
  small_model: ['smallModel', text],
  plan_model: ['planModel', text],
  effort: ['effort', EFFORT],
  fast: ['fast', flag],
  max_tokens: ['maxTokens', count(1)],
  api_key_helper: ['apiKeyHelper', text],
  api_key_helper_ttl: ['apiKeyHelperTtlMs', seconds],
  providers: ['providers', named(table<ProviderSettings>(PROVIDER_KEYS))],
  models: ['models', named(table<ModelSettings>(MODEL_KEYS))],
  budget: ['budget', table<BudgetSettings>(BUDGET_KEYS)],
  network: ['network', table<NetworkSettings>(NETWORK_KEYS)],
  history: ['history', table<HistorySettings>(HISTORY_KEYS)],
  policy: ['policy', table<PolicySettings>(POLICY_KEYS)],
} as const;

export const SETTINGS: Reader<Partial<Settings>> = table<Partial<Settings>>(TOP_KEYS);
