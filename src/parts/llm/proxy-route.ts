// Which proxy a URL is reached through, as curl reads HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY in both cases of
// letters (everything.curl.dev/usingcurl/proxies/env.html), with the CIDR blocks that Go adds. Loopback is never
// proxied: a proxy's own loopback is another machine's.

import { BlockList, isIP } from 'node:net';
import { CrabError } from '../../core/errors.ts';
import type { NetworkSettings } from '../../core/settings.ts';
import type { Environment } from './endpoint.ts';
import { isLoopback } from './limits.ts';

export interface Network {
  readonly env: Environment;
  readonly settings: NetworkSettings;
}

export interface ProxyAddress {
  /** With the name and password that it asks for. */
  readonly url: URL;
  /** Without them, for people. */
  readonly shown: string;
}

const PROTOCOLS = /^(?:https?|socks(?:4a?|5h?)?):$/;

/** Throws `usage` for an address that is none. */
export function proxyFor(url: URL, { env, settings }: Network): ProxyAddress | undefined {
  if (isLoopback(url.hostname)) return undefined;
  const given =
    settings.proxy === undefined ? fromEnvironment(url, env) : ['the proxy setting', settings.proxy];
  const [name = '', address = ''] = given ?? [];
  if (address.trim() === '') return undefined;
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const exempt = settings.noProxy ?? (env['no_proxy'] || env['NO_PROXY'] || '');
  return isExempt(bare(url.hostname), port, exempt) ? undefined : parseProxy(address.trim(), name);
}

/** The variable that counts, and its value; an empty one is as good as none. */
function fromEnvironment(url: URL, env: Environment): readonly [string, string] | undefined {
  const own = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy';
  for (const name of [own, own.toUpperCase(), 'all_proxy', 'ALL_PROXY']) {
    const value = env[name];
    if (value !== undefined && value.trim() !== '') return [name, value];
  }
  return undefined;
}

/** The message names the variable and never its value, which may hold a password. */
function parseProxy(text: string, name: string): ProxyAddress {
  const address = text.includes('://') ? text : `http://${text}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === '' || !PROTOCOLS.test(url.protocol) || !isDecodable(url)) {
    throw new CrabError('usage', `${name} is not the address of a proxy.`, {
      hint: 'Give http://HOST:PORT, https://HOST:PORT or socks5h://HOST:PORT; write special letters of a password as %XX.',
    });
  }
  return { url, shown: `${url.protocol}//${url.host}` };
}

function isDecodable({ username, password }: URL): boolean {
  try {
    decodeURIComponent(username + password);
    return true;
  } catch {
    return false;
  }
}

function isExempt(hostname: string, port: number, list: string): boolean {
  return list.split(/[\s,]+/).some((entry) => entry !== '' && matches(entry.toLowerCase(), hostname, port));
}

function matches(entry: string, hostname: string, port: number): boolean {
  if (entry === '*') return true;
  const [, bracketed, plain, wanted] = /^(?:\[([^\]]*)\]|([^:]*))(?::(\d+))?$/.exec(entry) ?? [];
  if (wanted !== undefined && Number(wanted) !== port) return false;
  // An IPv6 address without brackets has colons of its own.
  const pattern = bracketed ?? plain ?? entry;
  const [network = '', bits] = pattern.split('/');
  if (isIP(network) > 0) return holds(network, bits, hostname);
  const suffix = bare(pattern.replace(/^\*?\./, ''));
  return suffix !== '' && (hostname === suffix || hostname.endsWith(`.${suffix}`));
}

function holds(network: string, bits: string | undefined, hostname: string): boolean {
  const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
  const most = family === 'ipv6' ? 128 : 32;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : most + 1;
  if (prefix > most || isIP(hostname) === 0) return false;
  const block = new BlockList();
  block.addSubnet(network, prefix, family);
  return block.check(hostname, isIP(hostname) === 6 ? 'ipv6' : 'ipv4');
}

/** Without the brackets of IPv6 and the dot of a full name. */
function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$|\.$/g, '');
}
