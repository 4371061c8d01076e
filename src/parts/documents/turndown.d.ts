// The part of the library that is used here; it brings no types.

declare module 'turndown' {
  import type { HtmlElement } from './dom.ts';

  interface Options {
    readonly headingStyle: 'atx';
    readonly codeBlockStyle: 'fenced';
    readonly bulletListMarker: '-';
    readonly blankReplacement: (text: string, node: HtmlElement & { readonly isBlock: boolean }) => string;
  }

  interface Rule {
    readonly filter: string | readonly string[];
    readonly replacement: (text: string, node: HtmlElement) => string;
  }

  class TurndownService {
    constructor(options: Options);
    addRule(name: string, rule: Rule): this;
    turndown(root: HtmlElement): string;
  }

  export = TurndownService;
}
