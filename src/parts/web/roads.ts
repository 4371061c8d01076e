// How this room is given the way to a host: direct or through a proxy, with the certificates that the person trusts. The
// host of the program makes it, so that tools and models use the same proxies.

import type { Agent, ClientRequest } from 'node:http';
import type { RequestOptions } from 'node:https';

export interface Road {
  readonly agent: Agent;
  /** Whom the connection is made to in place of the host. */
  readonly proxy?: object;
  /** Certificates of the system are trusted already. */
  readonly isWide: boolean;
  request(options: RequestOptions): ClientRequest;
}

export interface Roads {
  to(url: URL): Road | Promise<Road>;
  /** From here on the certificates of the system count as well. */
  trustSystem(): void;
}
