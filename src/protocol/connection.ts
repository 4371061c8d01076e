// A connection as both ends see it: messages in order, one way and the other. What carries them (a socket, a WebSocket,
// two queues in one process) is somebody else's business.

export interface Connection<Out, In> {
  /** Resolves when more may follow: whoever does not wait fills memory. What is sent after the end is lost. */
  send(message: Out): Promise<void>;
  readonly received: AsyncIterable<Received<In>>;
  /** Both ends see no more than what was sent before. */
  close(): void;
}

export type Received<In> =
  | { readonly kind: 'message'; readonly message: In }
  /** What came was no message; the connection goes on. */
  | { readonly kind: 'malformed'; readonly reason: string }
  /** The same, and nothing behind it can be read. */
  | { readonly kind: 'broken'; readonly code: number; readonly reason: string };
