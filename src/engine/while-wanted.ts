// Work of others that may never end: it is waited for as long as somebody wants it, and a little longer where it is to
// clean up behind itself. A run must end when it is cancelled, whatever a tool does.

import type { Clock } from '../core/host.ts';

export interface Patience {
  readonly ms: number;
  readonly clock: Pick<Clock, 'sleep'>;
}

/**
 * Settles as `work` does. When the signal aborts first, it rejects with the reason, at once or after `patience`: what comes
 * of the work after that is nobody's.
 */
export function whileWanted<T>(work: Promise<T>, signal: AbortSignal, patience?: Patience): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    // Made where it is needed only: an abort costs more than most of what is waited for.
    let patient: AbortController | undefined;
    const leave = () => reject(signal.reason);
    const onAbort = () => {
      if (patience === undefined) return leave();
      patient = new AbortController();
      patience.clock.sleep(patience.ms, patient.signal).then(leave, () => {});
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', onAbort);
      patient?.abort();
    });
  });
}
