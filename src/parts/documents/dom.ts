// As much of a document tree as is used here. The libraries' own types are those of a browser, which the compiler is not
// told of, so that nothing of a browser can be used by accident.

export interface HtmlElement {
  readonly nodeName: string;
  readonly textContent: string | null;
  readonly children: ArrayLike<HtmlElement>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): HtmlElement | null;
  querySelectorAll(selector: string): Iterable<HtmlElement>;
  closest(selector: string): HtmlElement | null;
  remove(): void;
}

export interface HtmlDocument extends Pick<HtmlElement, 'querySelector' | 'querySelectorAll'> {
  readonly body: HtmlElement;
}
