// The fake provider as a fixture. It fails the test when it ends with violations that nobody has looked at,
// also where the client swallowed the 400.

import assert from 'node:assert/strict';
import {
  type FakeProvider,
  type FakeProviderOptions,
  startFakeProvider,
  type Violation,
} from '../../src/dev/fake-provider.ts';
import type { Reply, Scenario } from '../../src/dev/scenario.ts';
import type { WireName } from '../../src/dev/wire.ts';

export interface FakeProviderFixture extends FakeProvider, AsyncDisposable {
  /** The violations since the last look. */
  takeViolations(): readonly Violation[];
  /** What points Crab at this provider over one wire. */
  env(wire: WireName): Readonly<Record<string, string>>;
}

export async function fakeProvider(
  scenario: Scenario | readonly Reply[],
  options: Omit<FakeProviderOptions, 'scenario'> = {},
): Promise<FakeProviderFixture> {
  const script: Scenario = 'length' in scenario ? { replies: scenario } : scenario;
  const provider = await startFakeProvider({ ...options, scenario: script });
  let looked = 0;
  const takeViolations = () => {
    const unread = provider.violations.slice(looked);
    looked = provider.violations.length;
    return unread;
  };
  return {
    ...provider,
    takeViolations,
    env: (wire) => environment(provider, wire),
    async [Symbol.asyncDispose]() {
      await provider.close();
      assert.deepEqual(takeViolations(), [], 'the provider was sent requests that break a law');
    },
  };
}

function environment({ url, openaiUrl }: FakeProvider, wire: WireName): Readonly<Record<string, string>> {
  return wire === 'anthropic'
    ? { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'fake-key' }
    : { OPENAI_BASE_URL: openaiUrl, OPENAI_API_KEY: 'fake-key' };
}
