// OpenAI, and the providers of its Chat Completions API: OpenAI's models at Azure, and everybody who imitates it.

import { HOSTS } from './openai-hosts.ts';
import { LOCAL_QUIRKS, LOCAL_SERVERS } from './openai-local.ts';
import type { QuirksWhere } from './openai-quirks.ts';
import { RESPONSES } from './openai-responses-providers.ts';
import { chatRow } from './openai-row.ts';
import { VENDORS } from './openai-vendors.ts';
import type { OpenAiDialect, ProviderRow } from './provider-row.ts';

const AT_OPENAI = /^https:\/\/(?:[\w-]+\.)*openai\.com(?::\d+)?(?:\/|$)/;
const AT_OPENAI_OR_AZURE = /^https:\/\/(?:[\w-]+\.)*(?:openai\.com|openai\.azure\.com)(?::\d+)?(?:\/|$)/;
const AT_LOOPBACK = /^https?:\/\/(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/;
const REASONING = /^(?:o\d|gpt-[5-9])/;

/** The efforts of OpenAI's models, which take them by these names wherever they run. */
const EFFORTS: readonly QuirksWhere[] = [
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
    moved: OPENAI_CHAT,
  },
];

/** The older API of a deployment, for models that know no other. An address with a date as its `api-version` is older still. */
const AZURE_CHAT: ProviderRow = {
  ...chatRow({
    name: 'azure-chat',
    prefix: 'AZURE_OPENAI_CHAT',
    baseUrl: 'https://{resource}.openai.azure.com',
    place: [{ name: 'resource', variables: ['AZURE_OPENAI_RESOURCE_NAME', 'AZURE_RESOURCE_NAME'] }],
    meantBy: ['AZURE_OPENAI_CHAT_DEPLOYMENT'],
    modelKey: 'AZURE_OPENAI_CHAT_DEPLOYMENT',
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

/** Everybody else who speaks Chat Completions. */
export const COMPATIBLE_PROVIDERS: readonly ProviderRow[] = [
  ...VENDORS,
  ...HOSTS,
  AZURE_CHAT,
  ...LOCAL_SERVERS,
];
