// Clouds that sell the models of others. Credentials for a cloud are on many machines for other reasons, so they are no
// reason to take one that nobody named: somebody's account would be charged for it.

import { CLAUDE, FAST, STRUCTURED } from './anthropic-providers.ts';
import { GEMINI_FAMILIES } from './google-providers.ts';
import type { ProviderRow } from './provider-row.ts';

export const CLOUD_PROVIDERS: readonly ProviderRow[] = [
  {
    name: 'bedrock',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
    place: [{ name: 'region', variables: ['AWS_REGION', 'AWS_DEFAULT_REGION'] }],
    regions: [{ ids: /^cn-/, baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com.cn' }],
    baseUrlKey: 'AWS_ENDPOINT_URL_BEDROCK_RUNTIME',
    endpoints: [],
    auth: { kind: 'aws', service: 'bedrock' },
    meantBy: ['AWS_BEARER_TOKEN_BEDROCK', 'BEDROCK_MODEL'],
    access: 'Set AWS_PROFILE, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_BEARER_TOKEN_BEDROCK.',
    keyless: false,
    modelKey: 'BEDROCK_MODEL',
    defaultModel: 'global.anthropic.claude-sonnet-4-6',
    listsModels: false,
    // `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, also at the end of an ARN.
    vendorId: /(claude-[a-z\d-]+?)(?:-v\d+(?::\d+)?)?$/,
    ids: /^(?:[a-z]+\.)?anthropic\.claude|^arn:aws[a-z-]*:bedrock:/,
    dialect: {
      ...CLAUDE,
      structured: STRUCTURED,
      envelope: {
        path: '/model/{model}/invoke-with-response-stream',
        version: 'bedrock-2023-05-31',
        betas: 'body',
        framing: 'aws-event-stream',
      },
    },
    // A profile of one's own does not name its model: it is taken for Claude's.
    others: [
      {
        ids: /^(?!.*claude)(?!.*(?:application-inference-profile|provisioned-model)\/)/,
        dialect: { wire: 'bedrock-converse', forced: /\bamazon\.nova/ },
      },
    ],
  },
  {
    name: 'vertex',
    baseUrl: 'https://{region}-aiplatform.googleapis.com/v1',
    accountPath: '/projects/{project}/locations/{region}',
    place: [
      {
        name: 'project',
        variables: ['ANTHROPIC_VERTEX_PROJECT_ID', 'GOOGLE_CLOUD_PROJECT', 'GCLOUD_PROJECT'],
      },
      {
        name: 'region',
        variables: ['CLOUD_ML_REGION', 'GOOGLE_CLOUD_LOCATION', 'GOOGLE_CLOUD_REGION'],
        fallback: 'global',
      },
    ],
    regions: [
      { ids: /^global$/, baseUrl: 'https://aiplatform.googleapis.com/v1' },
      { ids: /^(?:us|eu)$/, baseUrl: 'https://aiplatform.{region}.rep.googleapis.com/v1' },
    ],
    baseUrlKey: 'ANTHROPIC_VERTEX_BASE_URL',
    endpoints: [],
    auth: { kind: 'google', scopes: ['https://www.googleapis.com/auth/cloud-platform'] },
    meantBy: ['ANTHROPIC_VERTEX_PROJECT_ID', 'VERTEX_MODEL'],
    access: 'Set GOOGLE_APPLICATION_CREDENTIALS, or run `gcloud auth application-default login`.',
    keyless: false,
    modelKey: 'VERTEX_MODEL',
    defaultModel: 'claude-sonnet-4-6',
    listsModels: false,
    // `claude-sonnet-4-5@20250929`
    vendorId: /^([^@]+)/,
    dialect: {
      // No answers held to a schema: an organization has to allow them first, and by default does not.
      ...CLAUDE,
      fast: FAST,
      envelope: {
        path: '/publishers/anthropic/models/{model}:streamRawPredict',
        version: 'vertex-2023-10-16',
        betas: 'header',
      },
    },
    others: [
      {
        ids: /^gemini/,
        dialect: {
          wire: 'google-generative-ai',
          path: '/publishers/google/models/{model}:streamGenerateContent?alt=sse',
          families: GEMINI_FAMILIES,
        },
      },
    ],
  },
];
