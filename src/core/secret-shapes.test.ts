import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECRET_SAMPLES, SECRETS_IN_TEXT } from '../../test/support/secret-samples.ts';
import { REDACTED } from './redact.ts';
import { maskShapes, SECRET_SHAPES } from './secret-shapes.ts';

test('there is a shape and a sample for at least fifty kinds of secret', () => {
  assert.ok(SECRET_SHAPES.length >= 50, String(SECRET_SHAPES.length));
  assert.ok(new Set(SECRET_SAMPLES.map(({ secret }) => secret)).size >= 50);
});

for (const { vendor, secret } of SECRET_SAMPLES) {
  test(`a key of the shape of ${vendor} is masked in a sentence, in JSON and at the end of a URL`, () => {
    for (const text of [
      `refused: ${secret}.`,
      JSON.stringify({ key: secret }),
      `https://x.test/?k=${secret}`,
    ]) {
      const masked = maskShapes(text);
      assert.ok(masked.includes(REDACTED) && !masked.includes(secret), masked);
    }
  });
}

for (const [what, text, secret] of SECRETS_IN_TEXT) {
  test(`what is a secret for its place is masked: ${what}`, () => {
    const masked = maskShapes(text);
    assert.ok(masked.includes(REDACTED) && !masked.includes(secret), masked);
  });
}

test('what is around a secret stays', () => {
  assert.equal(
    maskShapes('connect postgres://app:hunter22@db.example.com/app failed'),
    `connect postgres://app:${REDACTED}@db.example.com/app failed`,
  );
});

/** Sentences of providers, of systems and of our own: a mask in one of them would hide what happened. */
const PLAIN = [
  'anthropic answered 401 (authentication_error): invalid x-api-key',
  'openai answered 400 (invalid_request_error): This model does not support max_completion_tokens.',
  'Unsupported value: temperature does not support 0.2 with this model. token context_length_exceeded',
  'api.anthropic.com could not be reached: the connection was refused (ECONNREFUSED).',
  'Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or OPENAI_BASE_URL for a local server.',
  'redirects (307) to https://api.example.com:8443/v1/messages?beta=true; redirects are not followed.',
  'model: claude-sonnet-4-5-20250929, request id req_011CSHoEeqs5C35K2UUqR7Fy',
  'session 01J9ZQ4T8W3N5X7Y2B6C4D8E0F is open in process 4711',
  'commit 9fceb02d0ae598e95dc970b74767f19372d61af8 at src/parts/llm/anthropic-request.ts:120:14',
  'The password is wrong; the access_token: expired',
];

test('what is no secret is left as it is', () => {
  for (const text of PLAIN) assert.equal(maskShapes(text), text);
});

test('a long text without a secret is looked through in linear time', () => {
  for (const text of [
    'a'.repeat(200_000),
    'a-'.repeat(100_000),
    'http://'.repeat(30_000),
    'eyJa.'.repeat(40_000),
  ])
    assert.equal(maskShapes(text).length, text.length);
});
