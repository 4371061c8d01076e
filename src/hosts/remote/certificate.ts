// The certificate of a server, read again when its files change, so that a renewal needs no restart. One that cannot be
// used is reported, and the one before stays.

import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { CrabError, messageOf } from '../../core/errors.ts';

export interface CertificateFiles {
  /** PEM: the server's own certificate first, then those up to the authority's. */
  readonly cert: string;
  readonly key: string;
}

export interface Pem {
  readonly cert: string;
  readonly key: string;
}

export class Certificate {
  readonly #files: CertificateFiles;
  #pem: Pem;
  #parsed: X509Certificate;

  /** Throws `CrabError` (`settings-invalid`). */
  constructor(files: CertificateFiles) {
    this.#files = files;
    this.#pem = readPem(files);
    this.#parsed = parse(files, this.#pem);
  }

  get pem(): Pem {
    return this.#pem;
  }

  /** Whether it says that the server goes by this name. */
  isFor(name: string): boolean {
    return (isIP(name) === 0 ? this.#parsed.checkHost(name) : this.#parsed.checkIP(name)) !== undefined;
  }

  /** Reads the files again; false when they are what they were. Throws as the constructor does. */
  refresh(): boolean {
    const pem = readPem(this.#files);
    if (digest(pem) === digest(this.#pem)) return false;
    this.#parsed = parse(this.#files, pem);
    this.#pem = pem;
    return true;
  }
}

function readPem({ cert, key }: CertificateFiles): Pem {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'utf8');
    } catch (cause) {
      throw new CrabError('settings-invalid', `${path} cannot be read: ${messageOf(cause)}.`, { cause });
    }
  };
  return { cert: read(cert), key: read(key) };
}

function parse({ cert, key }: CertificateFiles, pem: Pem): X509Certificate {
  try {
    createSecureContext(pem);
    return new X509Certificate(pem.cert);
  } catch (cause) {
    const what = `${cert} and ${key} are no certificate and its key`;
    throw new CrabError('settings-invalid', `${what}: ${messageOf(cause)}.`, { cause });
  }
}

function digest({ cert, key }: Pem): string {
  return createHash('sha256').update(cert).update('\0').update(key).digest('hex');
}
