// Keeps what a model asks for out of the person's own network. Every URL is judged before anything is connected, the
// target of each redirect like the first; a name that has one private address among public ones is refused as a whole,
// because whoever owns the name chooses which of them is used (DNS rebinding).

import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { messageOf, ToolFailure } from '../../core/errors.ts';
import type { NetworkAddress, NetworkGuard } from '../../core/network.ts';
import { isPublicAddress } from './public-address.ts';
import { checkedUrl, portOf } from './web-url.ts';

export type Resolve = (hostname: string) => Promise<readonly NetworkAddress[]>;

export interface GuardOptions {
  /** Hosts that may be reached wherever they are: `NAME`, `NAME:PORT`, `*.NAME`, an address, or a block of them. */
  readonly privateHosts?: readonly string[];
  /** Default: the system's. */
  readonly resolve?: Resolve;
  /** Whether a proxy makes the connection. It may know names that this machine does not. */
  isProxied?(url: URL): boolean | Promise<boolean>;
}

/** Names that mean this machine or its network, whoever looks them up. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|localdomain|local|internal|home\.arpa|lan|intranet|corp)$/;

const HINT = 'The person can allow the host with web.private_hosts in the settings.';

export function createGuard(options: GuardOptions = {}): NetworkGuard {
  const { resolve = systemResolve, isProxied = () => false } = options;
  const allowed = (options.privateHosts ?? []).map(parsePrivateHost);
  return {
    async check(text, signal) {
      const url = checkedUrl(text);
      const host = bareHost(url);
      const port = portOf(url);
      if (isIP(host) > 0) {
        if (isPublicAddress(host) || allowed.some((one) => one(host, port)))
          return [{ address: host, family: isIP(host) === 6 ? 6 : 4 }];
        throw new ToolFailure(`${url.host} is not an address of the public internet. ${HINT}`);
      }
      const isNamed = allowed.some((one) => one(host, port));
      if (!isNamed && LOCAL_NAME.test(host))
        throw new ToolFailure(`${url.host} is a name of a private network. ${HINT}`);
      const addresses = await found(host, url, { resolve, isProxied, signal });
      if (addresses === undefined) return [UNKNOWN];
      const bad = addresses.find(
        ({ address }) => !isPublicAddress(address) && !allowed.some((one) => one(address, port)),
      );
      if (isNamed || bad === undefined) return addresses;
      throw new ToolFailure(
        `${url.host} leads to ${bad.address}, which is not an address of the public internet. ${HINT}`,
      );
    },
  };
}

/** Without the brackets of IPv6 and the dot of a full name. */
function bareHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$|\.$/g, '').toLowerCase();
}

/** Undefined where only a proxy can know. */
async function found(
  host: string,
  url: URL,
  { resolve, isProxied, signal }: Required<Pick<GuardOptions, 'resolve' | 'isProxied'>> & Aborting,
): Promise<readonly NetworkAddress[] | undefined> {
  try {
    const addresses = await orAborted(resolve(host), signal);
    if (addresses.length > 0) return addresses;
  } catch (cause) {
    signal.throwIfAborted();
    // Behind a proxy many a machine can look up nothing: the proxy's own rules count then.
    if (await isProxied(url)) return undefined;
    throw new ToolFailure(`${url.host} could not be looked up: ${messageOf(cause)}.`, { cause });
  }
  if (await isProxied(url)) return undefined;
  throw new ToolFailure(`${url.host} has no address.`);
}

/** The discard prefix (RFC 6666): should a connection be made without the proxy all the same, it fails. */
const UNKNOWN: NetworkAddress = { address: '100::1', family: 6 };

interface Aborting {
  readonly signal: AbortSignal;
}

function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', abort));
}

async function systemResolve(hostname: string): Promise<readonly NetworkAddress[]> {
  const all = await lookup(hostname, { all: true, order: 'verbatim' });
  return all.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

type Matches = (host: string, port: number) => boolean;

/** An entry of the settings; one that cannot be read allows nothing. */
export function parsePrivateHost(entry: string): Matches {
  const [, bracketed, plain = '', wanted] =
    /^(?:\[([^\]]+)\]|([^:]+|[\da-f:.]+(?:\/\d+)?))(?::(\d+))?$/i.exec(entry.trim()) ?? [];
  const name = (bracketed ?? plain).toLowerCase().replace(/\.$/, '');
  const isPort = (port: number) => wanted === undefined || Number(wanted) === port;
  const [network = '', bits] = name.split('/');
  if (isIP(network) > 0) {
    const block = new BlockList();
    const family = isIP(network) === 6 ? 'ipv6' : 'ipv4';
    const most = family === 'ipv6' ? 128 : 32;
    if (bits !== undefined && !(/^\d+$/.test(bits) && Number(bits) <= most)) return () => false;
    block.addSubnet(network, Number(bits ?? most), family);
    return (host, port) =>
      isPort(port) && isIP(host) > 0 && block.check(host, isIP(host) === 6 ? 'ipv6' : 'ipv4');
  }
  if (name === '') return () => false;
  if (name.startsWith('*.')) return (host, port) => isPort(port) && host.endsWith(name.slice(1));
  return (host, port) => isPort(port) && host === name;
}
