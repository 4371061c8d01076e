// One request to a model from its first try to its last chunk, whatever the wire. It is sent again only while
// nothing of an answer was passed on: a second answer behind half of a first would double text (law 2).

import { asCrabError, CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { Model, ModelChunk, ModelRetry, RateLimit } from '../../core/model.ts';
import { Attempt, type Connection } from './attempt.ts';
import { interrupted } from './failure.ts';
import type { Health } from './health.ts';
import { holdBack } from './rate-limit.ts';
import { jitter, retryDelay } from './retry.ts';

export interface StreamOptions extends Omit<Connection, 'heard'> {
  readonly maxRetries: number;
  readonly health: Health;
  readonly random: () => number;
  readonly clock: Clock;
}

export function createStream(
  options: StreamOptions,
): Required<Pick<Model, 'stream' | 'rateLimit' | 'health'>> {
  const { clock, health, provider, random } = options;
  let limit: RateLimit | undefined;
  const heard = (said: RateLimit) => {
    limit = said;
  };
  const connection: Connection = { ...options, heard };

  return {
    rateLimit: () => limit,
    health: () => (health.isOpen(clock.monotonic()) ? 'open' : 'ok'),
    async *stream(request, signal) {
      try {
        const preparation = options.wire.prepare?.(request, signal);
        if (preparation !== undefined) await preparation;
        const body = options.wire.encode(request);
        const isOpen = health.isOpen(clock.monotonic());
        const maxAttempts = isOpen ? 1 : options.maxRetries + 1;
        const held = holdBack(limit, clock.now());
        if (held !== undefined) {
          const delayMs = held + jitter(1, random);
          const reason = `${provider.name} allows no further request until its limit is lifted`;
          yield [{ type: 'retry', attempt: 0, maxAttempts, delayMs, reason }];
          await clock.sleep(delayMs, signal);
        }
        for (let number = 1; ; number++) {
          const attempt = new Attempt(connection, request, body, signal);
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
          health.note(clock.monotonic(), error);
          if (error === undefined) return;
          if (passed || !error.retryable || number >= maxAttempts) {
            yield [{ type: 'failure', error: isOpen ? briefly(error) : error, ...(tokens && { tokens }) }];
            return;
          }
          const delayMs = retryDelay(number, random, error.retryAfterMs);
          yield [retryOf(error, { attempt: number, maxAttempts, delayMs, ...(tokens && { tokens }) })];
          await clock.sleep(delayMs, signal);
        }
      } catch (thrown) {
        const error = signal.aborted ? interrupted() : asCrabError(thrown);
        yield [{ type: 'failure', error }] satisfies ModelChunk[];
      }
    },
  };
}

function retryOf(error: CrabError, how: Omit<ModelRetry, 'type' | 'status' | 'reason'>): ModelRetry {
  const { status, message: reason } = error;
  return { type: 'retry', ...how, ...(status !== undefined && { status }), reason };
}

/** Says why there was a single try. */
function briefly(error: CrabError): CrabError {
  if (!error.retryable) return error;
  const { code, message, status, retryAfterMs, retryable } = error;
  const hint = `It has failed again and again, so it was tried once. ${error.hint}`;
  return new CrabError(code, message, { cause: error, hint, status, retryAfterMs, retryable });
}
