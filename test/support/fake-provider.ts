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
  /**
   * An answer stops right behind the first event that contains `text` until what is returned is called. It must be one that is
   * sent event by event (`delayMs`).
   */
  hold(text: string): () => void;
}

export async function fakeProvider(
  scenario: Scenario | readonly Reply[],
  options: Omit<FakeProviderOptions, 'scenario'> = {},
): Promise<FakeProviderFixture> {
  const script: Scenario = 'length' in scenario ? { replies: scenario } : scenario;
  const holds = new Map<string, Promise<void>>();
  const onWrite = (bytes: Uint8Array) => {
    if (holds.size === 0) return undefined;
    const written = Buffer.from(bytes).toString();
    return [...holds].find(([text]) => written.includes(text))?.[1];
  };
  const provider = await startFakeProvider({ ...options, scenario: script, onWrite });
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
    hold(text) {
      const { promise, resolve } = Promise.withResolvers<void>();
      holds.set(text, promise);
      return () => {
        holds.delete(text);
        resolve();
      };
    },
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
