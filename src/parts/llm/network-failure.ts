// Why no answer came at all: the network's, the certificate's or the proxy's fault, each in words that a person can act
// on. A fault that stays until somebody mends it is not worth another try.

import { CrabError } from '../../core/errors.ts';
import { NETWORK_FAILURES } from '../../core/network.ts';
import type { ProxyAddress } from './proxy-route.ts';

export interface Way {
  readonly url: URL;
  readonly proxy?: ProxyAddress | undefined;
  /** The host has answered before, so that a name which is not found now was lost with the network. */
  readonly known?: boolean;
}

/** A connection that failed before the headers of an answer were there. */
export function networkFailure(error: NodeJS.ErrnoException, way: Way): CrabError {
  const { url, proxy, known = false } = way;
  const code = error.code ?? 'unknown error';
  if (code === 'HPE_HEADER_OVERFLOW') {
    const text = `${url.host} sent longer headers than are accepted (16 KB).`;
    return new CrabError('provider-protocol', text, { cause: error });
  }
  if (code.startsWith('HPE_')) {
    const text = `${url.host} does not answer in HTTP (${error.message}).`;
    return new CrabError('provider-protocol', text, { cause: error });
  }
  const tls = tlsFailure(error, way);
  if (tls !== undefined) return tls;
  const why = NETWORK_FAILURES[code] ?? error.message;
  const retryable = code !== 'ENOTFOUND' || known;
  if (proxy !== undefined) return proxyFailure(proxy, url, error, retryable);
  const text = `${url.host} could not be reached: ${why} (${code}).`;
  return new CrabError('network', text, { cause: error, retryable });
}

/** The proxy could not be reached, or says in a protocol of its own that it failed. */
function proxyFailure(
  proxy: ProxyAddress,
  url: URL,
  error: NodeJS.ErrnoException,
  retryable: boolean,
): CrabError {
  const { code } = error;
  const hint = PROXY_HINT;
  if (code !== undefined && Object.hasOwn(NETWORK_FAILURES, code)) {
    const text = `The proxy ${proxy.shown} could not be reached: ${NETWORK_FAILURES[code]} (${code}).`;
    return new CrabError('network', text, { hint, retryable });
  }
  const refuses = /authentication|NotAllowed|userid|user name/i.test(error.message);
  // The library's error holds the password: it is no cause to be kept.
  const text = `The proxy ${proxy.shown} did not connect to ${url.host}: ${error.message}.`;
  return new CrabError('network', text, { hint, retryable: retryable && !refuses });
}

const PROXY_HINT = 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or the proxy of the settings file.';

/** What a proxy answered in place of a connection. */
export interface ProxyAnswer {
  readonly status: number;
  readonly body: string;
}

const QUOTE_LENGTH = 200;

export function proxyRefusal(proxy: ProxyAddress, url: URL, { status, body }: ProxyAnswer): CrabError {
  const said = body
    .replace(/<(style|script)\b.*?<\/\1>|<[^>]*>/gis, ' ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim();
  const quoted = said.length > QUOTE_LENGTH ? `${said.slice(0, QUOTE_LENGTH).toWellFormed()}…` : said;
  const what = status === 407 ? 'asks for a user name and a password (407)' : `answered ${status}`;
  const text = `The proxy ${proxy.shown} did not connect to ${url.host}: it ${what}${quoted === '' ? '.' : `: ${quoted}`}`;
  const hint =
    status === 407 ? 'Put them into the address of the proxy: http://NAME:PASSWORD@HOST:PORT.' : PROXY_HINT;
  return new CrabError('network', text, { hint, retryable: status >= 500 });
}

interface Fault {
  readonly what: string;
  readonly hint: string;
}

const AUTHORITY_HINT =
  'Name the certificate of the authority in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE; a company’s proxy has one of its own.';
const CLOCK_HINT =
  'Set the clock of this machine if it is wrong; otherwise the server needs a new certificate.';

const UNKNOWN_AUTHORITY: Fault = {
  what: 'its certificate was signed by an authority that is not known here',
  hint: AUTHORITY_HINT,
};
const SELF_SIGNED: Fault = { what: 'its certificate is self-signed', hint: AUTHORITY_HINT };
const NOT_TLS: Fault = {
  what: 'it does not speak TLS on this port',
  hint: 'Check the port; an address that begins with http:// may be meant.',
};
const WANTS_CERTIFICATE: Fault = {
  what: 'it asks for a client certificate',
  hint: 'Set CRAB_CLIENT_CERT and CRAB_CLIENT_KEY to PEM files that it accepts.',
};
const REFUSED_CERTIFICATE: Fault = {
  what: 'it does not accept the client certificate',
  hint: 'Check the files that CRAB_CLIENT_CERT and CRAB_CLIENT_KEY name.',
};

const FAULTS: Readonly<Record<string, Fault>> = {
  UNABLE_TO_GET_ISSUER_CERT: UNKNOWN_AUTHORITY,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNKNOWN_AUTHORITY,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNKNOWN_AUTHORITY,
  SELF_SIGNED_CERT_IN_CHAIN: UNKNOWN_AUTHORITY,
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  CERT_REVOKED: { what: 'its certificate was revoked', hint: 'Do not go on; ask whoever runs the server.' },
  ERR_SSL_WRONG_VERSION_NUMBER: NOT_TLS,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: NOT_TLS,
  ERR_SSL_HTTP_REQUEST: NOT_TLS,
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: WANTS_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: {
    what: 'it refused the handshake: it may ask for a client certificate, or for other ciphers',
    hint: WANTS_CERTIFICATE.hint,
  },
  ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN: REFUSED_CERTIFICATE,
  ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED: REFUSED_CERTIFICATE,
  ERR_SSL_TLSV1_ALERT_UNKNOWN_CA: REFUSED_CERTIFICATE,
};

const TLS_CODE =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|EPROTO|SELF_SIGNED|DEPTH_ZERO_|UNABLE_TO_)|_CERT_|HOSTNAME_MISMATCH/;

function tlsFailure(error: NodeJS.ErrnoException, { url, proxy }: Way): CrabError | undefined {
  const { code = '' } = error;
  if (!TLS_CODE.test(code)) return undefined;
  const { what, hint } = faultOf(error, code);
  const through = proxy === undefined ? '' : ` through the proxy ${proxy.shown}`;
  const text = `The TLS connection to ${url.host}${through} failed: ${what} (${code}).`;
  return new CrabError('network', text, { cause: error, hint });
}

function faultOf(error: NodeJS.ErrnoException, code: string): Fault {
  const today = new Date().toISOString().slice(0, 10);
  switch (code) {
    case 'CERT_HAS_EXPIRED':
      return {
        what: `its certificate has expired by the clock of this machine, which says ${today}`,
        hint: CLOCK_HINT,
      };
    case 'CERT_NOT_YET_VALID':
      return {
        what: `its certificate is not valid yet by the clock of this machine, which says ${today}`,
        hint: CLOCK_HINT,
      };
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return {
        what: `its certificate is for ${namesIn(error)}`,
        hint: 'Check the address; somebody else may answer there.',
      };
  }
  const known = Object.hasOwn(FAULTS, code) ? FAULTS[code] : undefined;
  if (known !== undefined) return known;
  // OpenSSL's own words stand between colons; behind a semicolon Node gives advice.
  const [, own] = /:[^:]* routines:[^:]*:([^:]+):/.exec(error.message) ?? [];
  if (own !== undefined && /^(?:wrong version number|packet length too long|http request)$/.test(own))
    return NOT_TLS;
  const [what = ''] = (own ?? error.message).split(';');
  return { what, hint: 'Check the address, and what stands between here and there.' };
}

const NAMES_LENGTH = 100;

interface Mismatch extends Error {
  readonly cert?: { readonly subjectaltname?: string; readonly subject?: { readonly CN?: unknown } };
}

/** The names that a certificate is for, from Node's list: `DNS:a.example, DNS:b.example`. */
function namesIn({ cert }: Mismatch): string {
  const names = cert?.subjectaltname ?? String(cert?.subject?.CN ?? 'another host');
  const plain = names.replaceAll(/(?:DNS|IP Address):/g, '').replaceAll(/[^\w.:*, -]/g, '?');
  return plain.length > NAMES_LENGTH ? `${plain.slice(0, NAMES_LENGTH)}…` : plain;
}

/** Whether the only fault is that nobody known has signed the certificate. */
export function isUnknownAuthority(error: unknown): boolean {
  const cause = error instanceof CrabError ? error.cause : undefined;
  const { code = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  return Object.hasOwn(FAULTS, code) && (FAULTS[code] === UNKNOWN_AUTHORITY || FAULTS[code] === SELF_SIGNED);
}
