// The tool `web_search`: titles, URLs and snippets from one search engine. It reads no page: that is `web_fetch`, with a
// permission of its own. The engines are loaded with the first call.

import type { JsonObject } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';
import type { WebSearchOptions } from './search-web.ts';
import { DEFAULT_COUNT, MAX_COUNT } from './web-input.ts';

const DOMAINS = { type: 'array', items: { type: 'string' } } as const;

export function createWebSearchTool(options: () => Promise<WebSearchOptions>): Tool {
  return {
    name: 'web_search',
    aliases: ['WebSearch', 'websearch', 'google_web_search', 'search_web'],
    source: 'builtin',
    isDeferred: true,
    description: 'Search the web; returns titles, URLs and snippets. Read a page with web_fetch.',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        allowed_domains: { ...DOMAINS, description: 'Only results of these' },
        blocked_domains: { ...DOMAINS, description: 'No results of these' },
        count: { type: 'integer', description: `Default ${DEFAULT_COUNT}, at most ${MAX_COUNT}` },
      },
      required: ['query'],
    },
    prepare,
    plan: async () => ({
      access: { kind: 'network', url: await addressOf(options) },
      parallel: true,
      repeatable: true,
    }),
    show: async ({ query }) => ({
      kind: 'matches',
      title: String(query),
      count: 0,
      truncated: false,
      lines: [],
    }),
    run: async (input, { signal }) => {
      const { searchWeb } = await import('./search-web.ts');
      return searchWeb(input, await options(), signal);
    },
  };
}

async function addressOf(options: () => Promise<WebSearchOptions>): Promise<string> {
  const { searchAddress } = await import('./search-web.ts');
  return searchAddress(await options());
}

/** Other agents' names for the same inputs. */
function prepare(input: JsonObject): JsonObject {
  const {
    q,
    search_term,
    query = q ?? search_term,
    num_results,
    numResults,
    count = num_results ?? numResults,
    ...rest
  } = input;
  return { ...rest, ...(query !== undefined && { query }), ...(count !== undefined && { count }) };
}
