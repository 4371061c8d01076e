// The wires that the campaign goes over: one line each.

import type { WireName } from '../../src/dev/wire.ts';

export interface CampaignWire {
  /** The fake provider's name for it. */
  readonly wire: WireName;
  /** As a person names the model. */
  readonly model: string;
  /** What points Crab at a server. */
  env(url: string): Readonly<Record<string, string>>;
}

const KEY = 'fake-key';

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
];
