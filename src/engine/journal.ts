// What the engine needs of the tape: a place where messages are written before anything is built on them.

import type { Message } from '../core/message.ts';
import type { PartialMessage } from '../core/tape.ts';

export interface Journal {
  /** Writes at once; throws `CrabError` when it cannot. `synced` resolves when the message is durable. */
  append(message: Message): { readonly synced: Promise<void> };
  /** The message that is arriving, kept in case we die. */
  partial(message: PartialMessage): void;
}
