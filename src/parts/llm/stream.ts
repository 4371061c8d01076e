// One request to a model from its first try to its last chunk, whatever the wire. It is sent again only while
// nothing of an answer was passed on: a second answer behind half of a first would double text (law 2).

import { asCrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { ModelChunk, StreamModel } from '../../core/model.ts';
import { Attempt, type Connection } from './attempt.ts';
import { interrupted } from './failure.ts';
import { retryDelay } from './retry.ts';

export interface StreamOptions extends Connection {
  readonly maxRetries: number;
  readonly random: () => number;
  readonly clock: Clock;
}

export function createStream(options: StreamOptions): StreamModel {
  const maxAttempts = options.maxRetries + 1;
  return async function* stream(request, signal) {
    try {
      const preparation = options.wire.prepare?.(request, signal);
      if (preparation !== undefined) await preparation;
      const body = options.wire.encode(request);
      for (let number = 1; ; number++) {
        const attempt = new Attempt(options, request, body, signal);
        let passed = false;
        try {
          for (let batch = await attempt.next(); batch !== undefined; batch = await attempt.next()) {
            passed = true;
            yield batch;
          }
        } finally {
          attempt.close();
        }
        const { error, tokens } = attempt;
        if (error === undefined) return;
        if (passed || !error.retryable || number >= maxAttempts) {
          yield [{ type: 'failure', error, ...(tokens && { tokens }) }];
          return;
        }
        const delayMs = retryDelay(number, options.random, error.retryAfterMs);
        const status = error.status === undefined ? {} : { status: error.status };
        yield [{ type: 'retry', attempt: number, maxAttempts, delayMs, ...status, reason: error.message }];
        await options.clock.sleep(delayMs, signal);
      }
    } catch (thrown) {
      const error = signal.aborted ? interrupted() : asCrabError(thrown);
      yield [{ type: 'failure', error }] satisfies ModelChunk[];
    }
  };
}
