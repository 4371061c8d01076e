// OpenAI, and the providers of its Chat Completions API.

import { RESPONSES } from './openai-responses-providers.ts';
import type { ProviderRow } from './provider-row.ts';

export const OPENAI_PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    baseUrlKey: 'OPENAI_BASE_URL',
    endpoints: ['/chat/completions', '/responses'],
    auth: { kind: 'key', variables: [{ name: 'OPENAI_API_KEY', style: 'bearer' }], style: 'bearer' },
    keyless: true,
    modelKey: 'OPENAI_MODEL',
    defaultModel: 'gpt-6.2-sol',
    listsModels: true,
    ids: /^(?:gpt|chatgpt|o\d)/i,
    dialect: RESPONSES,
    moved: {
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
