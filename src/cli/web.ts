// How the tools of the web get at the network: over the roads that models are asked on, with their proxies and
// certificates, and past the guard of private addresses; and what reads the documents that come. All of it is loaded when
// the first of the tools is called.

import type { Documents } from '../core/document.ts';
import type { NetworkGuard } from '../core/network.ts';
import type { Settings } from '../core/settings.ts';
import type { BrowserOptions } from '../parts/browser/browsers.ts';
import type { Transports } from '../parts/llm/transports.ts';
import type { WebOptions } from '../parts/web/web-tools.ts';
import { systemClock } from './clock.ts';
import type { Environment } from './home.ts';
import { VERSION } from './version.ts';

/** Variables with the keys of search engines: no program that is started has a use for them. */
export const SEARCH_KEYS: readonly string[] = [
  'BRAVE_API_KEY',
  'BRAVE_SEARCH_API_KEY',
  'EXA_API_KEY',
  'SERPER_API_KEY',
  'TAVILY_API_KEY',
];

export interface WebAndBrowser {
  readonly documents: Documents;
  readonly web: WebOptions;
  readonly browser: BrowserOptions;
}

export function webOptions(env: Environment, settings: Settings): WebAndBrowser {
  const { network, web = {} } = settings;
  let transports: Promise<Transports> | undefined;
  let guard: Promise<NetworkGuard> | undefined;
  const roads = () => {
    transports ??= import('../parts/llm/transports.ts').then(({ createTransports }) =>
      createTransports({ env, settings: network }),
    );
    return transports;
  };
  const makeGuard = async (): Promise<NetworkGuard> => {
    const { createGuard } = await import('../parts/web/guard.ts');
    const isProxied = async (url: URL) => (await (await roads()).to(url)).proxy !== undefined;
    return createGuard({
      isProxied,
      ...(web.privateHosts !== undefined && { privateHosts: web.privateHosts }),
    });
  };
  const sharedGuard = () => {
    guard ??= makeGuard();
    return guard;
  };
  const documents = lazyDocuments();
  return {
    documents,
    web: {
      roads,
      documents,
      guard: sharedGuard,
      env,
      userAgent: `Mozilla/5.0 (compatible; crab/${VERSION})`,
      searchBackend: web.searchBackend,
      searchUrl: web.searchUrl,
      now: systemClock.monotonic,
    },
    browser: {
      guard: sharedGuard,
      upstream: async (url) => (await (await roads()).to(url)).proxy?.url,
      ...settings.browser,
    },
  };
}

/** Loaded with the first document. */
function lazyDocuments(): Documents {
  let made: Promise<Documents> | undefined;
  const load = () => {
    made ??= import('../parts/documents/documents.ts').then(({ createDocuments }) => createDocuments());
    return made;
  };
  return {
    page: async (...given) => (await load()).page(...given),
    results: async (...given) => (await load()).results(...given),
    pdf: async (...given) => (await load()).pdf(...given),
  };
}
