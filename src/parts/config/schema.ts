// Every setting there is: its key in the file, its name in `Settings`, and what it may be. `docs/guide/settings.md`
// lists the same keys; a test holds the two together.

import type {
  BrowserSettings,
  BudgetSettings,
  DaemonSettings,
  HistorySettings,
  LspServerSettings,
  ModelSettings,
  NetworkSettings,
  OAuthSettings,
  PolicySettings,
  ProviderSettings,
  RemoteSettings,
  SandboxSettings,
  Settings,
  ShellSettings,
  ToolSettings,
  WebSettings,
} from '../../core/settings.ts';
import { PERMISSIONS } from './permission-values.ts';
import {
  amount,
  anyTable,
  choice,
  count,
  either,
  file,
  flag,
  list,
  located,
  minutes,
  named,
  type Reader,
  seconds,
  share,
  shell,
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
  tell_results: ['tellResults', flag],
  memory_ranking: ['memoryRanking', choice('words', 'age', 'model')],
  memory_prompt: ['memoryPrompt', flag],
  memory_consolidate: ['memoryConsolidate', flag],
  memory_consolidate_usd: ['memoryConsolidateUsd', amount],
} as const;

export const TOOL_KEYS = {
  only: ['only', list(text)],
  without: ['without', list(text)],
} as const;

export const SHELL_KEYS = {
  program: ['program', shell],
  prefix: ['prefix', text],
} as const;

export const WEB_KEYS = {
  private_hosts: ['privateHosts', list(text)],
  search_backend: ['searchBackend', choice('brave', 'duckduckgo', 'exa', 'searxng', 'serper', 'tavily')],
  search_url: ['searchUrl', template],
} as const;

export const BROWSER_KEYS = {
  executable: ['executable', file],
  headless: ['headless', flag],
  sandbox: ['sandbox', flag],
} as const;

export const LSP_KEYS = {
  enabled: ['enabled', flag],
  command: ['command', list(template)],
  extensions: ['extensions', named(text)],
  root_markers: ['rootMarkers', list(text)],
  env: ['env', named(template)],
  initialization_options: ['initializationOptions', anyTable],
  start_on_edit: ['startOnEdit', flag],
} as const;

export const SANDBOX_KEYS = {
  mode: ['mode', choice('required', 'preferred', 'off')],
  writable: ['writable', list(file)],
  unreadable: ['unreadable', list(file)],
  readable: ['readable', list(file)],
  executable: ['executable', list(file)],
  network: ['network', choice('none', 'all')],
  allowed_hosts: ['allowedHosts', list(text)],
  private_hosts: ['privateHosts', list(text)],
  unix_sockets: ['unixSockets', flag],
  allow_leaving: ['allowLeaving', flag],
  max_file_mib: ['maxFileMib', count(1)],
  max_cpu_seconds: ['maxCpuSeconds', count(1)],
  max_processes: ['maxProcesses', count(1)],
  max_memory_mib: ['maxMemoryMib', count(1)],
  backend: ['backend', choice('bubblewrap', 'landlock', 'seatbelt', 'wsl')],
} as const;

export const DAEMON_KEYS = {
  tcp: ['tcp', flag],
  host: ['host', text],
  port: ['port', count(0, 65_535)],
  max_clients: ['maxClients', count(1, 100_000)],
  shell_senders: ['shellSenders', list(text)],
  max_loaded_sessions: ['maxLoadedSessions', count(0)],
  idle_minutes: ['idleMs', minutes],
  question_minutes: ['questionMs', minutes],
  max_subscriptions: ['maxSubscriptions', count(0, 100_000)],
  max_event_hops: ['maxEventHops', count(1, 1000)],
  log_mib: ['logMib', count(1)],
  log_files: ['logFiles', count(0)],
} as const;

export const REMOTE_KEYS = {
  url: ['url', template],
  token_env: ['tokenEnv', text],
  token_file: ['tokenFile', file],
  agent: ['agent', text],
  cwd: ['cwd', text],
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
  permissions: ['permissions', PERMISSIONS],
  tools: ['tools', table<ToolSettings>(TOOL_KEYS)],
  shell: ['shell', table<ShellSettings>(SHELL_KEYS)],
  lsp: ['lsp', named(table<LspServerSettings>(LSP_KEYS))],
  web: ['web', table<WebSettings>(WEB_KEYS)],
  browser: ['browser', table<BrowserSettings>(BROWSER_KEYS)],
  daemon: ['daemon', table<DaemonSettings>(DAEMON_KEYS)],
  sandbox: ['sandbox', located(table<SandboxSettings>(SANDBOX_KEYS))],
  remotes: ['remotes', named(table<RemoteSettings>(REMOTE_KEYS, ['url']))],
} as const;

export const SETTINGS: Reader<Partial<Settings>> = table<Partial<Settings>>(TOP_KEYS);
