// The text of a PDF document, page by page, through pdf.js as unpdf packs it.

import { getDocumentProxy } from 'unpdf';
import type { PdfPage, PdfRange, PdfText } from '../../core/document.ts';
import { messageOf } from '../../core/errors.ts';

/** Milliseconds after which no further page is begun. */
const MAX_MS = 15_000;

/** Throws what pdf.js throws, of which `pdfFault` says what it means. */
export async function pdfText(bytes: Uint8Array, { first, most, bytes: room }: PdfRange): Promise<PdfText> {
  const document = await getDocumentProxy(bytes, { verbosity: 0 });
  const { numPages: total } = document;
  const ends = performance.now() + MAX_MS;
  const pages: PdfPage[] = [];
  let size = 0;
  for (let number = first; number <= Math.min(total, first + most - 1); number++) {
    if (pages.length > 0 && (size > room || performance.now() > ends)) break;
    const page = await pageText(document, number);
    size += 'text' in page ? Buffer.byteLength(page.text) : 0;
    pages.push(page);
  }
  return { total, pages };
}

async function pageText(
  document: Awaited<ReturnType<typeof getDocumentProxy>>,
  number: number,
): Promise<PdfPage> {
  try {
    const page = await document.getPage(number);
    const { items } = await page.getTextContent();
    const texts = items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : ''));
    page.cleanup();
    return { text: texts.join('').trim() };
  } catch (error) {
    return { fault: pdfFault(error) };
  }
}

/** pdf.js names its failures (`src/shared/util.js`). */
export function pdfFault(error: unknown): string {
  const name = error instanceof Error ? error.name : '';
  if (name === 'PasswordException')
    return 'it is encrypted with a password; decrypt a copy first, for example with `qpdf --password=… --decrypt IN OUT`';
  if (name === 'InvalidPDFException') return 'its structure is damaged or cut short';
  return messageOf(error).replace(/[.\s]+$/, '');
}
