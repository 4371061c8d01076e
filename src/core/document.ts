// Documents of strangers (pages of the web, PDF files) as text. They are read beside the program, within bounds of time
// and memory, because what a document is made of decides how long its reader takes.

export interface PageText {
  /** Empty where it has none. */
  readonly title: string;
  readonly text: string;
}

/** A link of a search engine's page. */
export interface ResultLink {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
}

export interface PdfRange {
  /** From 1. */
  readonly first: number;
  /** Pages. */
  readonly most: number;
  /** Bytes of text behind which no further page is begun. */
  readonly bytes: number;
}

export interface PdfText {
  /** Pages of the document. */
  readonly total: number;
  /** From the first of the range on; none where the document ends before it. */
  readonly pages: readonly PdfPage[];
}

/** The text of a page, empty where it has none, or why it cannot be read as the end of a sentence. */
export type PdfPage = { readonly text: string } | { readonly fault: string };

/**
 * `name` says in a failure what could not be read, as the beginning of a sentence. Each rejects with `ToolFailure` for
 * what is damaged or takes too much time or memory, and with the signal's reason when it aborts first.
 */
export interface Documents {
  /** The article of a page of HTML as Markdown, or all of it as bare text. Links are made absolute by the URL. */
  page(
    name: string,
    page: { readonly html: string; readonly url: string; readonly format: 'markdown' | 'text' },
    signal: AbortSignal,
  ): Promise<PageText>;
  /** What a search engine's page for browsers without scripts lists. */
  results(name: string, html: string, signal: AbortSignal): Promise<readonly ResultLink[]>;
  pdf(name: string, bytes: Uint8Array, range: PdfRange, signal: AbortSignal): Promise<PdfText>;
}
