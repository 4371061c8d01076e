// A row of a provider that speaks Chat Completions: what all of them share, and variables named after the provider.

import type { OAuthClient } from '../../core/credential.ts';
import type { OpenAiQuirks, QuirksWhere } from './openai-quirks.ts';
import type { ProviderRow } from './provider-row.ts';

type Fixed = 'name' | 'baseUrl' | 'baseUrlKey' | 'endpoints' | 'auth' | 'dialect';

export interface ChatRow extends Omit<Partial<ProviderRow>, Fixed> {
  readonly name: string;
  readonly baseUrl: string;
  /** What its variables begin with; the name in capitals when absent. */
  readonly prefix?: string;
  /** Variables that hold the key, in order of preference; `PREFIX_API_KEY` when absent. */
  readonly keys?: readonly string[];
  readonly oauth?: OAuthClient;
  readonly quirks?: OpenAiQuirks;
  readonly where?: readonly QuirksWhere[];
}

export function chatRow({
  name,
  baseUrl,
  prefix,
  keys,
  oauth,
  quirks,
  where,
  ...more
}: ChatRow): ProviderRow {
  const capitals = prefix ?? name.toUpperCase().replaceAll('-', '_');
  const variables = keys ?? [`${capitals}_API_KEY`];
  return {
    name,
    baseUrl,
    baseUrlKey: `${capitals}_BASE_URL`,
    modelKey: `${capitals}_MODEL`,
    endpoints: ['/chat/completions'],
    auth: {
      kind: 'key',
      variables: variables.map((variable) => ({ name: variable, style: 'bearer' })),
      style: 'bearer',
      ...(oauth !== undefined && { oauth }),
    },
    keyless: false,
    listsModels: false,
    ...more,
    dialect: {
      wire: 'openai-completions',
      ...(quirks !== undefined && { quirks }),
      ...(where !== undefined && { where }),
    },
  };
}
