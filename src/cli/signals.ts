// Ctrl-C and SIGTERM as an abort with a reason. The second one of a kind does not wait for anything.

import { CrabError, EXIT } from '../core/errors.ts';

export interface Stop {
  readonly signal: AbortSignal;
  release(): void;
}

/** @param onForced called before leaving at once, for what must not outlive us */
export function stopOnSignals(onForced: () => void, interrupts: 'abort' | 'leave-alone' = 'abort'): Stop {
  const controller = new AbortController();
  const listen = (name: NodeJS.Signals, error: () => CrabError, code: number) => {
    const onSignal = () => {
      if (controller.signal.aborted) {
        onForced();
        process.exit(code);
      }
      controller.abort(error());
    };
    process.on(name, onSignal);
    return () => process.off(name, onSignal);
  };
  const terminated = () => new CrabError('terminated', 'Terminated by a signal.');
  const releases = [
    listen('SIGTERM', terminated, EXIT.terminated),
    listen('SIGHUP', terminated, EXIT.terminated),
  ];
  if (interrupts === 'abort')
    releases.push(listen('SIGINT', () => new CrabError('interrupted', 'Interrupted.'), EXIT.interrupted));
  return {
    signal: controller.signal,
    release: () => {
      for (const release of releases) release();
    },
  };
}
