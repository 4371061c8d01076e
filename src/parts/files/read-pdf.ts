// The text of a PDF document, page by page. Scanned pages have no text, which is said: a page without any must not look like
// a page that is empty.

import type { Documents, PdfPage } from '../../core/document.ts';
import { ToolFailure } from '../../core/errors.ts';
import { MAX_RESULT_BYTES } from '../../core/limits.ts';
import { type ToolOutput, textOutput } from '../../core/tool.ts';
import { byteCount } from './read-record.ts';
import { markUnseen } from './unseen.ts';

/** A larger document is not opened. */
export const MAX_PDF_BYTES = 64 * 1024 * 1024;

/** Pages shown by one call, as with the tools that models know. */
const MAX_PAGES = 20;

/** Bytes kept free for the sentence at the end. */
const FOOTER_BYTES = 512;

interface PageRange {
  readonly first: number;
  /** Undefined: as many as fit. */
  readonly last: number | undefined;
}

export interface PdfFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** `5`, `2-7`, `10-`, or empty for the beginning. */
  readonly pages: string;
}

export async function readPdf(
  { path, bytes, pages }: PdfFile,
  documents: Documents,
  signal: AbortSignal,
): Promise<ToolOutput> {
  const { first, last = Number.POSITIVE_INFINITY } = parseRange(pages);
  const range = { first, most: Math.min(MAX_PAGES, last - first + 1), bytes: MAX_RESULT_BYTES };
  const read = await documents.pdf(`The PDF document ${path}`, bytes, range, signal);
  const { total } = read;
  if (first > total) throw new ToolFailure(`${path} has ${pageCount(total)}, so there is no page ${first}.`);
  const shown = withinBytes(read.pages.map((page, at) => pageText(page, first + at)));
  const next = first + shown.length;
  const wanted = Math.min(last, total);
  const more = next <= wanted ? ` Go on with pages ${next}-${Math.min(next + MAX_PAGES - 1, wanted)}.` : '';
  const which = shown.length === 1 ? `Page ${first}` : `Pages ${first}–${next - 1}`;
  return textOutput(`${shown.join('\n')}\n[${which} of ${total}.${more}]`, { kind: 'file', path });
}

/**
 * The pages that fit into a result. One page that is longer than that is cut by the cap that every result has, which keeps
 * the whole in a file.
 */
function withinBytes(pages: readonly string[]): readonly string[] {
  let bytes = FOOTER_BYTES;
  const over = pages.findIndex((page, at) => {
    bytes += Buffer.byteLength(page) + 1;
    return at > 0 && bytes > MAX_RESULT_BYTES;
  });
  return over === -1 ? pages : pages.slice(0, over);
}

function pageText(page: PdfPage, number: number): string {
  const mark = `--- Page ${number} ---`;
  if ('fault' in page) return `${mark}\n[The page cannot be read: ${page.fault}.]`;
  const plain = markUnseen(page.text);
  return `${mark}\n${plain === '' ? '[No text: the page is empty or an image, such as a scan.]' : plain}`;
}

function parseRange(pages: string): PageRange {
  if (pages.trim() === '') return { first: 1, last: undefined };
  const found = /^\s*(\d{1,6})\s*(?:(-|–)\s*(\d{1,6})?)?\s*$/.exec(pages);
  const first = Number(found?.[1]);
  const last = found?.[2] === undefined ? first : found[3] === undefined ? undefined : Number(found[3]);
  if (found === null || first < 1 || (last !== undefined && last < first))
    throw new ToolFailure(`${JSON.stringify(pages)} is no range of pages: write 3, 2-7 or 10-.`);
  return { first, last };
}

function pageCount(total: number): string {
  return total === 1 ? '1 page' : `${total} pages`;
}

export function tooLargePdf(path: string, size: number): ToolFailure {
  return new ToolFailure(
    `Cannot read ${path}: a PDF document of ${byteCount(size)}, where at most ${byteCount(MAX_PDF_BYTES)} are opened; extract its text with a command such as pdftotext.`,
  );
}
