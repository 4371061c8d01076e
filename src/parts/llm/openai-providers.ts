// Providers of OpenAI's Chat Completions API: OpenAI itself, its models at Azure, and everybody who imitates it.

import { HOSTS } from './openai-hosts.ts';
import { LOCAL_QUIRKS, LOCAL_SERVERS } from './openai-local.ts';
import { chatRow } from './openai-row.ts';
import { VENDORS } from './openai-vendors.ts';
import type { OpenAiDialect, ProviderRow } from './provider-row.ts';

const AT_OPENAI = /^https:\/\/(?:[\w-]+\.)*openai\.com(?::\d+)?(?:\/|$)/;
const AT_OPENAI_OR_AZURE = /^https:\/\/(?:[\w-]+\.)*(?:openai\.com|openai\.azure\.com)(?::\d+)?(?:\/|$)/;
const AT_LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/;
const REASONING = /^(?:o\d|gpt-[5-9])/;

/** The efforts of OpenAI's models, which take them by these names wherever they run. */
const EFFORTS: OpenAiDialect['where'] = [
  { ids: /^gpt-5(?:-|$)/, quirks: { efforts: { off: 'minimal', max: 'high' } } },
  { ids: /^gpt-5\.1/, quirks: { efforts: { off: 'none', max: 'high' } } },
  { ids: /^gpt-5\.[23]/, quirks: { efforts: { off: 'none', max: 'xhigh' } } },
  {
    ids: /^gpt-(?:5\.[4-9]|[6-9])/,
    quirks: { efforts: { off: 'none', max: 'xhigh' }, effortWithTools: 'none' },
  },
];

/** Chat Completions as OpenAI speaks it, and as whoever OPENAI_BASE_URL leads to does. */
export const OPENAI_CHAT: OpenAiDialect = {
  wire: 'openai-completions',
  where: [
    {
      at: AT_OPENAI_OR_AZURE,
      quirks: {
        maxTokensField: 'max_completion_tokens',
        refuseStore: true,
        cacheField: 'prompt_cache_key',
        documents: true,
        responseFormat: 'json_schema',
      },
    },
    { at: AT_OPENAI_OR_AZURE, ids: REASONING, quirks: { systemRole: 'developer' } },
    { at: AT_OPENAI, quirks: { fastTier: 'priority' } },
    { at: AT_LOOPBACK, quirks: LOCAL_QUIRKS },
    ...EFFORTS,
  ],
};

const OPENAI: ProviderRow = {
  name: 'openai',
  baseUrl: 'https://api.openai.com/v1',
  baseUrlKey: 'OPENAI_BASE_URL',
  endpoints: ['/chat/completions'],
  auth: { kind: 'key', variables: [{ name: 'OPENAI_API_KEY', style: 'bearer' }], style: 'bearer' },
  keyless: true,
  modelKey: 'OPENAI_MODEL',
  // The newest families take tools only on an endpoint that this wire does not speak, or without reasoning.
  defaultModel: 'gpt-5.1',
  listsModels: true,
  ids: /^(?:gpt|chatgpt|o\d)/i,
  dialect: OPENAI_CHAT,
};

/** A model is the name of a deployment. An address with an `api-version` of a date means the older API. */
const AZURE: ProviderRow = {
  ...chatRow({
    name: 'azure',
    prefix: 'AZURE_OPENAI',
    baseUrl: 'https://my-resource.openai.azure.com',
    ownAddress: true,
    modelKey: 'AZURE_OPENAI_DEPLOYMENT',
    quirks: {
      path: '/openai/v1/chat/completions',
      maxTokensField: 'max_completion_tokens',
      cacheField: 'prompt_cache_key',
      documents: true,
      responseFormat: 'json_schema',
    },
    where: [
      { ids: REASONING, quirks: { systemRole: 'developer' } },
      ...EFFORTS,
      { at: /[?&]api-version=\d/, quirks: { path: '/openai/deployments/{model}/chat/completions' } },
      { at: /\/openai\/deployments\/[^/?]+(?:\?|$)/, quirks: { path: '/chat/completions' } },
    ],
  }),
  baseUrlKey: 'AZURE_OPENAI_ENDPOINT',
  endpoints: ['/openai/v1/chat/completions', '/chat/completions', '/openai/v1'],
  auth: { kind: 'key', variables: [{ name: 'AZURE_OPENAI_API_KEY', style: 'api-key' }], style: 'api-key' },
};

export const OPENAI_PROVIDERS: readonly ProviderRow[] = [
  OPENAI,
  AZURE,
  ...VENDORS,
  ...HOSTS,
  ...LOCAL_SERVERS,
];
