// HTML as Markdown: the article that Mozilla's Readability finds in a page, or the whole body where it finds none. What
// the page hides from people is taken out first, because it is there for machines, and at times for this one.

import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import TurndownService from 'turndown';
import type { PageText } from '../../core/document.ts';
import type { HtmlDocument, HtmlElement } from './dom.ts';
import { stripHtml } from './strip-html.ts';

/** Characters of a page in which an article is looked for: it takes seconds for a larger one. */
const MAX_ARTICLE = 512 * 1024;
/** Characters of a page of which a tree is made. */
const MAX_TREE = 1024 * 1024;

const HIDDEN = [
  'script',
  'style',
  'body title',
  'noscript',
  'template',
  'iframe',
  'object',
  'embed',
  'canvas',
  'svg',
  'link',
  'meta',
  'input',
  'select',
  'dialog:not([open])',
  '[hidden]',
  '[aria-hidden="true"]',
].join(',');

const HIDING_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0+)?\s*(?:;|!|$)|font-size\s*:\s*0(?:\.0+)?[a-z%]*\s*(?:;|!|$))/i;

export function articleOf(html: string, url: URL): PageText {
  if (html.length > MAX_TREE || isDeep(html)) return bareText(html);
  try {
    return readTree(html, url);
  } catch (error) {
    // Nested deeper than the libraries can climb.
    if (error instanceof RangeError) return bareText(html);
    throw error;
  }
}

/** Elements inside elements; the libraries' time grows with the square of it. */
const MAX_DEPTH = 500;
/** Those that end without an end tag (html.spec.whatwg.org, 13.1.2.4), or have no content. */
const UNCLOSED =
  /^(?:p|li|d[td]|t[rdh]|tbody|thead|tfoot|option|optgroup|r[tp]|body|html|head|area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

function isDeep(html: string): boolean {
  let depth = 0;
  for (const [, slash, name = ''] of html.matchAll(/<(\/?)([a-z][\w-]*)/gi)) {
    if (UNCLOSED.test(name)) continue;
    depth = Math.max(0, depth + (slash === '/' ? -1 : 1));
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Without a tree: every text of it, in its order. */
export function bareText(html: string): PageText {
  const title = /<title\b[^<>]*>([^<]{0,300})/i.exec(html)?.[1] ?? '';
  return { title: stripHtml(title), text: stripHtml(html) };
}

function readTree(html: string, url: URL): PageText {
  const document = documentOf(html);
  // Where there is no head, it stands in the body, and would be read as text there.
  const titles = document.querySelectorAll('title');
  const [title = ''] = Array.from(titles, (one) => one.textContent?.trim());
  const base = baseOf(document, url);
  for (const element of document.querySelectorAll(HIDDEN)) element.remove();
  for (const element of document.querySelectorAll('[style]'))
    if (HIDING_STYLE.test(element.getAttribute('style') ?? '')) element.remove();
  for (const link of document.querySelectorAll('a[href]')) resolveLink(link, base);
  for (const image of document.querySelectorAll('img')) describeImage(image, base);
  const body = document.body;
  const whole = markdownOf(body);
  if (html.length > MAX_ARTICLE) return { title, text: whole };
  const found = new Readability(document as never, {
    keepClasses: true,
    serializer: (node) => node as unknown as HtmlElement,
  }).parse();
  const article = found?.content ? markdownOf(found.content) : '';
  // An index or an application has no article: what is found then is a corner of the page.
  const isArticle = article.length > 500 || article.length * 3 > whole.length;
  return { title: found?.title?.trim() || title, text: isArticle ? article : whole };
}

function documentOf(html: string): HtmlDocument {
  const isWhole = /<html\b/i.test(html.slice(0, 4096));
  const { document } = parseHTML(isWhole ? html : `<html><body>${html}</body></html>`);
  return document as unknown as HtmlDocument;
}

function baseOf(document: HtmlDocument, url: URL): string {
  const href = document.querySelector('base[href]')?.getAttribute('href') ?? '';
  return URL.canParse(href, url.href) ? new URL(href, url.href).href : url.href;
}

/** A link that leads nowhere is its text. */
function resolveLink(link: HtmlElement, base: string): void {
  const href = link.getAttribute('href') ?? '';
  const target = URL.canParse(href, base) ? new URL(href, base) : undefined;
  if (target !== undefined && /^(?:https?|mailto):$/.test(target.protocol) && !href.startsWith('#'))
    link.setAttribute('href', target.href);
  else link.removeAttribute('href');
}

/** Of an image only its description is of use here. */
function describeImage(image: HtmlElement, base: string): void {
  const source = image.getAttribute('src') ?? '';
  const alt = image.getAttribute('alt')?.trim() ?? '';
  if (alt === '' || source.startsWith('data:') || !URL.canParse(source, base)) image.remove();
  else image.setAttribute('src', new URL(source, base).href);
}

function markdownOf(root: HtmlElement): string {
  const service = new TurndownService({
    headingStyle: 'atx',
    codeBlockStyle: 'fenced',
    bulletListMarker: '-',
    blankReplacement: (_text, node) => (isCell(node) ? '  |' : node.isBlock ? '\n\n' : ''),
  });
  service.addRule('cell', {
    filter: ['th', 'td'],
    replacement: (text, node) => (holdsTable(node) ? `\n\n${text}\n\n` : cell(text)),
  });
  service.addRule('row', {
    filter: 'tr',
    replacement: (text, node) => (holdsTable(node) ? text : row(text, node)),
  });
  service.addRule('table', { filter: 'table', replacement: (text) => `\n\n${text.trim()}\n\n` });
  return service
    .turndown(root)
    .replace(/[^\S\n]+\n/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function isCell(node: HtmlElement): boolean {
  return /^(?:td|th)$/i.test(node.nodeName);
}

/** A table around others is there for the layout. */
function holdsTable(node: HtmlElement): boolean {
  return node.querySelector('table') !== null;
}

function cell(text: string): string {
  return ` ${text.trim().replace(/\s*\n\s*/g, ' ')} |`;
}

/** One line, whatever is in its cells; the first of a table has a ruler below it. */
function row(text: string, element: HtmlElement): string {
  const isFirst = element.closest('table')?.querySelector('tr') === element;
  return `|${text}\n${isFirst ? `|${' --- |'.repeat(element.children.length)}\n` : ''}`;
}
