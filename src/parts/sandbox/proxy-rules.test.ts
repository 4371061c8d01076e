import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostOf, hostRules } from './proxy-rules.ts';

const RULES = hostRules({
  hosts: ['registry.npmjs.org', '*.Example.org.', 'office.lan'],
  privateHosts: ['office.lan'],
});

test('a name is allowed as a whole, a star stands for what is below', () => {
  const names = [
    'registry.npmjs.org',
    'evil-registry.npmjs.org',
    'registry.npmjs.org.evil.net',
    'a.example.org',
    'a.b.example.org',
    'example.org',
    'evilexample.org',
  ];
  assert.deepEqual(
    names.filter((name) => RULES.allows(name)),
    ['registry.npmjs.org', 'a.example.org', 'a.b.example.org'],
  );
});

test('no host reaches a private address but one that is named for it', () => {
  const addresses = [
    '93.184.216.34',
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '192.168.0.1',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    'fe80::1',
    '64:ff9b::7f00:1',
    '2606:2800:220:1::1',
  ];
  assert.deepEqual(
    addresses.filter((address) => RULES.allowsAddress('a.example.org', address)),
    ['93.184.216.34', '2606:2800:220:1::1'],
  );
  assert.equal(RULES.allowsAddress('office.lan', '10.1.2.3'), true);
});

test('a host is brought into one form, and what parsers read differently is none', () => {
  assert.deepEqual(hostOf('Registry.NPMjs.org.:443'), { host: 'registry.npmjs.org', port: 443 });
  assert.deepEqual(hostOf('0x7f000001'), { host: '127.0.0.1', port: 80 });
  assert.deepEqual(hostOf('127.1:8080'), { host: '127.0.0.1', port: 8080 });
  assert.deepEqual(hostOf('[::1]:80'), { host: '::1', port: 80 });
  for (const text of ['', 'a.org\0.evil.net:443', 'user@a.org', 'a.org/path', 'ａ.org', 'a.org:99999', 'a b'])
    assert.equal(hostOf(text), undefined, JSON.stringify(text));
});
