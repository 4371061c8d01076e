// Which addresses belong to the public internet, by IANA's registries of special-purpose addresses (RFC 6890). Of IPv6
// only what is allocated for global use counts, so that a range nobody thought of here is refused.

import { BlockList, isIP } from 'node:net';

const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  // Shared by carriers (RFC 6598), and where one cloud has its metadata.
  '100.64.0.0/10',
  '127.0.0.0/8',
  // Link-local, and where most clouds have their metadata.
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  // Public by its number, and the host of every machine in Azure.
  '168.63.129.16/32',
  '224.0.0.0/4',
  '240.0.0.0/4',
] as const;

/** Of `2000::/3`: Teredo and other protocols, documentation, 6to4. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'] as const;

export function blockOf(family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList {
  const block = new BlockList();
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/');
    block.addSubnet(network, Number(bits), family);
  }
  return block;
}

const specialV4 = blockOf('ipv4', SPECIAL_V4);
const specialV6 = blockOf('ipv6', SPECIAL_V6);
const globalV6 = blockOf('ipv6', ['2000::/3']);

/** False for what is no address, too. */
export function isPublicAddress(text: string): boolean {
  const address = embeddedV4(text) ?? text;
  if (isIP(address) === 4) return !specialV4.check(address, 'ipv4');
  if (isIP(address) !== 6 || address.includes('%')) return false;
  return globalV6.check(address, 'ipv6') && !specialV6.check(address, 'ipv6');
}

/** The IPv4 address inside one that is mapped (`::ffff:0:0/96`) or translated (NAT64, `64:ff9b::/96`). */
function embeddedV4(text: string): string | undefined {
  if (isIP(text) !== 6 || text.includes('%')) return undefined;
  const { hostname } = new URL(`http://[${text}]`);
  const found = /^\[(?:::ffff:|64:ff9b::)(?:([\da-f]{1,4}):)?([\da-f]{1,4})\]$/.exec(hostname);
  if (found === null) return undefined;
  const [high, low] = [Number.parseInt(found[1] ?? '0', 16), Number.parseInt(found[2] ?? '', 16)];
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
