// The search engines that `web_search` can ask, as data: where, how, and what the answer looks like. One that needs a key
// is used when its variable is set. DuckDuckGo's page for browsers without scripts needs none and is what is left.

import type { WebRequest } from './exchange.ts';
import type { SearchResult } from './search-result.ts';

export interface SearchQuery {
  /** With the engine's own words for domains in it. */
  readonly text: string;
  readonly count: number;
  readonly allowed: readonly string[];
  readonly blocked: readonly string[];
}

export interface SearchBackend {
  readonly name: string;
  readonly url: string;
  /** Variables that hold the key; empty where there is none. */
  readonly keys: readonly string[];
  /** Takes domains as arguments of their own, and not as words of the query. */
  readonly filters?: boolean;
  request(base: string, key: string, query: SearchQuery): Omit<WebRequest, 'addresses'>;
  /** Throws for an answer of another shape. */
  results(text: string, links: ReadLinks): readonly SearchResult[] | Promise<readonly SearchResult[]>;
}

/** Of a page of HTML. Rejects with `ToolFailure`. */
export type ReadLinks = (html: string) => Promise<readonly SearchResult[]>;

const JSON_HEADERS = { accept: 'application/json', 'content-type': 'application/json' };

export const SEARCH_BACKENDS: readonly SearchBackend[] = [
  {
    name: 'brave',
    url: 'https://api.search.brave.com/res/v1/web/search',
    keys: ['BRAVE_API_KEY', 'BRAVE_SEARCH_API_KEY'],
    request: (base, key, { text, count }) => ({
      method: 'GET',
      url: withQuery(base, { q: text, count: String(count), text_decorations: 'false' }),
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    results: (text) => rowsOf(text, 'web', 'results').map((row) => result(row, 'description', 'age')),
  },
  {
    name: 'tavily',
    url: 'https://api.tavily.com/search',
    keys: ['TAVILY_API_KEY'],
    filters: true,
    request: (base, key, { text, count, allowed, blocked }) => ({
      method: 'POST',
      url: new URL(base),
      headers: { ...JSON_HEADERS, authorization: `Bearer ${key}` },
      body: JSON.stringify({
        query: text,
        max_results: count,
        ...(allowed.length > 0 && { include_domains: allowed }),
        ...(blocked.length > 0 && { exclude_domains: blocked }),
      }),
    }),
    results: (text) => rowsOf(text, 'results').map((row) => result(row, 'content', 'published_date')),
  },
  {
    name: 'exa',
    url: 'https://api.exa.ai/search',
    keys: ['EXA_API_KEY'],
    filters: true,
    request: (base, key, { text, count, allowed, blocked }) => ({
      method: 'POST',
      url: new URL(base),
      headers: { ...JSON_HEADERS, 'x-api-key': key },
      body: JSON.stringify({
        query: text,
        numResults: count,
        contents: { highlights: true },
        ...(allowed.length > 0 && { includeDomains: allowed }),
        ...(blocked.length > 0 && { excludeDomains: blocked }),
      }),
    }),
    results: (text) => rowsOf(text, 'results').map((row) => result(row, 'highlights', 'publishedDate')),
  },
  {
    name: 'serper',
    url: 'https://google.serper.dev/search',
    keys: ['SERPER_API_KEY'],
    request: (base, key, { text, count }) => ({
      method: 'POST',
      url: new URL(base),
      headers: { ...JSON_HEADERS, 'x-api-key': key },
      body: JSON.stringify({ q: text, num: count }),
    }),
    results: (text) => rowsOf(text, 'organic').map((row) => result(row, 'snippet', 'date')),
  },
  {
    // docs.searxng.org/dev/search_api.html; the instance must allow the format json.
    name: 'searxng',
    url: '',
    keys: [],
    request: (base, _key, { text }) => ({
      method: 'GET',
      url: withQuery(
        /\/search\/?$/.test(new URL(base).pathname) ? base : `${base.replace(/\/+$/, '')}/search`,
        {
          q: text,
          format: 'json',
        },
      ),
      headers: { accept: 'application/json' },
    }),
    results: (text) => rowsOf(text, 'results').map((row) => result(row, 'content', 'publishedDate')),
  },
  {
    name: 'duckduckgo',
    url: 'https://html.duckduckgo.com/html/',
    keys: [],
    request: (base, _key, { text }) => ({
      method: 'GET',
      url: withQuery(base, { q: text }),
      headers: { accept: 'text/html', 'accept-language': 'en' },
    }),
    results: (html, links) => links(html),
  },
];

function withQuery(base: string, query: Readonly<Record<string, string>>): URL {
  const url = new URL(base);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return url;
}

type Row = Readonly<Record<string, unknown>>;

/** The list that lies at this path; an engine leaves it out when it has found nothing. */
function rowsOf(text: string, ...path: readonly string[]): readonly Row[] {
  const answer: unknown = JSON.parse(text);
  if (typeof answer !== 'object' || answer === null) throw new Error('it is no JSON object');
  let at: unknown = answer;
  for (const key of path) at = Object(at)[key];
  if (at === undefined || at === null) return [];
  if (!Array.isArray(at)) throw new Error(`${path.join('.')} is no list`);
  return at.filter((row) => typeof row === 'object' && row !== null);
}

function result(row: Row, snippet: string, date: string): SearchResult {
  const found = row[snippet];
  const text = Array.isArray(found)
    ? found.filter((one) => typeof one === 'string').join(' … ')
    : textIn(found);
  const day = textIn(row[date]);
  return {
    title: textIn(row['title']),
    url: textIn(row['url'] ?? row['link']),
    snippet: text,
    ...(day !== '' && { date: day }),
  };
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
