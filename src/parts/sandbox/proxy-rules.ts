// Which hosts a program may reach. Names are compared after URL's own parser has brought them into one form; an address
// that a name leads to is looked at as well, since a name under the program's control can lead anywhere.

import { BlockList, isIP } from 'node:net';
import type { SandboxHosts } from '../../core/sandbox.ts';

export interface HostRules {
  allows(host: string): boolean;
  /** Whether the host may have this address. */
  allowsAddress(host: string, address: string): boolean;
}

/** Loopback, private, shared, link-local (and with it the metadata of clouds), multicast, reserved (IANA registries). */
const PRIVATE: readonly (readonly [string, number, 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['10.0.0.0', 8, 'ipv4'],
  ['100.64.0.0', 10, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['172.16.0.0', 12, 'ipv4'],
  ['192.0.0.0', 24, 'ipv4'],
  ['192.168.0.0', 16, 'ipv4'],
  ['198.18.0.0', 15, 'ipv4'],
  ['224.0.0.0', 3, 'ipv4'],
  ['::', 127, 'ipv6'],
  ['64:ff9b::', 96, 'ipv6'],
  ['2002::', 16, 'ipv6'],
  ['fc00::', 7, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
];

export function hostRules({ hosts, privateHosts }: SandboxHosts): HostRules {
  const blocked = new BlockList();
  for (const [address, bits, family] of PRIVATE) blocked.addSubnet(address, bits, family);
  const [all, open] = [hosts.map(normal), privateHosts.map(normal)];
  return {
    allows: (host) => all.some((pattern) => matches(pattern, host)),
    // The list takes an IPv4 address in IPv6 clothes for what it is.
    allowsAddress: (host, address) =>
      !blocked.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4') ||
      open.some((pattern) => matches(pattern, host)),
  };
}

/** The host of `name:port` or of a URL's authority in one form; undefined for what is none. */
export function hostOf(authority: string): { readonly host: string; readonly port: number } | undefined {
  // Characters that parsers disagree about are no part of a host.
  if (!/^[\w.:[\]-]+$/.test(authority)) return undefined;
  try {
    const url = new URL(`http://${authority}`);
    const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    return host === '' || url.pathname !== '/' ? undefined : { host, port: Number(url.port || 80) };
  } catch {
    return undefined;
  }
}

function normal(pattern: string): string {
  return pattern.trim().toLowerCase().replace(/\.$/, '');
}

function matches(pattern: string, host: string): boolean {
  return pattern.startsWith('*.')
    ? host.endsWith(pattern.slice(1)) && host !== pattern.slice(2)
    : host === pattern;
}
