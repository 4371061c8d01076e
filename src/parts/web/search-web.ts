// What `web_search` does: chooses one search engine by the settings or by the keys that there are, asks it, and lists what
// it found.

import type { Display } from '../../core/display.ts';
import type { Documents } from '../../core/document.ts';
import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolOutput, textOutput } from '../../core/tool.ts';
import { oneLine } from './clean-text.ts';
import type { Send } from './exchange.ts';
import { outsideText } from './outside.ts';
import { type ReadLinks, SEARCH_BACKENDS, type SearchBackend } from './search-backends.ts';
import type { SearchResult } from './search-result.ts';
import { DEFAULT_COUNT, MAX_COUNT } from './web-input.ts';

export interface WebSearchOptions {
  readonly send: Send;
  readonly documents: Documents;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Name of a backend. Default: the first that has a key, an address in `SEARXNG_URL`, or needs neither. */
  readonly backend?: string | undefined;
  /** Takes the place of the backend's own address. */
  readonly url?: string | undefined;
}

/** Characters of what engines say. */
const MAX_TITLE = 300;
const MAX_SNIPPET = 500;
const MAX_DATE = 40;
const MAX_EXCUSE = 200;
/** Characters of a refusal in which it is looked for. */
const MAX_READ_EXCUSE = 10_000;

/** Where a search goes. Throws `ToolFailure` where nothing is set that it could go to. */
export function searchAddress(options: WebSearchOptions): string {
  return addressOf(options, chosen(options));
}

export async function searchWeb(
  input: JsonObject,
  options: WebSearchOptions,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const query = String(input['query']).trim();
  if (query === '') throw new ToolFailure('The query is empty.');
  const backend = chosen(options);
  const allowed = domainsIn(input['allowed_domains']);
  const blocked = domainsIn(input['blocked_domains']);
  const wanted = input['count'];
  const count = Math.min(
    MAX_COUNT,
    typeof wanted === 'number' && wanted >= 1 ? Math.trunc(wanted) : DEFAULT_COUNT,
  );
  const text = backend.filters === true ? query : [query, siteWords(allowed, blocked)].join(' ').trim();
  const request = backend.request(addressOf(options, backend), keyOf(options, backend), {
    text,
    count,
    allowed,
    blocked,
  });
  const answer = await options.send(request, signal);
  const body = answer.body.toString('utf8');
  if (answer.status !== 200) throw new ToolFailure(refusal(backend, answer.status, body));
  const found = (await read(backend, body, (html) => linksIn(html, { backend, options, signal })))
    .filter(({ url }) => isWanted(url, allowed, blocked))
    .slice(0, count);
  const listed = found.map(resultText);
  const results = outsideText({
    tag: 'search_results',
    attributes: { engine: backend.name },
    text: listed.join('\n\n'),
  });
  return textOutput(
    found.length === 0 ? `${backend.name} found nothing for this query.` : results,
    shown(input, found),
  );
}

interface Searching {
  readonly backend: SearchBackend;
  readonly options: WebSearchOptions;
  readonly signal: AbortSignal;
}

async function linksIn(
  html: string,
  { backend, options, signal }: Searching,
): Promise<readonly SearchResult[]> {
  return options.documents.results(`The page of ${backend.name}`, html, signal);
}

async function read(
  backend: SearchBackend,
  body: string,
  links: ReadLinks,
): Promise<readonly SearchResult[]> {
  try {
    return await backend.results(body, links);
  } catch (cause) {
    if (cause instanceof ToolFailure)
      throw new ToolFailure(`${cause.message} ${elsewhere(backend)}`, { cause });
    throw new ToolFailure(
      `${backend.name} gave no results that can be read: ${messageOf(cause)}. ${elsewhere(backend)}`,
      {
        cause,
      },
    );
  }
}

/** What a person can do when this backend does not answer. */
function elsewhere({ name }: SearchBackend): string {
  const others = SEARCH_BACKENDS.filter((one) => one.name !== name && one.keys[0] !== undefined);
  return `Another engine is used when one of ${others.map(({ keys }) => keys[0]).join(', ')} is set, or SEARXNG_URL.`;
}

function refusal(backend: SearchBackend, status: number, body: string): string {
  const { name, keys } = backend;
  if (status === 401 || (status === 403 && keys.length > 0))
    return `${name} refuses the key in ${keys.join(' or ')} (${status}).`;
  if (name === 'searxng' && status === 403)
    return 'The SearXNG server refuses (403): its settings must list json below search.formats.';
  if (status === 429 || status === 202)
    return `${name} wants fewer requests (${status}); wait before the next. ${elsewhere(backend)}`;
  const said = oneLine(body.slice(0, MAX_READ_EXCUSE).replace(/<[^<>]*>/g, ' '), MAX_EXCUSE);
  return `${name} answered ${status}${said === '' ? '' : `: ${said}`}.`;
}

/** Throws `ToolFailure` for a name that there is not. */
function chosen({ backend, env }: WebSearchOptions): SearchBackend {
  const hasKey = ({ keys }: SearchBackend) => keys.some((key) => env[key]);
  const name =
    backend ?? SEARCH_BACKENDS.find(hasKey)?.name ?? (env['SEARXNG_URL'] ? 'searxng' : 'duckduckgo');
  const found = SEARCH_BACKENDS.find((one) => one.name === name);
  if (found !== undefined) return found;
  throw new ToolFailure(
    `There is no search engine ${JSON.stringify(name)} (web.search_backend in the settings).`,
  );
}

function addressOf({ url, env }: WebSearchOptions, backend: SearchBackend): string {
  const address = url ?? (backend.name === 'searxng' ? env['SEARXNG_URL'] : backend.url);
  if (address !== undefined && /^https?:/.test(address) && URL.canParse(address)) return address;
  throw new ToolFailure(
    `Where ${backend.name} is has to be set: SEARXNG_URL, or web.search_url in the settings.`,
  );
}

function keyOf({ env }: WebSearchOptions, { name, keys }: SearchBackend): string {
  const key = keys.map((one) => env[one]?.trim()).find(Boolean);
  if (key !== undefined || keys.length === 0) return key ?? '';
  throw new ToolFailure(`${name} needs a key: set ${keys.join(' or ')}.`);
}

function domainsIn(value: unknown): readonly string[] {
  const given = Array.isArray(value) ? value : [];
  const names = given.map((one) =>
    String(one)
      .trim()
      .toLowerCase()
      .replace(/^(?:https?:\/\/)?(?:\*\.)?/, '')
      .replace(/\/.*$/, ''),
  );
  return names.filter((name) => /^[\p{L}\p{N}.-]+$/u.test(name));
}

/** Understood by every engine that takes words only. */
function siteWords(allowed: readonly string[], blocked: readonly string[]): string {
  const only = allowed.map((domain) => `site:${domain}`).join(' OR ');
  const without = blocked.map((domain) => `-site:${domain}`);
  return [allowed.length > 1 ? `(${only})` : only, ...without].filter((word) => word !== '').join(' ');
}

/** The words of a query are a wish; this is what holds. */
function isWanted(url: string, allowed: readonly string[], blocked: readonly string[]): boolean {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) return false;
  const { hostname } = new URL(url);
  const isOf = (domain: string) => hostname === domain || hostname.endsWith(`.${domain}`);
  return (allowed.length === 0 || allowed.some(isOf)) && !blocked.some(isOf);
}

function resultText({ title, url, snippet, date }: SearchResult, at: number): string {
  const when = date === undefined ? '' : ` (${oneLine(date, MAX_DATE)})`;
  const text = oneLine(stripMarks(snippet), MAX_SNIPPET);
  return `${at + 1}. ${oneLine(stripMarks(title), MAX_TITLE) || url}${when}\n${new URL(url).href}\n${text}`.trimEnd();
}

/** Some engines mark the words of the query. */
function stripMarks(text: string): string {
  return text.replace(/<\/?(?:b|strong|em|mark)>/gi, '');
}

function shown(input: JsonObject, found: readonly SearchResult[]): Display {
  const lines = found.map(({ title, url }) => `${oneLine(title, MAX_TITLE)} ${url}`);
  return { kind: 'matches', title: String(input['query']), count: found.length, truncated: false, lines };
}
