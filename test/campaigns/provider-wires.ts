// The wires that the campaign goes over: one line each.

import type { Credentials } from '../../src/core/credential.ts';
import type { WireName } from '../../src/dev/wire.ts';

export interface CampaignWire {
  /** The fake provider's name for it. */
  readonly wire: WireName;
  /** As a person names the model. */
  readonly model: string;
  /** What points Crab at a server. */
  env(url: string): Readonly<Record<string, string>>;
  /** In place of those of the environment, where finding them would take a server of its own. */
  readonly credentials?: Credentials;
}

const KEY = 'fake-key';

const ACCESS_TOKEN: Credentials = {
  has: () => true,
  find: async () => ({
    source: 'the campaign',
    headers: () => ({ authorization: `Bearer ${KEY}` }),
    secrets: () => [KEY],
    refused: async () => false,
  }),
};

export const CAMPAIGN_WIRES: readonly CampaignWire[] = [
  {
    wire: 'anthropic',
    model: 'anthropic/claude-sonnet-4-5',
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: KEY }),
  },
  {
    wire: 'openai',
    model: 'openai/gpt-5.1',
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: KEY }),
  },
  {
    wire: 'responses',
    model: 'azure/gpt-5.1',
    env: (url) => ({ AZURE_OPENAI_BASE_URL: url, AZURE_OPENAI_API_KEY: KEY }),
  },
  {
    wire: 'gemini',
    model: 'google/gemini-3-pro-preview',
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: KEY }),
  },
  {
    wire: 'bedrock',
    model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    env: (url) => ({
      AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url,
      AWS_REGION: 'eu-central-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: KEY,
    }),
  },
  {
    wire: 'vertex',
    model: 'vertex/claude-sonnet-4-5',
    env: (url) => ({ ANTHROPIC_VERTEX_BASE_URL: `${url}/v1`, GOOGLE_CLOUD_PROJECT: 'p' }),
    credentials: ACCESS_TOKEN,
  },
];
