// What stands between a tool and the network: which addresses may be reached at all, whatever the permission rules say
// of a host's name. A name is looked up once, and the connection is made to the very addresses that were judged.

export interface NetworkAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

export interface NetworkGuard {
  /**
   * Where a connection for this URL may be made to: never none. Rejects with `ToolFailure` for what may not be reached,
   * and with the signal's reason when it aborts first.
   */
  check(url: string, signal: AbortSignal): Promise<readonly NetworkAddress[]>;
}

/** What the system's codes for a connection that was never made mean, in words that end a sentence. */
export const NETWORK_FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the name could not be looked up',
  ETIMEDOUT: 'the connection timed out',
  ENETUNREACH: 'the network cannot be reached',
  EHOSTUNREACH: 'the host cannot be reached',
};
