// The providers, one row each. A provider that speaks a known wire costs a row and nothing else: whatever
// sets it apart is data that its wire reads, never a name that code asks for.

import type { Effort } from '../../core/model.ts';

export interface ProviderRow {
  readonly name: string;
  readonly baseUrl: string;
  /** The variable that replaces `baseUrl`. */
  readonly baseUrlKey: string;
  /** Suffixes of a base URL that people paste from examples; stripped, longest first. */
  readonly endpoints: readonly string[];
  /** In order of preference. */
  readonly credentials: readonly CredentialKey[];
  /** A base URL of one's own needs no credential: a local server. */
  readonly keyless: boolean;
  /** The variable that names the model when nobody else does. */
  readonly modelKey: string;
  readonly defaultModel: string;
  /** With a base URL of one's own, ask the server which models it has instead of taking the default. */
  readonly listsModels: boolean;
  /** Bare ids that mean this provider. */
  readonly ids: RegExp;
  readonly dialect: AnthropicDialect | OpenAiDialect;
}

export interface CredentialKey {
  /** The environment variable. */
  readonly key: string;
  readonly style: 'x-api-key' | 'bearer';
}

export interface AnthropicDialect {
  readonly wire: 'anthropic-messages';
  /** The first that matches the id counts; models that none matches think within a budget of tokens. */
  readonly adaptive: readonly AdaptiveThinking[];
}

/** A family of models that decide themselves how much to think. */
export interface AdaptiveThinking {
  readonly ids: RegExp;
  /** Without being asked to. */
  readonly byDefault: boolean;
  /** Whether it can be told not to. Where it cannot, it cannot be made to call a certain tool either. */
  readonly canStop: boolean;
  /** Thinking is signed together with all that precedes it, so a shortened history needs leave to drop it. */
  readonly bound: boolean;
}

export interface OpenAiDialect {
  readonly wire: 'openai-completions';
  /** Hosts (and their subdomains) that take `max_completion_tokens`; all others take `max_tokens`. */
  readonly completionTokenHosts: readonly string[];
  /** The first that matches the id counts. */
  readonly efforts: readonly EffortNames[];
}

export interface EffortNames {
  readonly ids: RegExp;
  /** What the provider calls an effort, where it is not the same word. */
  readonly names: Partial<Record<Effort, string>>;
  /** The only effort that this endpoint accepts beside tools. */
  readonly withTools?: string;
}

export const PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    baseUrlKey: 'ANTHROPIC_BASE_URL',
    endpoints: ['/v1/messages', '/messages', '/v1'],
    credentials: [
      { key: 'ANTHROPIC_AUTH_TOKEN', style: 'bearer' },
      { key: 'ANTHROPIC_API_KEY', style: 'x-api-key' },
    ],
    keyless: false,
    modelKey: 'ANTHROPIC_MODEL',
    defaultModel: 'claude-sonnet-5-5',
    listsModels: false,
    ids: /^claude/i,
    dialect: {
      wire: 'anthropic-messages',
      adaptive: [
        { ids: /^claude-(?:fable|mythos)-5-[1-9]/, byDefault: true, canStop: false, bound: true },
        { ids: /^claude-(?:opus|sonnet|haiku)-5-[5-9]/, byDefault: true, canStop: false, bound: true },
        { ids: /^claude-(?:fable|mythos)/, byDefault: true, canStop: false, bound: false },
        { ids: /^claude-(?:opus|sonnet|haiku)-[5-9]/, byDefault: true, canStop: true, bound: false },
        { ids: /^claude-(?:opus|sonnet)-4-[6-9]/, byDefault: false, canStop: true, bound: false },
      ],
    },
  },
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlKey: 'OPENAI_BASE_URL',
    endpoints: ['/chat/completions'],
    credentials: [{ key: 'OPENAI_API_KEY', style: 'bearer' }],
    keyless: true,
    modelKey: 'OPENAI_MODEL',
    // The newest families take tools only on an endpoint that this wire does not speak, or without reasoning.
    defaultModel: 'gpt-5.1',
    listsModels: true,
    ids: /^(?:gpt|chatgpt|o\d)/i,
    dialect: {
      wire: 'openai-completions',
      completionTokenHosts: ['openai.com', 'openai.azure.com'],
      efforts: [
        { ids: /^gpt-(?:5\.[4-9]|[6-9])/, names: { off: 'none', max: 'xhigh' }, withTools: 'none' },
        { ids: /^gpt-5\.[23]/, names: { off: 'none', max: 'xhigh' } },
        { ids: /^gpt-5\.1/, names: { off: 'none', max: 'high' } },
        { ids: /^gpt-5(?:-|$)/, names: { off: 'minimal', max: 'high' } },
      ],
    },
  },
];
