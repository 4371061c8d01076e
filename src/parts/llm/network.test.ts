// The road to a provider with real TLS servers, proxies and certificates, all of them on loopback.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { TlsOptions } from 'node:tls';
import { type Authority, authority, type CertificateOptions } from '../../../test/support/authority.ts';
import { httpProxy, relay, socksProxy, tlsFront } from '../../../test/support/relays.ts';
import { CrabError } from '../../core/errors.ts';
import type { NetworkSettings } from '../../core/settings.ts';
import { createHttp, type Http } from './http.ts';
import type { Network } from './proxy-route.ts';
import { type Loopback, serve } from './testing.ts';

const NEVER = new AbortController().signal;

let ca: Authority;
let server: Loopback;

before(async () => {
  ca = authority();
  server = await serve((response, { method, path, headers, body }) =>
    response.end(`${method} ${path} ${headers.host} ${headers['proxy-authorization']} ${body}`),
  );
});

after(async () => {
  ca[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
});

function http(env: Network['env'] = {}, settings: NetworkSettings = {}): Http {
  return createHttp({}, { env, settings });
}

async function ask(http: Http, url: string, signal = NEVER): Promise<string> {
  const body = [Buffer.from('he'), Buffer.from('llo')];
  const answer = await http.send({ method: 'POST', url: new URL(url), headers: {}, body }, signal);
  const chunks: Buffer[] = [];
  for (let reads = await answer.read(); reads !== undefined; reads = await answer.read())
    chunks.push(...reads);
  return Buffer.concat(chunks).toString();
}

async function failure(http: Http, url: string): Promise<object> {
  try {
    await ask(http, url);
  } catch (error) {
    if (!(error instanceof CrabError)) throw error;
    const { code, message, hint, retryable } = error;
    return { code, message: message.replaceAll(/:\d{4,5}\b/g, ':PORT'), hint, retryable };
  }
  throw new Error('no failure');
}

async function front(options: CertificateOptions = {}, tls: TlsOptions = {}) {
  const { cert, key } = ca.issue(options);
  return await tlsFront(server.port, { cert, key, ...tls });
}

const trusting = (): NetworkSettings => ({ caFile: ca.caFile });

describe('proxies', () => {
  test('https goes through CONNECT, and one tunnel serves several requests', async () => {
    await using tls = await front();
    await using proxy = await httpProxy({ to: tls.port });
    const client = http({ HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` }, trusting());
    for (let round = 0; round < 3; round++)
      assert.equal(await ask(client, 'https://api.example/v1'), 'POST /v1 api.example undefined hello');
    assert.deepEqual(proxy.seen, ['CONNECT api.example:443']);
  });

  test('plain http goes through the proxy by its whole URL, and the connection is kept', async () => {
    await using proxy = await httpProxy({ to: server.port, login: 'me:s3cret' });
    const client = http({ http_proxy: `me:s3cret@127.0.0.1:${proxy.port}` });
    for (let round = 0; round < 3; round++)
      assert.match(
        await ask(client, 'http://api.example:81/v1?a=b'),
        /^POST \/v1\?a=b api\.example:81 .*hello$/,
      );
    assert.deepEqual(proxy.seen, Array(3).fill('POST http://api.example:81/v1?a=b'));
    assert.equal(proxy.accepted, 1);
  });

  test('a proxy that speaks TLS itself', async () => {
    await using tls = await front();
    const { cert, key } = ca.issue();
    await using proxy = await httpProxy({ to: tls.port, login: 'me:s3cret', tls: { cert, key } });
    const client = http({ ALL_PROXY: `https://me:s3cret@localhost:${proxy.port}` }, trusting());
    assert.equal(await ask(client, 'https://api.example/v1'), 'POST /v1 api.example undefined hello');
    assert.deepEqual(proxy.seen, ['CONNECT api.example:443']);
  });

  for (const [scheme, seen] of [
    ['socks5h', 'SOCKS5 api.example:443'],
    ['socks', 'SOCKS5 api.example:443'],
    ['socks4a', 'SOCKS4 api.example:443'],
  ] as const) {
    test(`${scheme}: the proxy looks up the name`, async () => {
      await using tls = await front();
      await using proxy = await socksProxy({ to: tls.port });
      const client = http({ ALL_PROXY: `${scheme}://127.0.0.1:${proxy.port}` }, trusting());
      assert.equal(await ask(client, 'https://api.example/v1'), 'POST /v1 api.example undefined hello');
      assert.equal(await ask(client, 'https://api.example/v1'), 'POST /v1 api.example undefined hello');
      assert.deepEqual(proxy.seen, [seen]);
    });
  }

  test('socks5 to an address, with a login, for plain http', async () => {
    await using proxy = await socksProxy({ to: server.port, login: 'me:s3 cret' });
    const client = http({ http_proxy: `socks5://me:s3%20cret@127.0.0.1:${proxy.port}` });
    assert.match(await ask(client, 'http://192.0.2.1/v1'), /^POST \/v1 192\.0\.2\.1 /);
    assert.deepEqual(proxy.seen, ['SOCKS5 192.0.2.1:80']);
  });

  test('the settings win over the environment', async () => {
    await using proxy = await httpProxy({ to: server.port });
    const settings = { proxy: `http://127.0.0.1:${proxy.port}`, noProxy: 'other.example' };
    const client = http({ http_proxy: 'http://127.0.0.1:1', no_proxy: '*' }, settings);
    assert.match(await ask(client, 'http://api.example/v1'), /^POST \/v1 api\.example /);
  });

  test('loopback is not proxied, whatever is asked for', async () => {
    const client = http({ ALL_PROXY: 'http://192.0.2.1:1' }, { proxy: 'http://192.0.2.1:1', noProxy: '' });
    assert.match(await ask(client, server.url), /^POST \/ /);
    assert.match(await ask(client, `http://localhost:${server.port}`), /^POST \/ /);
  });

  const HINT = 'Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or the proxy of the settings file.';
  const LOGIN = 'Put them into the address of the proxy: http://NAME:PASSWORD@HOST:PORT.';

  for (const url of ['https://api.example/v1', 'http://api.example/v1']) {
    test(`${url}: a login that the proxy does not accept is named, and not shown`, async () => {
      await using proxy = await httpProxy({ to: server.port, login: 'me:right' });
      const client = http({ ALL_PROXY: `http://me:wr0ng@127.0.0.1:${proxy.port}` });
      assert.deepEqual(await failure(client, url), {
        code: 'network',
        message:
          'The proxy http://127.0.0.1:PORT did not connect to api.example: it asks for a user name and a password (407).',
        hint: LOGIN,
        retryable: false,
      });
    });
  }

  for (const [status, retryable] of [
    [403, false],
    [502, true],
  ] as const) {
    test(`a tunnel that is refused with ${status} says what the proxy said`, async () => {
      const body = '<html><style>b {}</style><b>Blocked</b> by policy\u001b[31m</html>';
      await using proxy = await httpProxy({ to: 1, refusal: { status, body } });
      const client = http({ https_proxy: `http://me:s3cret@127.0.0.1:${proxy.port}` });
      assert.deepEqual(await failure(client, 'https://api.example/v1'), {
        code: 'network',
        message: `The proxy http://127.0.0.1:PORT did not connect to api.example: it answered ${status}: Blocked by policy [31m`,
        hint: HINT,
        retryable,
      });
    });
  }

  for (const scheme of ['http', 'https']) {
    for (const target of ['http', 'https']) {
      test(`${scheme} proxy, ${target} target: a proxy that is not there is named, and not the host`, async () => {
        const client = http({ ALL_PROXY: `${scheme}://me:s3cret@127.0.0.1:1` });
        assert.deepEqual(await failure(client, `${target}://api.example/v1`), {
          code: 'network',
          message: `The proxy ${scheme}://127.0.0.1:1 could not be reached: the connection was refused (ECONNREFUSED).`,
          hint: HINT,
          retryable: true,
        });
      });
    }
  }

  test('a SOCKS proxy that is not there, and one that refuses the login', async () => {
    assert.deepEqual(
      await failure(http({ ALL_PROXY: 'socks5://me:s3cret@127.0.0.1:1' }), 'http://192.0.2.1/'),
      {
        code: 'network',
        message:
          'The proxy socks5://127.0.0.1:1 did not connect to 192.0.2.1: connect ECONNREFUSED 127.0.0.1:1.',
        hint: HINT,
        retryable: true,
      },
    );
    await using proxy = await socksProxy({ to: server.port, login: 'me:right' });
    const client = http({ ALL_PROXY: `socks5://me:wr0ng@127.0.0.1:${proxy.port}` });
    assert.deepEqual(await failure(client, 'http://192.0.2.1/'), {
      code: 'network',
      message:
        'The proxy socks5://127.0.0.1:PORT did not connect to 192.0.2.1: Socks5 Authentication failed.',
      hint: HINT,
      retryable: false,
    });
  });

  test('the password of a proxy is in no part of an error', async () => {
    await using proxy = await httpProxy({ to: server.port, login: 'me:right' });
    await using socks = await socksProxy({ to: server.port, login: 'me:right' });
    for (const address of [
      `http://me:s3cret@127.0.0.1:${proxy.port}`,
      `socks5://me:s3cret@127.0.0.1:${socks.port}`,
      'http://me:s3cret@127.0.0.1:1',
      'https://me:s3cret@127.0.0.1:1',
      'socks5h://me:s3cret@127.0.0.1:1',
      'ftp://me:s3cret@127.0.0.1',
      'http://me:s3cret%zz@127.0.0.1',
    ]) {
      const { inspect } = await import('node:util');
      const error = await ask(http({ ALL_PROXY: address }), 'https://192.0.2.1/').catch((thrown) => thrown);
      assert.ok(error instanceof CrabError, address);
      assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /s3cret|bWU6czNjcmV0/, address);
    }
  });

  test('a proxy that never answers is left at once when the request is cancelled', async () => {
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const { createServer } = await import('node:net');
    const mute = createServer((socket) => {
      socket.once('data', () => asked.resolve());
      socket.once('close', () => gone.resolve());
    });
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as { port: number };
    const stop = new AbortController();
    const asking = ask(http({ ALL_PROXY: `http://127.0.0.1:${port}` }), 'https://api.example/', stop.signal);
    await asked.promise;
    stop.abort();
    await assert.rejects(asking, { code: 'interrupted' });
    await gone.promise;
    mute.close();
  });

  test('a proxy that never answers is given up', async () => {
    const { createServer } = await import('node:net');
    const mute = createServer((socket) => socket.on('error', () => {}).resume());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const { port } = mute.address() as { port: number };
    const client = createHttp(
      { connectMs: 40 },
      { env: { ALL_PROXY: `http://127.0.0.1:${port}` }, settings: {} },
    );
    const { message } = (await failure(client, 'https://api.example/')) as CrabError;
    assert.equal(message, 'There was no connection to http://127.0.0.1:PORT within 0.04 seconds.');
    mute.close();
  });
});

const AUTHORITY =
  'Name the certificate of the authority in NODE_EXTRA_CA_CERTS or SSL_CERT_FILE; a company’s proxy has one of its own.';
const CLOCK = 'Set the clock of this machine if it is wrong; otherwise the server needs a new certificate.';
const TODAY = new Date().toISOString().slice(0, 10);

describe('certificates', () => {
  for (const [name, options, what, code, hint] of [
    [
      'self-signed',
      { selfSigned: true },
      'its certificate is self-signed',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      AUTHORITY,
    ],
    [
      'signed by nobody that is known',
      {},
      'its certificate was signed by an authority that is not known here',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      AUTHORITY,
    ],
  ] as const) {
    test(`a certificate that is ${name}`, async () => {
      await using tls = await front(options);
      assert.deepEqual(await failure(http(), `https://localhost:${tls.port}`), {
        code: 'network',
        message: `The TLS connection to localhost:PORT failed: ${what} (${code}).`,
        hint,
        retryable: false,
      });
    });
  }

  for (const [name, options, what, code, hint] of [
    [
      'has expired',
      { to: '20210101000000Z' },
      `its certificate has expired by the clock of this machine, which says ${TODAY}`,
      'CERT_HAS_EXPIRED',
      CLOCK,
    ],
    [
      'is not valid yet',
      { from: '21100101000000Z' },
      `its certificate is not valid yet by the clock of this machine, which says ${TODAY}`,
      'CERT_NOT_YET_VALID',
      CLOCK,
    ],
    [
      'is for another host',
      { names: 'DNS:other.example,DNS:www.other.example' },
      'its certificate is for other.example, www.other.example',
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'Check the address; somebody else may answer there.',
    ],
  ] as const) {
    test(`a certificate that ${name}`, async () => {
      await using tls = await front(options);
      assert.deepEqual(await failure(http({}, trusting()), `https://localhost:${tls.port}`), {
        code: 'network',
        message: `The TLS connection to localhost:PORT failed: ${what} (${code}).`,
        hint,
        retryable: false,
      });
    });
  }

  test('a port that speaks no TLS', async () => {
    const error = (await failure(http(), `https://localhost:${server.port}`)) as CrabError;
    assert.equal(error.retryable, false);
    assert.match(
      error.message,
      /^The TLS connection to localhost:PORT failed: it does not speak TLS on this port/,
    );
  });

  test('a file of the settings is trusted beside what is trusted anyway', async () => {
    await using tls = await front();
    assert.match(await ask(http({}, trusting()), `https://localhost:${tls.port}`), /hello$/);
  });

  test('SSL_CERT_FILE and SSL_CERT_DIR are looked at when nobody known has signed', async () => {
    await using tls = await front();
    for (const env of [{ SSL_CERT_FILE: ca.caFile }, { SSL_CERT_DIR: `/nowhere:${ca.folder}` }]) {
      const client = http(env);
      assert.match(await ask(client, `https://localhost:${tls.port}`), /hello$/);
      const before = tls.accepted;
      assert.match(await ask(client, `https://localhost:${tls.port}`), /hello$/);
      assert.equal(tls.accepted, before, 'the second request needs no further handshake');
    }
  });

  test('many requests that meet an unknown authority together all come through', async () => {
    await using tls = await front();
    const client = http({ SSL_CERT_FILE: ca.caFile });
    const all = Array.from({ length: 8 }, () => ask(client, `https://localhost:${tls.port}`));
    assert.equal((await Promise.all(all)).filter((text) => text.endsWith('hello')).length, 8);
  });

  test('a broken certificate beside a good one costs nothing', async () => {
    const both = join(ca.folder, 'both.crt');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    writeFileSync(both, broken + readFileSync(ca.caFile, 'utf8'));
    await using tls = await front();
    assert.match(await ask(http({ SSL_CERT_FILE: both }), `https://localhost:${tls.port}`), /hello$/);
  });

  test('a file that is missing or holds no certificate is named', async () => {
    const empty = join(ca.folder, 'empty.pem');
    writeFileSync(empty, 'nothing\n');
    assert.deepEqual(await failure(http({}, { caFile: empty }), 'https://localhost:1'), {
      code: 'usage',
      message: `network.ca_file is ${empty}, which holds no certificate.`,
      hint: 'Give a PEM file.',
      retryable: false,
    });
    const { code, message } = (await failure(
      http({}, { caFile: '/nowhere' }),
      'https://localhost:1',
    )) as CrabError;
    assert.equal(code, 'usage');
    assert.match(message, /^network\.ca_file is \/nowhere, which cannot be read: ENOENT/);
  });
});

describe('client certificates', () => {
  const asking = () => ({ requestCert: true, ca: readFileSync(ca.caFile), rejectUnauthorized: true });

  test('from the environment, its key with a passphrase', async () => {
    await using tls = await front({}, asking());
    const { certFile, keyFile } = ca.issue({ passphrase: 'open' });
    const env = { CRAB_CLIENT_CERT: certFile, CRAB_CLIENT_KEY: keyFile, CRAB_CLIENT_KEY_PASSPHRASE: 'open' };
    assert.match(await ask(http(env, trusting()), `https://localhost:${tls.port}`), /hello$/);
  });

  test('from the settings, certificate and key in one file', async () => {
    await using tls = await front({}, asking());
    const { cert, key } = ca.issue();
    const clientCert = join(ca.folder, 'pair.txt');
    writeFileSync(clientCert, cert + key);
    assert.match(
      await ask(http({}, { ...trusting(), clientCert }), `https://localhost:${tls.port}`),
      /hello$/,
    );
  });

  test('a server that asks for one and gets none is said to ask', async () => {
    await using tls = await front({}, asking());
    assert.deepEqual(await failure(http({}, trusting()), `https://localhost:${tls.port}`), {
      code: 'network',
      message:
        'The TLS connection to localhost:PORT failed: it asks for a client certificate (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED).',
      hint: 'Set CRAB_CLIENT_CERT and CRAB_CLIENT_KEY to PEM files that it accepts.',
      retryable: false,
    });
  });

  test('a wrong passphrase, and a key of another certificate', async () => {
    const locked = ca.issue({ passphrase: 'open' });
    const env = { CRAB_CLIENT_CERT: locked.certFile, CRAB_CLIENT_KEY: locked.keyFile };
    for (const wrong of [
      { ...env, CRAB_CLIENT_KEY_PASSPHRASE: 'shut' },
      { ...env, CRAB_CLIENT_KEY: ca.issue().keyFile },
    ]) {
      const { code, message } = (await failure(http(wrong, trusting()), 'https://localhost:1')) as CrabError;
      assert.equal(code, 'usage');
      assert.match(message, /^The client certificate and its key cannot be used: /);
    }
  });
});

describe('addresses', () => {
  test('a server that listens on IPv6 alone, by its address and by a name that has both', async () => {
    await using six = await relay(server.port, '::1');
    assert.match(await ask(http(), `http://[::1]:${six.port}/v1`), /^POST \/v1 \[::1\]/);
    await using tls = await front();
    await using secureSix = await relay(tls.port, '::1');
    assert.match(await ask(http({}, trusting()), `https://[::1]:${secureSix.port}/v1`), /hello$/);
  });
});
