// The address on this machine that a browser comes back to after a login (RFC 8252 7.3): one exact path, both loopback
// families, and nothing that a page elsewhere could use. A request with a wrong state is refused and the wait goes on:
// anybody can send one, and it must not end the login of the person who is at it.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';

/** What came back: a code, or the provider's reason why there is none. */
export type Returned =
  | { readonly code: string }
  | { readonly error: string; readonly description: string | undefined };

export interface Loopback {
  readonly redirectUri: string;
  /** Settles once, with the first answer that carries the right state. */
  readonly returned: Promise<Returned>;
  close(): void;
}

export interface LoopbackOptions {
  /** The port that is registered with the provider; any other is chosen by the system. */
  readonly port: number | undefined;
  /** Begins with `/`. */
  readonly path: string;
  /** What is wrong with these parameters of the query; undefined when they are an answer to our question. */
  accept(parameters: URLSearchParams): Returned | undefined;
}

/** Throws `auth-failed` when the port is taken. */
export async function startLoopback({ port, path, accept }: LoopbackOptions): Promise<Loopback> {
  let settle: (returned: Returned) => void = () => {};
  const returned = new Promise<Returned>((resolve) => {
    settle = resolve;
  });
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (!isLoopbackHost(request.headers.host))
      return page(response, 400, 'This address is for this machine alone.');
    if (url.pathname !== path) return page(response, 404, 'There is nothing here.');
    if (request.method !== 'GET') return page(response, 405, 'There is nothing to send here.');
    const found = accept(url.searchParams);
    if (found === undefined)
      return page(response, 400, 'This answer does not belong to the login that is going on.');
    if ('code' in found)
      page(response, 200, 'You are logged in. Go back to Crab; this page can be closed.', true);
    else page(response, 400, 'The login was not completed. Crab says why.');
    settle(found);
  };
  const servers: Server[] = [];
  const close = () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  };
  try {
    const first = await listen(answer, port ?? 0, '127.0.0.1');
    servers.push(first);
    const chosen = portOf(first);
    const second = await listen(answer, chosen, '::1').catch(withoutIpv6);
    if (second !== undefined) servers.push(second);
    // Registered addresses say `localhost`; where any port will do, RFC 8252 8.3 asks for the number.
    const host = port === undefined ? '127.0.0.1' : 'localhost';
    return { redirectUri: `http://${host}:${chosen}${path}`, returned, close };
  } catch (cause) {
    close();
    const what =
      errnoOf(cause) === 'EADDRINUSE' ? 'is used by another program' : `failed (${messageOf(cause)})`;
    throw new CrabError(
      'auth-failed',
      `Port ${port ?? 0} of this machine, which the login comes back to, ${what}.`,
      {
        cause,
        hint: 'Close the program that uses it and try again.',
      },
    );
  }
}

type Listener = (request: IncomingMessage, response: ServerResponse) => void;

function listen(listener: Listener, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, listener);
    server.once('error', reject);
    server.listen({ port, host, exclusive: true }, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve(server);
    });
  });
}

/** Somebody else on the other family would be sent our code; a machine without it is fine. */
function withoutIpv6(error: unknown): undefined {
  if (errnoOf(error) === 'EADDRINUSE') throw error;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** A page elsewhere can make a browser send requests here under a name of its own (DNS rebinding). */
function isLoopbackHost(host: string | undefined): boolean {
  return /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i.test(host ?? '');
}

function page(response: ServerResponse, status: number, text: string, close = false): void {
  const script = close ? '<script>window.close()</script>' : '';
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Crab</title><body style="font: 1.2em sans-serif; margin: 3em"><p>${text}</p>${script}</body></html>\n`;
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(html);
}
