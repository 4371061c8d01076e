// What the engine needs of the tape: a place where messages are written before anything is built on them.

import type { Message } from '../core/message.ts';
import type { PartialMessage } from '../core/tape.ts';

export interface Journal {
  /** Writes at once, in order; throws `CrabError` when it cannot. `synced` resolves when all are durable. */
  append(messages: readonly Message[]): { readonly synced: Promise<void> };
  /** The message that is arriving, kept in case we die. */
  partial(message: PartialMessage): void;
}
