// All providers, in the order in which one is chosen when nobody names any.

import { ANTHROPIC_PROVIDERS } from './anthropic-providers.ts';
import { CLOUD_PROVIDERS } from './cloud-providers.ts';
import { GOOGLE_PROVIDERS } from './google-providers.ts';
import { COMPATIBLE_PROVIDERS, OPENAI_PROVIDERS } from './openai-providers.ts';
import { RESPONSES_PROVIDERS } from './openai-responses-providers.ts';
import type { ProviderRow } from './provider-row.ts';

export const PROVIDERS: readonly ProviderRow[] = [
  ...ANTHROPIC_PROVIDERS,
  ...OPENAI_PROVIDERS,
  ...GOOGLE_PROVIDERS,
  ...RESPONSES_PROVIDERS,
  ...CLOUD_PROVIDERS,
  ...COMPATIBLE_PROVIDERS,
];
