// A printer turns the batches of a run into what the output format shows. It gets the run's last event like
// every other, and makes one write a batch, so that a slow reader holds up the run and never more than that.

import type { Event } from '../../core/event.ts';
import type { Sink } from '../../core/host.ts';
import { jsonLine } from '../../faces/json-line.ts';
import { createResult } from '../../faces/json-result.ts';
import { createStreamJson, type StreamJsonOptions } from '../../faces/stream-json.ts';

export interface Printer {
  /** Resolves when the sinks have taken it. Rejects with `CrabError` when standard output cannot. */
  print(events: readonly Event[]): Promise<void>;
}

/** Nothing until the run has ended; then its result as one object. */
export function createJsonPrinter(stdout: Sink, uuid: () => string, session = ''): Printer {
  const collector = createResult(uuid, session);
  return {
    async print(events) {
      for (const event of events) {
        collector.see(event);
        if (event.type === 'runEnd') await stdout.write(jsonLine(collector.result(event)));
      }
    },
  };
}

export function createStreamPrinter(stdout: Sink, options: StreamJsonOptions): Printer {
  const face = createStreamJson(options);
  return {
    async print(events) {
      const lines = face.lines(events);
      if (lines !== '') await stdout.write(lines);
    },
  };
}
