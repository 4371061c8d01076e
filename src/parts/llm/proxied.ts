// Requests through a proxy: `CONNECT` for https (RFC 9110, 9.3.6), the whole URL for plain http, SOCKS for both. A library
// is loaded for the kind of proxy that there is.

import { type Agent, type ClientRequest, request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { isIPv6 } from 'node:net';
import type { SecureSettings } from './https.ts';
import type { ProxyAddress } from './proxy-route.ts';
import type { Transport } from './transports.ts';

export interface ProxiedRoad {
  readonly proxy: ProxyAddress;
  /** Whether the host at the end speaks TLS. */
  readonly secure: boolean;
  readonly wide: boolean;
  readonly settings: SecureSettings;
}

export async function proxiedTransport(road: ProxiedRoad): Promise<Transport> {
  const { proxy, secure, wide } = road;
  const agent = await agentFor(road);
  // The library would otherwise guess it from the stack.
  agent.protocol = secure ? 'https:' : 'http:';
  return { agent, proxy, isWide: wide, request: secure ? secureRequest : plainRequest };
}

async function agentFor({ proxy, secure, settings }: ProxiedRoad): Promise<Agent & { protocol: string }> {
  const { url } = proxy;
  if (url.protocol.startsWith('socks')) {
    const { SocksProxyAgent } = await import('socks-proxy-agent');
    const agent = new SocksProxyAgent(url, settings);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    if (isIPv6(host)) agent.proxy.host = host;
    // It would end a stream that is silent for so long; the limits of an exchange are its own.
    agent.timeout = null;
    return agent;
  }
  if (!secure) {
    const { HttpProxyAgent } = await import('http-proxy-agent');
    return owned(new HttpProxyAgent(url, settings), settings);
  }
  const { HttpsProxyAgent } = await import('https-proxy-agent');
  return owned(new HttpsProxyAgent(url, settings), settings);
}

interface Connecting {
  readonly options: object;
  connectOpts: object;
  connect(request: ClientRequest, options: never): Promise<unknown>;
}

/**
 * Mends two things of the libraries: they forget the settings of connections to the host at the end, and leave the
 * socket of a proxy that is slow to answer when the request is gone (law 6).
 */
function owned<A extends Connecting>(agent: A, settings: SecureSettings): A {
  Object.assign(agent.options, settings);
  const connect = agent.connect.bind(agent);
  const toProxy = agent.connectOpts;
  agent.connect = async (request, options) => {
    const gone = new AbortController();
    const destroy = request.destroy.bind(request);
    request.destroy = (error) => {
      gone.abort();
      return destroy(error);
    };
    agent.connectOpts = { ...toProxy, signal: gone.signal };
    try {
      return await connect(request, options);
    } finally {
      request.destroy = destroy;
    }
  };
  return agent;
}
