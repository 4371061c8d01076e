import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkSettings } from '../../core/settings.ts';
import { proxyFor } from './proxy-route.ts';

type Environment = Readonly<Record<string, string>>;

function shown(url: string, env: Environment, settings: NetworkSettings = {}): string | undefined {
  return proxyFor(new URL(url), { env, settings })?.shown;
}

const ALL = 'http://all:1';

for (const [env, url, expected] of [
  [{}, 'https://a.example', undefined],
  [{ HTTPS_PROXY: 'http://p:1' }, 'https://a.example', 'http://p:1'],
  [{ HTTPS_PROXY: 'http://p:1' }, 'http://a.example', undefined],
  [{ HTTP_PROXY: 'http://p:1' }, 'http://a.example', 'http://p:1'],
  [{ http_proxy: 'http://low:1', HTTP_PROXY: 'http://up:1' }, 'http://a.example', 'http://low:1'],
  [{ http_proxy: ' ', HTTP_PROXY: 'http://up:1' }, 'http://a.example', 'http://up:1'],
  [{ https_proxy: 'http://p:1', ALL_PROXY: ALL }, 'https://a.example', 'http://p:1'],
  [{ https_proxy: 'http://p:1', ALL_PROXY: ALL }, 'http://a.example', ALL],
  [{ all_proxy: 'proxy.corp:3128' }, 'http://a.example', 'http://proxy.corp:3128'],
  [{ all_proxy: 'socks5h://[::1]:1080' }, 'https://a.example', 'socks5h://[::1]:1080'],
  [{ ALL_PROXY: 'http://me:secret@p:1' }, 'https://a.example', 'http://p:1'],
] as const) {
  test(`${JSON.stringify(env)}: ${url} goes through ${expected}`, () => {
    assert.equal(shown(url, env), expected);
  });
}

for (const [list, exempt, proxied] of [
  ['*', ['https://a.example', 'http://10.0.0.1'], []],
  [
    'example',
    ['https://example', 'https://a.example', 'https://a.example.'],
    ['https://badexample', 'https://example.com'],
  ],
  ['.a.example', ['https://a.example', 'https://x.a.example'], ['https://xa.example']],
  ['*.A.Example', ['https://x.a.example'], ['https://b.example']],
  ['a.example:8443', ['https://a.example:8443'], ['https://a.example', 'http://a.example:80']],
  ['a.example:443', ['https://a.example'], ['http://a.example']],
  [
    '10.0.0.0/8, 192.168.1.7',
    ['http://10.200.3.4', 'http://192.168.1.7'],
    ['http://11.0.0.1', 'http://192.168.1.8'],
  ],
  ['fd00::/8', ['http://[fd12::1]'], ['http://[fe80::1]', 'http://10.0.0.1']],
  ['fd12::1 [fd12::2]:81', ['http://[fd12::1]', 'http://[fd12::2]:81'], ['http://[fd12::2]']],
  ['10.0.0.0/99,10.0.0.0/x,/,:,.', [], ['http://10.0.0.1', 'https://a.example']],
] as const) {
  test(`NO_PROXY=${list}`, () => {
    for (const name of ['no_proxy', 'NO_PROXY'])
      assert.deepEqual(
        [...exempt, ...proxied].map((url) => shown(url, { ALL_PROXY: ALL, [name]: list })),
        [...exempt.map(() => undefined), ...proxied.map(() => ALL)],
      );
  });
}

test('loopback is never proxied, however it is written', () => {
  const hosts = [
    'localhost',
    'localhost.',
    'api.localhost',
    '127.0.0.1',
    '127.1',
    '2130706433',
    '[::1]',
    '[::ffff:127.0.0.1]',
  ];
  for (const host of hosts) assert.equal(shown(`http://${host}:1/`, { ALL_PROXY: ALL }), undefined, host);
  for (const host of ['localhost.example', '128.0.0.1', '[::2]', 'notlocalhost'])
    assert.equal(shown(`http://${host}:1/`, { ALL_PROXY: ALL }), ALL, host);
});

test('the settings take the place of the environment, each for itself', () => {
  const env = { HTTPS_PROXY: 'http://env:1', NO_PROXY: 'a.example' };
  assert.equal(shown('https://b.example', env, { proxy: 'http://own:1' }), 'http://own:1');
  assert.equal(shown('https://a.example', env, { proxy: 'http://own:1' }), undefined);
  assert.equal(shown('https://a.example', env, { noProxy: '' }), 'http://env:1');
  assert.equal(shown('https://b.example', env, { proxy: '' }), undefined);
});

for (const address of ['ftp://p:1', 'http://', 'socks6://p:1', 'http://p:99999', 'http://me:se%zzcret@p:1']) {
  test(`${address} is no proxy, and is not repeated`, () => {
    assert.throws(() => shown('https://a.example', { HTTPS_PROXY: address }), {
      code: 'usage',
      message: 'HTTPS_PROXY is not the address of a proxy.',
    });
  });
}
