// `crab serve` in a process of its own, and tokens for it.

import assert from 'node:assert/strict';
import type { Journey } from './journey.ts';

export interface Serving extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Ends it as a supervisor does. */
  stop(): Promise<void>;
}

export async function serve(trip: Journey, args: readonly string[] = []): Promise<Serving> {
  const crab = trip.start(['serve', '--port', '0', ...args]);
  const said = await crab.waitFor(/let in at (\S+)/, { on: 'stderr' });
  const [, url = ''] = /let in at (\S+)/.exec(said) ?? [];
  return {
    url,
    port: Number(new URL(url).port),
    async stop() {
      crab.kill();
      const { code, signal } = await crab.exited;
      assert.deepEqual({ code, signal }, { code: 0, signal: null });
    },
    [Symbol.asyncDispose]: () => crab[Symbol.asyncDispose](),
  };
}

export async function newToken(trip: Journey, args: readonly string[]): Promise<string> {
  const { code, stdout } = await trip.run(['serve', 'token', ...args]);
  assert.equal(code, 0);
  return stdout.trim();
}
