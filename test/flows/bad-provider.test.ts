// No key, no address, no protocol: what stands between Crab and a model, and how it is told apart.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reply } from '../../src/dev/scenario.ts';
import {
  ANSWER,
  assertComplaint,
  assertRefused,
  type Complaint,
  messagesOf,
  setting,
} from './bad-setting.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NO_KEY: Environment = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };

const BEFORE: readonly (readonly [what: string, env: Environment, complaint: Complaint])[] = [
  [
    'no key',
    NO_KEY,
    {
      code: 'auth-missing',
      says: /^There was no API key found for anthropic or openai/,
      fix: /ANTHROPIC_API_KEY/,
    },
  ],
  [
    'an empty key',
    { ANTHROPIC_API_KEY: '' },
    { code: 'auth-missing', says: 'ANTHROPIC_API_KEY is set, but empty.', fix: /ANTHROPIC_API_KEY/ },
  ],
  [
    'a key of blanks',
    { ANTHROPIC_API_KEY: ' ' },
    { code: 'auth-missing', says: 'ANTHROPIC_API_KEY is set, but empty.', fix: /ANTHROPIC_API_KEY/ },
  ],
  [
    'a key with a line break in it',
    { ANTHROPIC_API_KEY: 'sk-secret\nmore' },
    { code: 'auth-refused', says: /^The value of ANTHROPIC_API_KEY has a .*line break/, fix: /key alone/ },
  ],
  [
    'a base URL that is none',
    { ANTHROPIC_BASE_URL: 'nonsense' },
    { code: 'usage', says: 'ANTHROPIC_BASE_URL is not an http or https URL.', fix: /https:\/\// },
  ],
  [
    'a base URL of another protocol',
    { ANTHROPIC_BASE_URL: 'ftp://example.com' },
    { code: 'usage', says: 'ANTHROPIC_BASE_URL is not an http or https URL.', fix: /https:\/\// },
  ],
  [
    'a number of retries that is none',
    { CRAB_MAX_RETRIES: '11' },
    { code: 'usage', says: 'CRAB_MAX_RETRIES must be a whole number from 0 to 10.', fix: /Unset/ },
  ],
];

test('without a usable key or address nothing is begun', async (t) => {
  await using at = await setting();
  for (const [what, env, complaint] of BEFORE)
    await t.test(what, async () => {
      const exit = await at.run(['hi'], { env });
      assertRefused(exit, complaint, at);
      assert.doesNotMatch(exit.stderr, /sk-secret/);
    });
});

test('a key with a line break behind it, as a file gives it, works', async () => {
  await using at = await setting();
  const exit = await at.run(['--no-session', 'hi'], { env: { ANTHROPIC_API_KEY: 'key\n' } });
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' });
  assert.equal(at.provider.requests[0]?.headers['x-api-key'], 'key');
});

const UNREACHABLE: readonly (readonly [url: string, says: RegExp])[] = [
  ['http://127.0.0.1:1', /^127\.0\.0\.1:1 could not be reached: the connection was refused/],
  ['http://nowhere.invalid', /^nowhere\.invalid could not be reached: /],
];

test('a host that cannot be reached is named, and the prompt is kept', async (t) => {
  for (const [url, says] of UNREACHABLE)
    await t.test(url, async () => {
      await using at = await setting();
      const exit = await at.run(['hi'], { env: { ANTHROPIC_BASE_URL: url } });
      assertComplaint(exit, { code: 'network', says });
      assert.equal(messagesOf(at)[0], 'user: hi');
    });
});

const LOOK = [{ name: 'ls', input: { path: '.' } }];

const FAULTS: readonly (readonly [what: string, reply: Reply, complaint: Complaint])[] = [
  [
    'a wrong key',
    { fault: { status: 401, message: 'invalid x-api-key' } },
    { code: 'auth-refused', says: /401.*invalid x-api-key/ },
  ],
  [
    'a limit that lasts',
    { fault: { status: 429, message: 'Slow down.' } },
    { code: 'rate-limited', says: /429.*Slow down\./ },
  ],
  [
    'a web page',
    { fault: { html: true } },
    { code: 'provider-protocol', says: /did not answer with an event stream: <!doctype html>/ },
  ],
  ['a reset connection', { fault: { reset: true } }, { code: 'network', says: /./ }],
  [
    'a stream cut in a call',
    { text: 'So far.', calls: LOOK, fault: { cutAfter: 'call' } },
    { code: 'stream-cut', says: /./ },
  ],
  [
    'a stream without an end',
    { text: 'So far.', fault: { noStop: true } },
    { code: 'stream-cut', says: /./ },
  ],
];

test('what a provider does wrong has its own code and way out, and the prompt is kept', async (t) => {
  for (const [what, reply, complaint] of FAULTS)
    await t.test(what, async () => {
      await using at = await setting([reply]);
      const exit = await at.run(['hi']);
      assertComplaint({ ...exit, stdout: '' }, complaint);
      assert.equal(messagesOf(at)[0], 'user: hi');
    });
});

test('a run that broke off in a call can be continued, and the history is valid', async () => {
  await using at = await setting([
    { text: 'So far.', calls: LOOK, fault: { cutAfter: 'call' }, times: 1 },
    ...ANSWER,
  ]);
  assert.equal((await at.run(['hi'])).code, 8);
  const exit = await at.run(['--continue', 'go on']);
  assert.deepEqual([exit.code, exit.stderr], [0, '']);
  assert.deepEqual(at.provider.violations, []);
});

test('arguments that are not JSON come back to the model, which can repair them', async () => {
  await using at = await setting([{ calls: LOOK, fault: { badJson: true } }, ...ANSWER]);
  const exit = await at.run(['hi']);
  assert.deepEqual(exit, { code: 0, signal: null, stdout: 'Here I am.\n', stderr: '' });
  const [, , result = ''] = messagesOf(at);
  assert.match(result, /^toolResult!: .*JSON/);
});
