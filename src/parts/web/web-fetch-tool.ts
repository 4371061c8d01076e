// The tool `web_fetch`: one URL as Markdown, read in pieces. It takes no question about the page: asking a second model
// would be a request that nobody sees, and its answer could not be checked against the page. What fetches and reads is
// loaded with the first call.

import type { JsonObject } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';
import type { ReadWeb } from './read-web.ts';
import { DEFAULT_LENGTH, FORMATS, shownPage } from './web-input.ts';
import { checkedUrl } from './web-url.ts';

const DESCRIPTION =
  'Fetch a URL and read it as Markdown: web pages (the article of it), text, JSON, PDF, images. ' +
  'Long pages come in pieces: go on with offset. A redirect to a host that is not allowed yet is reported, not followed. ' +
  'It has no login and runs no scripts. Prefer a command-line client of the site, such as gh, where there is one.';

export function createWebFetchTool(reader: () => Promise<ReadWeb>): Tool {
  return {
    name: 'web_fetch',
    aliases: ['WebFetch', 'fetch', 'webfetch', 'fetch_url'],
    source: 'builtin',
    description: DESCRIPTION,
    input: {
      type: 'object',
      properties: {
        url: { type: 'string' },
        offset: { type: 'integer', description: 'Characters to skip' },
        max_length: { type: 'integer', description: `Characters to show, default ${DEFAULT_LENGTH}` },
        format: { type: 'string', enum: FORMATS, description: 'Default markdown' },
      },
      required: ['url'],
    },
    prepare,
    plan: async ({ url }) => ({
      access: { kind: 'network', url: checkedUrl(String(url)).href },
      parallel: true,
      repeatable: true,
    }),
    show: async (input) => shownPage(input, ''),
    run: async (input, context) => (await reader())(input, context),
  };
}

/** Other agents' names for the same inputs; their question about the page is left out. */
function prepare(input: JsonObject): JsonObject {
  const { prompt: _prompt, uri, start_index, raw, url = uri, offset = start_index, format, ...rest } = input;
  const repaired: Record<string, unknown> = { ...rest };
  if (typeof url === 'string')
    repaired['url'] = /^[\w-]+(?:\.[\w-]+)+(?:[/:?#]|$)/.test(url.trim())
      ? `https://${url.trim()}`
      : url.trim();
  else if (url !== undefined) repaired['url'] = url;
  if (offset !== undefined && offset !== null) repaired['offset'] = offset;
  const wanted = format ?? (raw === true ? 'html' : undefined);
  if (wanted !== undefined) repaired['format'] = wanted;
  return repaired;
}
