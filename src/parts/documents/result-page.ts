// The results in DuckDuckGo's page for browsers without scripts (html.duckduckgo.com). The page is no interface that
// anybody promised: where it has neither results nor the words for "none", that is an error and not an empty list.

import type { ResultLink } from '../../core/document.ts';
import { stripHtml } from './strip-html.ts';

const LINK = /<a\b(?=[^>]*\bclass="[^"]*\bresult__a\b)[^>]*\bhref="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g;
const SNIPPET = /\bclass="[^"]*\bresult__snippet\b[^"]*"[^>]*>([\s\S]*?)<\/(?:a|div|td)>/;

/** Throws when the page is of another kind, such as the one that asks whether a person is there. */
export function resultLinks(html: string): readonly ResultLink[] {
  const links = [...html.matchAll(LINK)];
  if (links.length === 0) {
    if (/anomaly|challenge-form|captcha/i.test(html)) throw new Error('it wants to see a person first');
    if (!/no-results|No\s+results/i.test(html)) throw new Error('its page has changed');
    return [];
  }
  return links.flatMap((link, at) => {
    const behind = html.slice(link.index + link[0].length, links[at + 1]?.index);
    const url = targetOf(stripHtml(link[1] ?? ''));
    if (url === undefined) return [];
    return [{ title: stripHtml(link[2] ?? ''), url, snippet: stripHtml(SNIPPET.exec(behind)?.[1] ?? '') }];
  });
}

/** A result's link goes through the engine; undefined for an advertisement. */
function targetOf(href: string): string | undefined {
  if (!URL.canParse(href, 'https://duckduckgo.com/')) return undefined;
  const url = new URL(href, 'https://duckduckgo.com/');
  if (!/(?:^|\.)duckduckgo\.com$/.test(url.hostname)) return url.href;
  if (url.pathname !== '/l/') return undefined;
  return url.searchParams.get('uddg') ?? undefined;
}
