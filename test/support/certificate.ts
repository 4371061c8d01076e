// A self-signed certificate made on the spot (X.509 version 3, RFC 5280, in DER, X.690), so that no key lies in the
// repository and none runs out by itself.

import { generateKeyPairSync, sign } from 'node:crypto';

export interface Certificate {
  /** PEM, as is `key`. */
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** An IPv4 address that it is for. */
  readonly address: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

const SEQUENCE = 0x30;
const SET = 0x31;

function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  const { length } = body;
  const size = length < 128 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
const oid = (encoded: string): Buffer => der(0x06, hex(encoded));
const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value));

const ECDSA_WITH_SHA256 = der(SEQUENCE, oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const SUBJECT_ALT_NAME = oid('551d11');

export function selfSigned({ address, notBefore, notAfter }: CertificateOptions): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, text(0x0c, 'crab test'))));
  const ip = der(0x87, Buffer.from(address.split('.').map(Number)));
  const extension = der(SEQUENCE, SUBJECT_ALT_NAME, der(0x04, der(SEQUENCE, ip)));
  const body = der(
    SEQUENCE,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    der(SEQUENCE, utcTime(notBefore), utcTime(notAfter)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, der(SEQUENCE, extension)),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = der(SEQUENCE, body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  return { cert: pem(certificate), key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}

/** `YYMMDDHHMMSSZ`: good until 2049. */
function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/\D/g, '').slice(2, 14);
  return text(0x17, `${digits}Z`);
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
