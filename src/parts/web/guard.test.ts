import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ToolFailure } from '../../core/errors.ts';
import type { NetworkAddress } from '../../core/network.ts';
import { createGuard, type GuardOptions, parsePrivateHost } from './guard.ts';
import { isPublicAddress } from './public-address.ts';

const never = new AbortController().signal;

function to(...addresses: readonly string[]): GuardOptions {
  return { resolve: async () => addresses.map(addressOf) };
}

function addressOf(address: string): NetworkAddress {
  return { address, family: address.includes(':') ? 6 : 4 };
}

async function refusal(url: string, options: GuardOptions = to('93.184.216.34')): Promise<string> {
  try {
    await createGuard(options).check(url, never);
  } catch (error) {
    assert.ok(error instanceof ToolFailure, String(error));
    return error.message;
  }
  return 'allowed';
}

suite('addresses', () => {
  for (const address of ['8.8.8.8', '93.184.216.34', '2606:4700::1111', '::ffff:8.8.8.8', '64:ff9b::808:808'])
    test(`${address} is public`, () => assert.equal(isPublicAddress(address), true));

  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '168.63.129.16',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::10.0.0.1',
    '64:ff9b:1::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'localhost',
    '',
  ])
    test(`${address || 'nothing'} is not`, () => assert.equal(isPublicAddress(address), false));
});

suite('the guard', () => {
  test('lets the web through, and says which addresses it judged', async () => {
    const addresses = await createGuard(to('93.184.216.34', '2606:4700::1111')).check(
      'https://example.com/a?b#c',
      never,
    );
    assert.deepEqual(addresses, [addressOf('93.184.216.34'), addressOf('2606:4700::1111')]);
  });

  for (const url of [
    'http://127.1/',
    'http://0x7f000001/',
    'http://017700000001/',
    'http://2130706433/',
    'http://127.0.0.1:8080/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[fd00::1]/',
    'http://169.254.169.254/latest/meta-data/',
    'http://①②⑦.⓪.⓪.①/',
  ])
    test(`refuses ${url}`, async () =>
      assert.match(await refusal(url), /is not an address of the public internet/));

  for (const url of [
    'http://localhost/',
    'http://localhost./',
    'http://a.LOCALHOST/',
    'http://metadata.google.internal/',
  ])
    test(`refuses ${url} by its name`, async () =>
      assert.match(await refusal(url), /is a name of a private network/));

  for (const [url, why] of [
    ['file:///etc/passwd', 'Only http: and https: can be reached, not file:'],
    ['gopher://example.com/', 'Only http: and https: can be reached, not gopher:'],
    [
      'http://me:secret@example.com/',
      'A URL with a name or a password in it is not sent anywhere (example.com).',
    ],
    ['http://example.com:6379/', 'Port 6379 of example.com belongs to no web server.'],
    ['example.com', 'Not a URL: "example.com".'],
    ['', 'Not a URL: "".'],
  ] as const)
    test(`refuses ${url || 'nothing'}`, async () => assert.equal(await refusal(url), why));

  test('refuses a name with one private address among public ones', async () => {
    assert.equal(
      await refusal('http://rebind.example/', to('93.184.216.34', '10.0.0.1')),
      'rebind.example leads to 10.0.0.1, which is not an address of the public internet. The person can allow the host with web.private_hosts in the settings.',
    );
  });

  test('reaches private hosts that the settings name, and no other', async () => {
    const options = {
      ...to('10.0.0.5'),
      privateHosts: ['localhost:3000', '*.corp.example', '10.9.0.0/16', '::1'],
    };
    assert.deepEqual(
      await Promise.all(
        [
          'http://localhost:3000/',
          'http://localhost:3001/',
          'http://wiki.corp.example/',
          'http://corp.example/',
          'http://10.9.255.1/',
          'http://10.10.0.1/',
          'http://[::1]/',
        ].map(async (url) => (await refusal(url, options)) === 'allowed'),
      ),
      [true, false, true, false, true, false, true],
    );
  });

  test('a name that cannot be looked up is refused, and left to a proxy where there is one', async () => {
    const resolve = async () => {
      throw new Error('ENOTFOUND');
    };
    assert.equal(
      await refusal('http://a.example/', { resolve }),
      'a.example could not be looked up: ENOTFOUND.',
    );
    const isProxied = () => true;
    assert.equal(await refusal('http://a.example/', { resolve, isProxied }), 'allowed');
    assert.match(await refusal('http://a.internal/', { resolve, isProxied }), /private network/);
    assert.match(await refusal('http://a.example/', { ...to('10.0.0.1'), isProxied }), /leads to 10.0.0.1/);
  });

  test('waits no longer than its caller', async () => {
    const stop = new AbortController();
    const pending = createGuard({ resolve: () => new Promise(() => {}) }).check(
      'http://a.example/',
      stop.signal,
    );
    stop.abort(new Error('enough'));
    await assert.rejects(pending, /enough/);
  });

  test('an entry that cannot be read allows nothing', () => {
    for (const entry of ['', ':', '10.0.0.0/99', '10.0.0.0/x', '*.'])
      assert.equal(parsePrivateHost(entry)('10.0.0.1', 80), false, entry);
  });
});
