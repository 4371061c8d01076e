// What an answer holds, as a model can take it: Markdown of a page, text as it is, the text of a PDF, or an image.

import type { Documents } from '../../core/document.ts';
import { ToolFailure } from '../../core/errors.ts';
import { decodeBody } from './charset.ts';
import { cleanText, oneLine } from './clean-text.ts';
import type { WebAnswer } from './exchange.ts';

export type Format = 'markdown' | 'text' | 'html';

export interface TextPage {
  readonly kind: 'text';
  /** Empty where it has none. */
  readonly title: string;
  readonly text: string;
  /** What the reader should know of it, such as that it was cut. */
  readonly notes: readonly string[];
}

export interface ImagePage {
  readonly kind: 'image';
  readonly mimeType: string;
  readonly data: Buffer;
}

export type Page = TextPage | ImagePage;

const MAX_TITLE = 300;
/** Pages of a PDF of which the text is taken. */
const MAX_PDF_PAGES = 500;
/** Bytes of that text. */
const MAX_PDF_TEXT = 5 * 1024 * 1024;

const TEXT_TYPE =
  /^(?:text\/.*|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|toml)|application\/(?:ld\+json|javascript|ecmascript|x-javascript|x-ndjson|x-sh|x-yaml|sql|graphql|rss\+xml|atom\+xml)|image\/svg\+xml|message\/.*)$/;

export interface Reading {
  readonly format: Format;
  readonly documents: Documents;
  readonly signal: AbortSignal;
}

/** Rejects with `ToolFailure` for what is neither text nor an image, and for what cannot be read. */
export async function pageOf(answer: WebAnswer, url: URL, reading: Reading): Promise<Page> {
  const { headers, body, isCut } = answer;
  const given = headers['content-type'] ?? '';
  const type = given.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const binary = signatureOf(body);
  if (binary !== undefined && isCut)
    throw new ToolFailure(`${url.href} is ${binary} of more than 5 MiB, which is too large to read here.`);
  if (binary === 'application/pdf') return pdfPage(body, url, reading);
  if (binary !== undefined) return { kind: 'image', mimeType: binary, data: body };
  if (type !== '' && !TEXT_TYPE.test(type) && !isHtml(type, body) && !isText(body))
    throw new ToolFailure(`${url.href} is ${type}, neither text nor an image; ${body.length} bytes arrived.`);
  if (type === '' && !isText(body))
    throw new ToolFailure(`${url.href} is binary and does not say of what kind.`);
  const notes = isCut ? ['Only the first 5 MiB were read.'] : [];
  const text = decodeBody(body, given);
  const { format, documents, signal } = reading;
  if (format === 'html' || !isHtml(type, body))
    return { kind: 'text', title: '', text: cleanText(text), notes };
  const asked = { html: text, url: url.href, format };
  const page = await documents.page(`The page ${url.href}`, asked, signal);
  return { kind: 'text', title: oneLine(page.title, MAX_TITLE), text: cleanText(page.text), notes };
}

function isHtml(type: string, body: Buffer): boolean {
  if (type === 'text/html' || type === 'application/xhtml+xml') return true;
  return (
    (type === '' || type === 'text/plain') &&
    /^\s*<(?:!doctype html|html)\b/i.test(body.toString('latin1', 0, 256))
  );
}

function isText(body: Buffer): boolean {
  return !body.subarray(0, 8192).includes(0);
}

function signatureOf(body: Buffer): string | undefined {
  const head = body.toString('latin1', 0, 12);
  if (head.startsWith('%PDF-')) return 'application/pdf';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (head.startsWith('GIF87a') || head.startsWith('GIF89a')) return 'image/gif';
  if (head.startsWith('RIFF') && head.slice(8) === 'WEBP') return 'image/webp';
  return undefined;
}

async function pdfPage(body: Buffer, url: URL, { documents, signal }: Reading): Promise<TextPage> {
  const range = { first: 1, most: MAX_PDF_PAGES, bytes: MAX_PDF_TEXT };
  const { total, pages } = await documents.pdf(`The PDF at ${url.href}`, body, range, signal);
  const texts = pages.map((page, at) => {
    const text = 'text' in page ? page.text : `[The page cannot be read: ${page.fault}.]`;
    return `## Page ${at + 1}\n\n${text}`;
  });
  const notes = pages.length < total ? [`Only the first ${pages.length} of ${total} pages were read.`] : [];
  return { kind: 'text', title: '', text: cleanText(texts.join('\n\n')), notes };
}
