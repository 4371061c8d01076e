// What the thread is given and what it answers: plain data, since it is copied from one to the other.

import type { PageText, PdfRange, PdfText, ResultLink } from '../../core/document.ts';

export type Task =
  | {
      readonly kind: 'page';
      readonly html: string;
      readonly url: string;
      readonly format: 'markdown' | 'text';
    }
  | { readonly kind: 'results'; readonly html: string }
  | { readonly kind: 'pdf'; readonly bytes: Uint8Array; readonly range: PdfRange };

export interface Answers {
  readonly page: PageText;
  readonly results: readonly ResultLink[];
  readonly pdf: PdfText;
}

/** `fault`: why it cannot be read, as the end of a sentence. */
export type Answer =
  | { readonly value: Answers[keyof Answers]; readonly fault?: undefined }
  | { readonly fault: string };
