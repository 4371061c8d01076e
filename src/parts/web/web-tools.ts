// The tools of this room, over one way to the network that is made when the first of them is called.

import type { Documents } from '../../core/document.ts';
import type { NetworkGuard } from '../../core/network.ts';
import type { Tool } from '../../core/tool.ts';
import type { Roads } from './roads.ts';
import { createWebFetchTool } from './web-fetch-tool.ts';
import { createWebSearchTool } from './web-search-tool.ts';

export interface WebOptions {
  guard(): Promise<NetworkGuard>;
  roads(): Promise<Roads>;
  readonly documents: Documents;
  readonly userAgent: string;
  /** For the keys and the address of a search engine. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly searchBackend?: string | undefined;
  readonly searchUrl?: string | undefined;
  /** Milliseconds that never go back. */
  now(): number;
}

export function createWebTools(options: WebOptions): readonly Tool[] {
  const { documents, env, searchBackend, searchUrl, userAgent } = options;
  const send = once(async () => {
    const [{ createSend }, roads] = await Promise.all([import('./exchange.ts'), options.roads()]);
    return createSend({ roads, userAgent });
  });
  const reader = once(async () => {
    const [{ createReader }, guard] = await Promise.all([import('./read-web.ts'), options.guard()]);
    return createReader({ send: await send(), guard, documents, now: options.now });
  });
  const search = async () => ({ send: await send(), documents, env, backend: searchBackend, url: searchUrl });
  return [createWebFetchTool(reader), createWebSearchTool(search)];
}

/** What failed is tried again. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
