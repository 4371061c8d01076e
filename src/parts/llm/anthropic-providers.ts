// Providers of Anthropic's Messages API.

import type { ProviderRow } from './provider-row.ts';

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
];
