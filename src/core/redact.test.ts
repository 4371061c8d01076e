import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecrets, formsOf, REDACTED } from './redact.ts';

const SECRET = 'sk-ant-Zq8+/w"é7Tk20xYv_L';

function knowing(...texts: string[]) {
  const secrets = createSecrets();
  secrets.add(texts);
  return secrets;
}

const WRITTEN: Readonly<Record<string, string>> = {
  'as it is': `key ${SECRET} end`,
  'in JSON': JSON.stringify({ key: SECRET }),
  'in JSON inside JSON': JSON.stringify({ body: SECRET.replace('"', '\\"') }).replaceAll('\\\\\\"', '\\"'),
  'in a URL': `https://x.test/?k=${encodeURIComponent(SECRET)}&z=1`,
  'in a URL in lower case': `?k=${encodeURIComponent(SECRET).replace(/%../g, (code) => code.toLowerCase())}`,
  'in base64': Buffer.from(SECRET).toString('base64'),
  'in base64 for URLs': Buffer.from(SECRET).toString('base64url'),
  'in a Basic header': `Basic ${Buffer.from(`user:${SECRET}`).toString('base64')}`,
  'in a Basic header of another length': `Basic ${Buffer.from(`users:${SECRET}`).toString('base64')}`,
  'in base64 amid other text': Buffer.from(`ab${SECRET} and more`).toString('base64'),
  'in hexadecimal': Buffer.from(SECRET).toString('hex'),
  'in capital hexadecimal': Buffer.from(SECRET).toString('hex').toUpperCase(),
};

for (const [how, text] of Object.entries(WRITTEN)) {
  test(`a secret is found ${how}`, () => {
    const clean = knowing(SECRET).redact(text);
    assert.ok(clean.includes(REDACTED), clean);
    assert.deepEqual(
      formsOf(SECRET).filter((form) => clean.includes(form)),
      [],
    );
  });

  test(`a secret is found ${how} when it comes in pieces of any size`, () => {
    const whole = knowing(SECRET).redact(text);
    for (let size = 1; size <= text.length; size++) {
      const filter = knowing(SECRET).filter();
      let clean = '';
      for (let at = 0; at < text.length; at += size) clean += filter.push(text.slice(at, at + size));
      assert.equal(clean + filter.end(), whole, `pieces of ${size}`);
    }
  });
}

test('what is no secret passes a filter at once and unchanged', () => {
  const filter = knowing(SECRET).filter();
  for (const piece of ['one ', 'two, ', '', 'three.\n']) assert.equal(filter.push(piece), piece);
  assert.equal(filter.end(), '');
});

test('a text that only begins like a secret comes out whole', () => {
  const filter = knowing(SECRET).filter();
  assert.equal(filter.push('see sk-ant'), 'see ');
  assert.equal(filter.push('-keys.'), 'sk-ant-keys.');
  assert.equal(filter.push(' s'), ' ');
  assert.equal(filter.end(), 's');
});

test('of two secrets that begin alike the longer one is taken out whole', () => {
  assert.equal(
    knowing('abcdefg1', 'abcdefg1-ijkl').redact('abcdefg1-ijkl abcdefg1'),
    `${REDACTED} ${REDACTED}`,
  );
});

test('letters that mean something in a pattern are letters', () => {
  assert.equal(knowing('a.b*c(d)[1]').redact('a.b*c(d)[1] axb*c(d)[1]'), `${REDACTED} axb*c(d)[1]`);
});

test('a secret that is added later is found by a filter made before', () => {
  const secrets = createSecrets();
  const filter = secrets.filter();
  assert.equal(filter.push(SECRET), SECRET);
  secrets.add([SECRET]);
  assert.equal(filter.push(SECRET), REDACTED);
});

test('a word that stands in for a key is left where it stands, and a longer phrase is not', () => {
  for (const word of ['key', '1234567', 'lm-studio', 'not-needed', 'sk-no-key-required'])
    assert.equal(knowing(word).redact(`see ${word}.`), `see ${word}.`);
  for (const secret of ['a1b2c3d4', 'correct-horse-battery-staple'])
    assert.equal(knowing(secret).redact(`see ${secret}.`), `see ${REDACTED}.`);
});

test('of many secrets the newest are known', () => {
  const all = Array.from({ length: 70 }, (_, at) => `secret-number-${at}-x`);
  const secrets = knowing(...all);
  assert.equal(secrets.redact(all[69] ?? ''), REDACTED);
  assert.equal(secrets.redact(all[6] ?? ''), REDACTED);
  assert.equal(secrets.redact(all[5] ?? ''), all[5]);
});
