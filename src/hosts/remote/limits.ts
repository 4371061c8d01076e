// What one client, and all of them together, may take of this machine.

export interface Limits {
  readonly clients: number;
  /** Of these, those that have not said who they are. */
  readonly strangers: number;
  /** Bytes that one of those may send, and milliseconds that it may take. */
  readonly strangerBytes: number;
  readonly strangerMs: number;
  /** Messages a second that are read of a client, and how many at once after a silence. */
  readonly rate: number;
  readonly burst: number;
  /** Bytes that wait for a client to read them, and milliseconds after which one that does not is dropped. */
  readonly queueBytes: number;
  readonly stallMs: number;
  /** Milliseconds between pings; a client that has not answered one by the next is gone. */
  readonly pingMs: number;
  /** Milliseconds that a request's head may take, and a TLS handshake. */
  readonly headMs: number;
}

export const LIMITS: Limits = {
  clients: 256,
  strangers: 64,
  strangerBytes: 64 * 1024,
  strangerMs: 10_000,
  rate: 200,
  burst: 400,
  queueBytes: 8 * 1024 * 1024,
  stallMs: 30_000,
  pingMs: 30_000,
  headMs: 10_000,
};

/** What a WebSocket is closed with (RFC 6455, 7.4.1; from 4000 on our own). */
export const CLOSE = {
  leaving: 1001,
  notText: 1003,
  refused: 1008,
  tooLarge: 1009,
  unknown: 4401,
  tooSlow: 4408,
} as const;
