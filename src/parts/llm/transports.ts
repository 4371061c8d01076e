// The roads to a provider: plain or TLS, direct or through a proxy. Each is made when the first URL needs it, and what
// only some need (TLS, proxies, certificates of one's own) is loaded then, because most starts need none of it.

import { Agent, type ClientRequest, request as plainRequest } from 'node:http';
import type { RequestOptions } from 'node:https';
import type { SecureContext } from 'node:tls';
import type { Network, ProxyAddress } from './proxy-route.ts';

export interface Transport {
  readonly agent: Agent;
  /** Whom the connection is made to in place of the host. */
  readonly proxy?: ProxyAddress;
  /** Certificates of the system are trusted already. */
  readonly isWide: boolean;
  request(options: RequestOptions): ClientRequest;
}

export interface Transports {
  /** Rejects with `CrabError` (`usage`) for a proxy or a certificate that cannot be used. */
  to(url: URL): Transport | Promise<Transport>;
  /**
   * A certificate was signed by nobody that is known: from here on the system's own certificates count as well.
   * They are not read before, since that takes longer than a request.
   */
  trustSystem(): void;
}

export const AGENT = {
  keepAlive: true,
  /** For each host. */
  maxFreeSockets: 4,
  /** Milliseconds that an idle connection is kept: NATs forget one after some minutes without a word. */
  timeout: 60_000,
  /** Of a host with several addresses the next one is tried after this long; Node gives up the one before. */
  autoSelectFamilyAttemptTimeout: 500,
};

export type AgentSettings = typeof AGENT;

export function createTransports(network: Network): Transports {
  const made = new Map<string, Transport | Promise<Transport>>();
  const mayProxy = namesProxy(network);
  const hasOwnTrust = namesCertificates(network);
  const contexts = new Map<boolean, Promise<SecureContext>>();
  let isWide = false;

  function contextOf(wide: boolean): Promise<SecureContext> | undefined {
    if (!wide && !hasOwnTrust) return undefined;
    const known = contexts.get(wide);
    if (known !== undefined) return known;
    const context = import('./certificates.ts').then(({ trust }) => trust(network, wide));
    contexts.set(wide, context);
    return context;
  }

  async function make(secure: boolean, wide: boolean, proxy: ProxyAddress | undefined): Promise<Transport> {
    const usesTls = secure || proxy?.url.protocol === 'https:';
    const context = usesTls ? await contextOf(wide) : undefined;
    const settings = { ...AGENT, ...(context !== undefined && { secureContext: context }) };
    if (proxy === undefined) {
      const { secureTransport } = await import('./https.ts');
      return secureTransport(settings, wide);
    }
    const { proxiedTransport } = await import('./proxied.ts');
    return proxiedTransport({ proxy, secure, wide, settings });
  }

  function open(url: URL, proxy?: ProxyAddress): Transport | Promise<Transport> {
    const secure = url.protocol === 'https:';
    const key = `${secure} ${isWide} ${proxy?.url.href}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const transport =
      secure || proxy !== undefined
        ? make(secure, isWide, proxy)
        : { agent: new Agent(AGENT), request: plainRequest, isWide: true };
    made.set(key, transport);
    return transport;
  }

  return {
    to: (url) =>
      mayProxy
        ? import('./proxy-route.ts').then(({ proxyFor }) => open(url, proxyFor(url, network)))
        : open(url),
    trustSystem() {
      isWide = true;
    },
  };
}

const PROXY_VARIABLES = [
  'https_proxy',
  'HTTPS_PROXY',
  'http_proxy',
  'HTTP_PROXY',
  'all_proxy',
  'ALL_PROXY',
] as const;

function namesProxy({ env, settings }: Network): boolean {
  return settings.proxy !== undefined || PROXY_VARIABLES.some((name) => env[name]);
}

function namesCertificates({ env, settings }: Network): boolean {
  return Boolean(settings.caFile || settings.clientCert || env['CRAB_CLIENT_CERT']);
}
