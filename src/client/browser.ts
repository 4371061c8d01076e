// `crab/client` in a browser: over WebSocket.

import { Crab, type CrabOptions } from './crab.ts';
import { webSocketConnection } from './web-socket.ts';

export { CrabError } from '../core/errors.ts';
export type * from '../core/event.ts';
export type { OpenReply, OpenRequest, Prompt } from '../core/platform.ts';
export type { Answer, Question } from '../core/question.ts';
export { RequestFailure } from '../protocol/failure.ts';
export type * as messages from '../protocol/messages.ts';
export { type Conversation, Crab, type CrabOptions, type Entrance, type Heard } from './crab.ts';

/** `address`: `ws://…` or `wss://…`. Throws `CrabError`, or `RequestFailure` where this client is refused. */
export function connect(address: string, options: CrabOptions = {}): Promise<Crab> {
  return Crab.over(() => webSocketConnection(address), options);
}
