// One hit of a search engine, before anything is cleaned.

export interface SearchResult {
  readonly title: string;
  readonly url: string;
  readonly snippet: string;
  /** As the engine writes it. */
  readonly date?: string;
}
