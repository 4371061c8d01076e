// Certificates of one's own: further authorities to trust, and the pair that a server may ask for. Everything is added to
// what Node trusts already, which includes NODE_EXTRA_CA_CERTS: a company's authority must not cost the public ones.

import { readdirSync, readFileSync } from 'node:fs';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import { CrabError, messageOf } from '../../core/errors.ts';
import type { Environment } from './endpoint.ts';
import type { Network } from './proxy-route.ts';

const BLOCK = /-----BEGIN ((?:TRUSTED |X509 )?CERTIFICATE)-----[^-]+-----END \1-----/g;
/** Files that are read of a folder of certificates. */
const MAX_FILES = 2000;

interface Pair {
  readonly cert: string;
  readonly key: string;
  readonly passphrase?: string;
}

/** `withSystem` adds SSL_CERT_FILE, SSL_CERT_DIR and the system's store. Throws `usage` for a file that is no use. */
export function trust(network: Network, withSystem: boolean): SecureContext {
  const { caFile } = network.settings;
  const named = caFile === undefined ? [] : certificatesIn(caFile, 'network.ca_file');
  const system = withSystem ? systemCertificates(network.env) : [];
  const pair = pairOf(network);
  const ca = [...new Set([...getCACertificates('default'), ...named, ...system])];
  try {
    return contextOf(ca, pair);
  } catch (error) {
    const what = pair === undefined ? 'The certificates of the system' : 'The client certificate and its key';
    throw new CrabError('usage', `${what} cannot be used: ${messageOf(error)}.`, {
      hint: 'Give PEM files; a key with a passphrase needs CRAB_CLIENT_KEY_PASSPHRASE.',
    });
  }
}

/** A store holds what somebody put there: one broken certificate must not cost the others. */
function contextOf(ca: readonly string[], pair: Pair | undefined): SecureContext {
  try {
    return createSecureContext({ ca: [...ca], ...pair });
  } catch {
    return createSecureContext({ ca: ca.filter(isUsable), ...pair });
  }
}

function isUsable(certificate: string): boolean {
  return quietly(() => createSecureContext({ ca: certificate })) !== undefined;
}

/** The environment's pair as a whole, or that of the settings. */
function pairOf({ env, settings }: Network): Pair | undefined {
  const fromEnvironment = Boolean(env['CRAB_CLIENT_CERT']);
  const cert = fromEnvironment ? env['CRAB_CLIENT_CERT'] : settings.clientCert;
  if (!cert) return undefined;
  // One file may hold both.
  const key = (fromEnvironment ? env['CRAB_CLIENT_KEY'] : settings.clientKey) || cert;
  const passphrase = env['CRAB_CLIENT_KEY_PASSPHRASE'];
  return {
    cert: readPem(cert, fromEnvironment ? 'CRAB_CLIENT_CERT' : 'network.client_cert'),
    key: readPem(key, fromEnvironment ? 'CRAB_CLIENT_KEY' : 'network.client_key'),
    ...(passphrase !== undefined && { passphrase }),
  };
}

function systemCertificates(env: Environment): readonly string[] {
  const file = env['SSL_CERT_FILE'];
  const folders = env['SSL_CERT_DIR']?.split(':') ?? [];
  return [
    ...(file ? certificatesIn(file, 'SSL_CERT_FILE') : []),
    ...folders.filter((folder) => folder !== '').flatMap(certificatesBelow),
    ...getCACertificates('system'),
  ];
}

function certificatesIn(path: string, name: string): readonly string[] {
  const blocks = readPem(path, name).match(BLOCK);
  if (blocks !== null) return blocks;
  throw new CrabError('usage', `${name} is ${path}, which holds no certificate.`, {
    hint: 'Give a PEM file.',
  });
}

function certificatesBelow(folder: string): readonly string[] {
  const names = quietly(() => readdirSync(folder)) ?? [];
  return names
    .slice(0, MAX_FILES)
    .flatMap((name) => quietly(() => readFileSync(`${folder}/${name}`, 'utf8'))?.match(BLOCK) ?? []);
}

/** A folder holds links that lead nowhere, and more than certificates. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

function readPem(path: string, name: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CrabError('usage', `${name} is ${path}, which cannot be read: ${messageOf(error)}.`, {
      cause: error,
      hint: `Set ${name} to a PEM file.`,
    });
  }
}
