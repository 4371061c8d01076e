// What a provider says of its limits is told to who asks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journey } from '../support/journey.ts';

test('status shows what the provider left of its limits', async () => {
  const headers = {
    'anthropic-ratelimit-requests-remaining': '49',
    'anthropic-ratelimit-tokens-remaining': '30000',
  };
  await using at = await journey('anthropic', { script: [{ text: 'Hi.', headers }] });
  const lines = ['hi', ',status'].map((content) =>
    JSON.stringify({ type: 'user', message: { role: 'user', content } }),
  );
  const exit = await at.run(['-p', '--input-format', 'stream-json'], { stdin: `${lines.join('\n')}\n` });
  assert.equal(exit.code, 0, exit.stderr);
  assert.match(exit.stdout, /\nlimit {5}49 requests and 30000 tokens left/);
});
