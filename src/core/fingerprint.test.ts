import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fingerprint } from './fingerprint.ts';

test('the same text has the same fingerprint, of 16 digits', () => {
  for (const text of ['', 'a', 'PATH\0/usr/bin', '🦀'.repeat(1000)]) {
    assert.equal(fingerprint(text), fingerprint(`${text} `.slice(0, -1)));
    assert.match(fingerprint(text), /^[0-9a-f]{16}$/);
  }
});

test('texts that differ a little, in length, order or case, have others', () => {
  const texts = ['', '\0', '\0\0', 'a', 'A', 'ab', 'ba', 'b', 'PATH\0/bin', 'PATH\0/bin/', 'PATH/\0bin'];
  const numbered = Array.from({ length: 50_000 }, (_, at) => `key-${at}`);
  const all = [...texts, ...numbered];
  assert.equal(new Set(all.map(fingerprint)).size, all.length);
});
