// Providers of OpenAI's Responses API beside OpenAI itself, and what they have in common: the families of its models
// with the efforts that each knows (developers.openai.com/api/docs/models).

import type { ProviderRow, ResponsesDialect } from './provider-row.ts';

/** What is made for chatting does not reason. */
export const RESPONSES: ResponsesDialect = {
  wire: 'openai-responses',
  families: [
    { ids: /^gpt-6-(?:sol|luna)/, efforts: efforts('none', 'max') },
    { ids: /^gpt-(?:[6-9]|[12]\d)(?!.*-chat)/, efforts: efforts('low', 'max') },
    { ids: /^gpt-5\.[6-9](?!.*-chat)/, efforts: efforts('none', 'max') },
    { ids: /^gpt-5\.\d-pro/, efforts: { ...efforts('medium', 'xhigh'), low: 'medium' } },
    { ids: /^gpt-5\.(?:[23]-codex|1-codex-max)/, efforts: efforts('low', 'xhigh') },
    { ids: /^gpt-5\.[2-5](?!.*-chat)/, efforts: efforts('none', 'xhigh') },
    { ids: /^(?:gpt-5(?:\.1)?-codex|codex)/, efforts: efforts('low', 'high') },
    { ids: /^gpt-5\.1(?!.*-chat)/, efforts: efforts('none', 'high') },
    { ids: /^gpt-5-pro/, efforts: { off: 'high', low: 'high', medium: 'high', high: 'high', max: 'high' } },
    { ids: /^gpt-5(?!.*-chat)/, efforts: efforts('minimal', 'high') },
    { ids: /^o[34]/, efforts: efforts('low', 'high') },
  ],
};

function efforts(off: string, max: string): ResponsesDialect['families'][number]['efforts'] {
  return { off, low: 'low', medium: 'medium', high: 'high', max };
}

export const RESPONSES_PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'azure',
    baseUrl: 'https://{resource}.openai.azure.com',
    place: [{ name: 'resource', variables: ['AZURE_OPENAI_RESOURCE_NAME', 'AZURE_RESOURCE_NAME'] }],
    baseUrlKey: 'AZURE_OPENAI_BASE_URL',
    endpoints: ['/openai/v1/responses', '/openai/responses', '/openai/v1', '/openai'],
    auth: {
      kind: 'key',
      variables: [{ name: 'AZURE_OPENAI_API_KEY', style: 'api-key' }],
      style: 'api-key',
    },
    keyless: false,
    // Models go by the names that somebody gave to their deployments.
    modelKey: 'AZURE_OPENAI_DEPLOYMENT',
    listsModels: false,
    dialect: { ...RESPONSES, path: '/openai/v1/responses' },
  },
  {
    // The login, the server and what it demands are those of github.com/openai/codex.
    name: 'chatgpt',
    baseUrl: 'https://chatgpt.com/backend-api/codex',
    endpoints: ['/responses'],
    auth: {
      kind: 'key',
      variables: [],
      style: 'bearer',
      oauth: {
        authorizeUrl: 'https://auth.openai.com/oauth/authorize',
        tokenUrl: 'https://auth.openai.com/oauth/token',
        clientId: 'app_EMoamEEZ73f0CkXaXp7hrann',
        scopes: ['openid', 'profile', 'email', 'offline_access'],
        port: 1455,
        path: '/auth/callback',
        parameters: {
          id_token_add_organizations: 'true',
          codex_cli_simplified_flow: 'true',
          originator: 'crab',
        },
      },
      tokenClaims: { 'chatgpt-account-id': ['https://api.openai.com/auth', 'chatgpt_account_id'] },
    },
    keyless: false,
    defaultModel: 'gpt-6.1-sol',
    listsModels: false,
    headers: { originator: 'crab', 'openai-beta': 'responses=experimental' },
    dialect: {
      ...RESPONSES,
      instructions: 'You are a helpful assistant.',
      unlimited: true,
      conversationHeader: 'session_id',
    },
  },
];
