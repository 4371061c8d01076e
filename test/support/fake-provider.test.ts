import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeProvider } from './fake-provider.ts';
import { ask, post } from './wire-client.ts';

const BROKEN = [{ role: 'assistant', content: 'me first' }];

test('violations that nobody looked at fail the test at its end', async () => {
  const careless = async () => {
    await using provider = await fakeProvider([]);
    await (await post(provider.url, 'anthropic', BROKEN)).text();
  };
  await assert.rejects(careless, /the provider was sent requests that break a law/);
});

test('violations that were looked at do not', async () => {
  await using provider = await fakeProvider([]);
  await (await post(provider.url, 'openai', BROKEN)).text();
  assert.equal(provider.takeViolations().length, 1);
  assert.deepEqual(provider.takeViolations(), []);
});

test('the environment points at the base URL of each wire', async () => {
  await using provider = await fakeProvider({ replies: [{ text: 'hi' }] });
  const { url } = provider;
  assert.deepEqual(provider.env('anthropic'), { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'fake-key' });
  assert.deepEqual(provider.env('openai'), { OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'fake-key' });
  assert.equal((await ask(url, 'openai', [{ role: 'user', content: 'x' }])).text, 'hi');
});
