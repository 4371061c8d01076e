// The road between Crab and a provider, through the built program: proxies, certificates, IPv6, and the waits of a bad
// day, which Ctrl-C ends.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import { type Authority, authority } from '../support/authority.ts';
import { chunkName } from '../support/chunks.ts';
import { needs } from '../support/crab.ts';
import { type Journey, journey, linesOf } from '../support/journey.ts';
import { httpProxy, relay, socksProxy, tlsFront } from '../support/relays.ts';

const ANSWER: readonly Reply[] = [{ text: 'Here I am.' }];
const HERE = { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' };

let ca: Authority;

before(() => {
  ca = authority();
});

after(() => ca[Symbol.dispose]());

const start = (script: readonly Reply[] = ANSWER): Promise<Journey> => journey('anthropic', { script });

async function secure(at: Journey, clientCa?: string) {
  const { cert, key } = ca.issue();
  const asks = clientCa === undefined ? {} : { requestCert: true, ca: clientCa };
  return await tlsFront(at.provider.port, { cert, key, ...asks });
}

test('https through a proxy with a login, its company’s certificate in NODE_EXTRA_CA_CERTS', async () => {
  await using at = await start();
  await using tls = await secure(at);
  await using proxy = await httpProxy({ to: tls.port, login: 'me:s3 cret' });
  const env = {
    ANTHROPIC_BASE_URL: 'https://api.example',
    HTTPS_PROXY: `http://me:s3%20cret@127.0.0.1:${proxy.port}`,
    NODE_EXTRA_CA_CERTS: ca.caFile,
  };
  assert.deepEqual(await at.run(['hi'], { env }), HERE);
  assert.deepEqual(proxy.seen, ['CONNECT api.example:443']);
});

test('plain http through a proxy', async () => {
  await using at = await start();
  await using proxy = await httpProxy({ to: at.provider.port });
  const env = { ANTHROPIC_BASE_URL: 'http://api.example', http_proxy: `127.0.0.1:${proxy.port}` };
  assert.deepEqual(await at.run(['hi'], { env }), HERE);
  assert.deepEqual(proxy.seen, ['POST http://api.example/v1/messages']);
});

test('SOCKS, by ALL_PROXY', async () => {
  await using at = await start();
  await using proxy = await socksProxy({ to: at.provider.port });
  const env = { ANTHROPIC_BASE_URL: 'http://api.example', ALL_PROXY: `socks5h://127.0.0.1:${proxy.port}` };
  assert.deepEqual(await at.run(['hi'], { env }), HERE);
  assert.deepEqual(proxy.seen, ['SOCKS5 api.example:80']);
});

test('what NO_PROXY names, and loopback, needs no proxy', async () => {
  await using at = await start();
  assert.deepEqual(await at.run(['hi'], { env: { ALL_PROXY: 'http://192.0.2.1:9' } }), HERE);
});

test('a proxy that refuses is named without its password', async () => {
  await using at = await start();
  await using proxy = await httpProxy({ to: at.provider.port, login: 'me:right' });
  const env = {
    ANTHROPIC_BASE_URL: 'https://api.example',
    HTTPS_PROXY: `http://me:wr0ng@127.0.0.1:${proxy.port}`,
    CRAB_MAX_RETRIES: '0',
  };
  const exit = await at.run(['hi'], { env });
  assert.equal(exit.code, 8);
  assert.match(
    exit.stderr,
    /^crab: The proxy http:\/\/127\.0\.0\.1:\d+ did not connect to api\.example: .*407/,
  );
  assert.doesNotMatch(exit.stderr, /wr0ng/);
});

for (const variable of ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE'] as const) {
  test(`an authority of one’s own in ${variable}`, async () => {
    await using at = await start();
    await using tls = await secure(at);
    const env = { ANTHROPIC_BASE_URL: `https://localhost:${tls.port}`, [variable]: ca.caFile };
    assert.deepEqual(await at.run(['hi'], { env }), HERE);
  });
}

test('an unknown authority is named once, and what to do about it', async () => {
  await using at = await start();
  await using tls = await secure(at);
  const exit = await at.run(['hi'], { env: { ANTHROPIC_BASE_URL: `https://localhost:${tls.port}` } });
  assert.equal(exit.code, 8);
  assert.match(
    exit.stderr,
    /^crab: The TLS connection to localhost:\d+ failed: its certificate was signed by an authority/,
  );
  assert.match(exit.stderr, /NODE_EXTRA_CA_CERTS/);
  assert.equal(at.provider.requests.length, 0);
});

test('a client certificate', async () => {
  await using at = await start();
  const { certFile, keyFile } = ca.issue({ passphrase: 'open' });
  await using tls = await secure(at, ca.certificate);
  const env = {
    ANTHROPIC_BASE_URL: `https://localhost:${tls.port}`,
    NODE_EXTRA_CA_CERTS: ca.caFile,
    CRAB_CLIENT_CERT: certFile,
    CRAB_CLIENT_KEY: keyFile,
    CRAB_CLIENT_KEY_PASSPHRASE: 'open',
  };
  assert.deepEqual(await at.run(['hi'], { env }), HERE);
});

test('a provider that listens on IPv6 alone', async () => {
  await using at = await start();
  await using six = await relay(at.provider.port, '::1');
  assert.deepEqual(await at.run(['hi'], { env: { ANTHROPIC_BASE_URL: `http://[::1]:${six.port}` } }), HERE);
});

const SLOW = (seconds: string): readonly Reply[] => [
  { fault: { status: 429, message: 'Slow down.', headers: { 'retry-after': seconds } }, times: 1 },
  ...ANSWER,
];

test('a wait is told with its reason before it begins, and then the answer comes', async () => {
  await using at = await start(SLOW('0.2'));
  const exit = await at.run(['hi', '--output-format', 'stream-json']);
  assert.equal(exit.code, 0);
  const [retry] = linesOf(exit).filter(({ subtype }) => subtype === 'api_retry');
  const { attempt, max_retries, error_status, reason } = retry ?? {};
  assert.deepEqual({ attempt, max_retries, error_status }, { attempt: 1, max_retries: 4, error_status: 429 });
  assert.match(String(reason), /^anthropic answered 429.*: Slow down\.$/);
});

test('Ctrl-C ends a long wait', async () => {
  await using at = await start(SLOW('3600'));
  await using crab = at.start(['hi', '--timeout', '0', '--output-format', 'stream-json']);
  crab.stdin.end();
  await crab.waitFor('api_retry');
  crab.kill('SIGINT');
  const exit = await crab.exited;
  assert.equal(exit.code, 130);
  assert.equal(at.provider.requests.length, 1);
});

test('a wait that is longer than --timeout is not begun', async () => {
  await using at = await start(SLOW('3600'));
  const exit = await at.run(['hi']);
  assert.equal(exit.code, 4);
  assert.match(exit.stderr, /Slow down\. The next try would be in 60 min, and --timeout allows 2 min\./);
  assert.equal(at.provider.requests.length, 1);
});

/** The files of the program that a run loaded. */
async function loadedBy(at: Journey, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const list = at.work.file('loaded.json');
  const hook = at.work.file('hook.cjs');
  const write = `require('fs').writeFileSync(${JSON.stringify(list)}, JSON.stringify(Object.keys(require.cache)))`;
  await at.work.write('hook.cjs', `process.on('exit', () => ${write});\n`);
  assert.deepEqual(await at.run(['hi'], { env: { NODE_OPTIONS: `--require=${hook}`, ...env } }), HERE);
  return JSON.parse(readFileSync(list, 'utf8')).map(chunkName);
}

const ROADS = ['https.js', 'proxy-route.js', 'proxied.js', 'certificates.js', 'decompress.js'];

test('a road loads what it needs, and no other', { skip: needs('NODE_OPTIONS') }, async () => {
  await using at = await start();
  await using tls = await secure(at);
  await using proxy = await httpProxy({ to: at.provider.port });
  const loaded = async (env: Readonly<Record<string, string>>) => {
    const all = await loadedBy(at, env);
    assert.ok(all.includes('models.js'));
    return ROADS.filter((file) => all.includes(file));
  };
  const trusted = { ANTHROPIC_BASE_URL: `https://localhost:${tls.port}`, NODE_EXTRA_CA_CERTS: ca.caFile };
  const proxied = { ANTHROPIC_BASE_URL: 'http://api.example', http_proxy: `127.0.0.1:${proxy.port}` };
  assert.deepEqual(await loaded({}), []);
  assert.deepEqual(await loaded({ https_proxy: 'http://192.0.2.1:9' }), ['proxy-route.js']);
  assert.deepEqual(await loaded(trusted), ['https.js']);
  assert.deepEqual(await loaded(proxied), ['proxy-route.js', 'proxied.js']);
});
