// The beginning of a request that is the same as in the request before, as bytes, most of them joined. A history
// grows at its end, so a request in turn 500 costs what is new in it: nothing before that is encoded, joined or
// copied again.

import type { Message } from '../../core/message.ts';

const PIECE_BYTES = 64 * 1024;

export interface Prefix {
  /**
   * The bytes of `messages[0, count)`. Each stretch that is new is encoded once, by `encode(from, to)`; what was
   * encoded stays valid for as long as `messages` is the same array, grown at its end. The result must not be kept.
   */
  upTo(
    messages: readonly Message[],
    count: number,
    encode: (from: number, to: number) => readonly Buffer[],
  ): readonly Buffer[];
}

export function createPrefix(): Prefix {
  let of: readonly Message[] = [];
  let done = 0;
  let last: Message | undefined;
  let whole: Buffer[] = [];
  let rest: Buffer[] = [];
  let restBytes = 0;

  function add(fragment: Buffer): void {
    rest.push(fragment);
    restBytes += fragment.length;
    if (restBytes < PIECE_BYTES) return;
    whole.push(Buffer.concat(rest, restBytes));
    rest = [];
    restBytes = 0;
  }

  return {
    upTo(messages, count, encode) {
      // Another history, or one that was shortened: what is known of the old one is of no use.
      if (messages !== of || count < done || messages[done - 1] !== last) {
        of = messages;
        done = 0;
        whole = [];
        rest = [];
        restBytes = 0;
      }
      if (count > done) for (const fragment of encode(done, count)) add(fragment);
      done = count;
      last = messages[done - 1];
      return [...whole, ...rest];
    },
  };
}
