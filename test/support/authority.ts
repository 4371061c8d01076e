// A certificate authority for tests, made anew with the `openssl` command: whatever a certificate can be (expired, for
// another host, for a client) it issues, and nothing but the tests trusts it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Issued {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
}

export interface CertificateOptions {
  /** As OpenSSL writes them. Default: `DNS:localhost,DNS:api.example,IP:127.0.0.1,IP:::1`. */
  readonly names?: string;
  /** `YYYYMMDDHHMMSSZ`. Default: from 2020 to 2120. */
  readonly from?: string;
  readonly to?: string;
  /** Encrypts the key. */
  readonly passphrase?: string;
  readonly selfSigned?: boolean;
}

export interface Authority extends Disposable {
  /** Its own certificate, for whoever is to trust it. */
  readonly caFile: string;
  readonly certificate: string;
  readonly folder: string;
  issue(options?: CertificateOptions): Issued;
}

const NAMES = 'DNS:localhost,DNS:api.example,IP:127.0.0.1,IP:::1';

export function authority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'crab-test-ca-'));
  const at = (name: string) => join(folder, name);
  const openssl = (...args: readonly string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const newKey = (name: string) =>
    openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', name);
  writeFileSync(at('ca.conf'), CONFIG);
  writeFileSync(at('index'), '');
  newKey('ca.key');
  const ca = [
    '-x509',
    '-key',
    'ca.key',
    '-days',
    '9999',
    '-subj',
    '/CN=Crab test authority',
    '-out',
    'ca.pem',
  ];
  openssl('req', '-config', 'ca.conf', '-extensions', 'authority', ...ca);
  let issued = 0;
  return {
    caFile: at('ca.pem'),
    certificate: readFileSync(at('ca.pem'), 'utf8'),
    folder,
    issue({ names = NAMES, from = '20200101000000Z', to = '21200101000000Z', passphrase, selfSigned } = {}) {
      const name = `issued${++issued}`;
      const [key, request, cert, extensions] = ['key', 'csr', 'pem', 'ext'].map(
        (end) => `${name}.${end}`,
      ) as [string, string, string, string];
      newKey(key);
      writeFileSync(at(extensions), `subjectAltName=${names}\n`);
      openssl('req', '-new', '-config', 'ca.conf', '-key', key, '-subj', `/CN=${name}`, '-out', request);
      const signer = selfSigned ? ['-selfsign', '-keyfile', key] : ['-keyfile', 'ca.key', '-cert', 'ca.pem'];
      const span = ['-startdate', from, '-enddate', to, '-extfile', extensions];
      openssl('ca', '-config', 'ca.conf', '-batch', ...signer, ...span, '-in', request, '-out', cert);
      const keyText = readFileSync(at(key), 'utf8');
      const locked = passphrase === undefined ? key : `locked-${key}`;
      if (passphrase !== undefined)
        openssl('pkcs8', '-topk8', '-in', key, '-out', locked, '-passout', `pass:${passphrase}`);
      return { certFile: at(cert), keyFile: at(locked), cert: readFileSync(at(cert), 'utf8'), key: keyText };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

const CONFIG = `[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical,CA:true
keyUsage = keyCertSign
[ca]
default_ca = own
[own]
database = index
new_certs_dir = .
rand_serial = yes
unique_subject = no
default_md = sha256
policy = anything
[anything]
commonName = supplied
`;
