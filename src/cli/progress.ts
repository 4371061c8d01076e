// How far something long has come, on one line of standard error that is gone afterwards; only where a person looks at it.

import type { Sink } from '../core/host.ts';

export interface Progress {
  /** Left out where the line before is still on its way: a slow terminal holds nothing up. */
  tell(text: string): void;
  /** Takes the line away. */
  over(): Promise<void>;
}

const REST_OF_LINE = '\u001b[K';

export function progressOn(stderr: Sink): Progress {
  let isWriting = false;
  let isShown = false;
  return {
    tell(text) {
      if (!stderr.isTerminal || isWriting) return;
      isWriting = true;
      isShown = true;
      const written = () => {
        isWriting = false;
      };
      stderr.write(`\r${text}${REST_OF_LINE}`).then(written, written);
    },
    async over() {
      if (isShown) await stderr.write(`\r${REST_OF_LINE}`);
    },
  };
}
