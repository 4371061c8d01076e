// Providers of Anthropic's Messages API.

import type { AnthropicDialect, FastModels, ProviderRow } from './provider-row.ts';

/** What holds of Claude wherever it is served. */
export const CLAUDE: AnthropicDialect = {
  wire: 'anthropic-messages',
  adaptive: [
    { ids: /^claude-(?:fable|mythos)-5-[1-9]/, byDefault: true, canStop: false, bound: true },
    { ids: /^claude-(?:opus|sonnet|haiku)-5-[5-9]/, byDefault: true, canStop: false, bound: true },
    { ids: /^claude-(?:fable|mythos)/, byDefault: true, canStop: false, bound: false },
    { ids: /^claude-(?:opus|sonnet|haiku)-[5-9]/, byDefault: true, canStop: true, bound: false },
    { ids: /^claude-(?:opus|sonnet)-4-[6-9]/, byDefault: false, canStop: true, bound: false },
  ],
};

/** platform.claude.com/docs/en/build-with-claude/structured-outputs */
export const STRUCTURED = /^claude-(?:(?:opus|sonnet|haiku)-(?:4-[5-9]|[5-9])|fable|mythos)/;

/** platform.claude.com/docs/en/build-with-claude/fast-mode */
export const FAST: readonly FastModels[] = [
  { ids: /^claude-(?:opus-5-5|(?:fable|mythos)-5-2)/, priceFactor: 2 },
  { ids: /^claude-opus-(?:5|4-8)(?:-\d{8})?$/, beta: 'fast-mode-2026-02-01', priceFactor: 2 },
];

export const ANTHROPIC_PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    baseUrlKey: 'ANTHROPIC_BASE_URL',
    endpoints: ['/v1/messages', '/messages', '/v1'],
    auth: {
      kind: 'key',
      variables: [
        { name: 'ANTHROPIC_AUTH_TOKEN', style: 'bearer' },
        { name: 'ANTHROPIC_API_KEY', style: 'x-api-key' },
      ],
      style: 'x-api-key',
    },
    keyless: false,
    modelKey: 'ANTHROPIC_MODEL',
    defaultModel: 'claude-sonnet-5-5',
    listsModels: false,
    ids: /^claude/i,
    dialect: { ...CLAUDE, structured: STRUCTURED, fast: FAST, quirks: { files: true } },
  },
];
