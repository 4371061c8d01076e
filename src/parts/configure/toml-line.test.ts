import assert from 'node:assert/strict';
import { test } from 'node:test';
import { topValue, withTopValue } from './toml-line.ts';

test('a value is read from the top and nowhere else', () => {
  const source = '# fast = true\neffort = "a#b" # why\n"model" = \'x\'\n[profiles.work]\nfast = true\n';
  assert.equal(topValue(source, 'effort'), '"a#b"');
  assert.equal(topValue(source, 'model'), "'x'");
  assert.equal(topValue(source, 'fast'), undefined);
});

test('a line is replaced, added above the first table, or taken away', () => {
  const source = '# mine\neffort = "low"\n\n[budget]\nday_usd = 5\n';
  assert.equal(withTopValue(source, 'effort', '"high"'), source.replace('low', 'high'));
  assert.equal(withTopValue(source, 'effort', undefined), source.replace('effort = "low"\n', ''));
  assert.equal(
    withTopValue(source, 'fast', 'true'),
    '# mine\neffort = "low"\nfast = true\n\n[budget]\nday_usd = 5\n',
  );
  assert.equal(withTopValue('', 'fast', 'true'), 'fast = true\n');
  assert.equal(
    withTopValue('[budget]\nday_usd = 5\n', 'fast', 'true'),
    'fast = true\n\n[budget]\nday_usd = 5\n',
  );
  assert.equal(withTopValue(source, 'fast', undefined), source);
});

test('a list over several lines does not hide what stands below it', () => {
  const source = 'fallback_models = [\n  "a",\n]\nfast = false\n';
  assert.equal(withTopValue(source, 'fast', 'true'), source.replace('false', 'true'));
});
