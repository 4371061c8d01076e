// What `web_fetch` does: fetches a page or remembers it, and cuts the piece that was asked for.

import type { Documents } from '../../core/document.ts';
import { ToolFailure } from '../../core/errors.ts';
import { MAX_RESULT_BYTES } from '../../core/limits.ts';
import type { NetworkGuard } from '../../core/network.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import type { Send, WebAnswer } from './exchange.ts';
import { fetchPage, mayFollow, type Redirected } from './fetch-page.ts';
import { outsideText } from './outside.ts';
import { type Page, pageOf, type Reading, type TextPage } from './page.ts';
import { createPageCache } from './page-cache.ts';
import { DEFAULT_LENGTH, FORMATS, shownPage } from './web-input.ts';
import { checkedUrl } from './web-url.ts';

/** Bytes kept free for what stands around the page. */
const FRAME_BYTES = 2 * 1024;
/** Characters of a server's refusal. */
const ERROR_LENGTH = 2000;

export interface ReaderOptions {
  readonly send: Send;
  readonly guard: NetworkGuard;
  readonly documents: Documents;
  /** Milliseconds that never go back. */
  now(): number;
}

export type ReadWeb = (
  input: JsonObject,
  context: Pick<ToolContext, 'signal' | 'permits'>,
) => Promise<ToolOutput>;

export function createReader(options: ReaderOptions): ReadWeb {
  const cache = createPageCache<Kept>(options.now);
  return async (input, { signal, permits }) => {
    const url = checkedUrl(String(input['url']));
    const format = FORMATS.find((one) => one === input['format']) ?? 'markdown';
    const key = `${format} ${url.href}`;
    const known = cache.get(key);
    // What was allowed behind a redirect may be forbidden since.
    if (
      known !== undefined &&
      (known.url.hostname === url.hostname || (await mayFollow(url, known.url, permits)))
    )
      return present(known, input);
    const { send, guard, documents } = options;
    const fetched = await fetchPage(url.href, { send, guard, permits }, signal);
    if (fetched.kind === 'redirect') return redirected(fetched, input);
    const { answer } = fetched;
    const reading = { format, documents, signal };
    if (answer.status < 200 || answer.status > 299) return refused(answer, fetched.url, reading);
    const kept = { url: fetched.url, page: await pageOf(answer, fetched.url, reading) };
    cache.set(key, kept, sizeOf(kept.page));
    return present(kept, input);
  };
}

interface Kept {
  readonly url: URL;
  readonly page: Page;
}

function sizeOf(page: Page): number {
  return page.kind === 'image' ? page.data.length : page.text.length * 2;
}

function present({ url, page }: Kept, input: JsonObject): ToolOutput {
  if (page.kind === 'image') {
    const { mimeType, data } = page;
    return {
      content: [
        { type: 'text', text: `[${mimeType}, ${data.length} bytes, from ${url.href}]` },
        { type: 'image', data: data.toString('base64'), mimeType },
      ],
      isError: false,
      display: { kind: 'image', mimeType },
    };
  }
  const { text, notes } = piece(page, input, url);
  const framed = outsideText({ tag: 'web_page', attributes: { url: url.href, title: page.title }, text });
  const display = shownPage(input, `${page.title || url.href}, ${page.text.length} characters`);
  return textOutput([framed, ...notes.map((note) => `[${note}]`)].join('\n'), display);
}

interface Piece {
  readonly text: string;
  readonly notes: readonly string[];
}

function piece(page: TextPage, input: JsonObject, url: URL): Piece {
  const { length } = page.text;
  const offset = countIn(input, 'offset', 0);
  const most = countIn(input, 'max_length', DEFAULT_LENGTH) || DEFAULT_LENGTH;
  if (length === 0) {
    const note = 'The page has no text; what it shows may be made by scripts, which the browser tools run.';
    return { text: '', notes: [note, ...page.notes] };
  }
  if (offset >= length)
    throw new ToolFailure(
      `Offset ${offset} lies beyond the end of ${url.href}, which has ${length} characters.`,
    );
  const end = endOf(page.text, offset, Math.min(length, offset + most));
  const text = page.text.slice(offset, end);
  const range =
    offset === 0 && end === length
      ? []
      : [`Characters ${offset}–${end} of ${length}.${end < length ? ` Go on with offset ${end}.` : ''}`];
  return { text, notes: [...range, ...page.notes] };
}

/** As far as the bytes of a result reach, and not in the middle of a character. */
function endOf(text: string, from: number, to: number): number {
  const most = MAX_RESULT_BYTES - FRAME_BYTES;
  let end = to;
  while (Buffer.byteLength(text.slice(from, end)) > most) {
    const share = most / Buffer.byteLength(text.slice(from, end));
    end = from + Math.floor((end - from) * share * 0.99);
  }
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code < 0xdc00 && end - 1 > from ? end - 1 : end;
}

function countIn(input: JsonObject, key: string, otherwise: number): number {
  const value = input[key];
  if (value === undefined || value === null) return otherwise;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ToolFailure(`${key} must be a whole number that is not negative.`);
}

function redirected({ from, to, status }: Redirected, input: JsonObject): ToolOutput {
  const text = `${from.href} redirects (${status}) to another host: ${to.href}\nFetch that URL to go on.`;
  return textOutput(text, shownPage(input, `→ ${to.href}`));
}

async function refused(answer: WebAnswer, url: URL, reading: Reading): Promise<ToolOutput> {
  const { status } = answer;
  const line = `${url.host} answered ${status}${MEANING[status] ?? ''}.`;
  const text = await excuse(answer, url, reading);
  const framed = text === '' ? [] : [outsideText({ tag: 'web_page', attributes: { url: url.href }, text })];
  return { content: [{ type: 'text', text: [line, ...framed].join('\n') }], isError: true };
}

/** What the server says of it, as far as that is text. */
async function excuse(answer: WebAnswer, url: URL, reading: Reading): Promise<string> {
  try {
    const page = await pageOf(answer, url, { ...reading, format: 'markdown' });
    return page.kind === 'text' ? page.text.slice(0, ERROR_LENGTH).toWellFormed() : '';
  } catch {
    reading.signal.throwIfAborted();
    return '';
  }
}

const MEANING: Readonly<Record<number, string>> = {
  401: ' (it wants a login, which this tool has not)',
  403: ' (it refuses; it may want a login or a browser)',
  404: ' (there is no such page)',
  410: ' (the page is gone)',
  429: ' (too many requests; wait before the next)',
};
