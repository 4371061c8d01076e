// Providers of Google's Gemini API, and the families of its models with how each is told to think
// (ai.google.dev/gemini-api/docs/thinking).

import type { GeminiFamily, ProviderRow, ThinkingLevels } from './provider-row.ts';

/** None of these can be told not to think at all: the least that each knows stands for that. */
export const GEMINI_FAMILIES: readonly GeminiFamily[] = [
  { ids: /^gemini-3-pro/, thinking: levels('LOW', 'HIGH'), modern: true },
  { ids: /^gemini-3\.(?:1-pro|[7-9])/, thinking: levels('LOW'), modern: true },
  { ids: /^gemini-3/, thinking: levels('MINIMAL'), modern: true },
  { ids: /^gemini-(?:[4-9]|pro-latest|flash-)/, thinking: levels('LOW'), modern: true },
  { ids: /^gemini-2\.5-pro/, thinking: budget(128, 32_768, false), modern: false },
  { ids: /^gemini-2\.5-flash-lite/, thinking: budget(512, 24_576, true), modern: false },
  { ids: /^gemini-2\.5/, thinking: budget(1, 24_576, true), modern: false },
];

function levels(off: string, medium = 'MEDIUM'): ThinkingLevels {
  return { kind: 'level', levels: { off, low: 'LOW', medium, high: 'HIGH', max: 'HIGH' } };
}

function budget(least: number, most: number, canStop: boolean): GeminiFamily['thinking'] {
  return { kind: 'budget', least, most, canStop };
}

export const GOOGLE_PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com',
    baseUrlKey: 'GOOGLE_GEMINI_BASE_URL',
    endpoints: ['/v1beta/models', '/v1beta'],
    auth: {
      kind: 'key',
      variables: [
        { name: 'GEMINI_API_KEY', style: 'x-goog-api-key' },
        { name: 'GOOGLE_API_KEY', style: 'x-goog-api-key' },
      ],
      style: 'x-goog-api-key',
    },
    keyless: false,
    modelKey: 'GEMINI_MODEL',
    defaultModel: 'gemini-4-argon',
    listsModels: false,
    ids: /^gemini/i,
    dialect: {
      wire: 'google-generative-ai',
      path: '/v1beta/models/{model}:streamGenerateContent?alt=sse',
      families: GEMINI_FAMILIES,
    },
  },
];
