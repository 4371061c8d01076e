// Where a turn's requests may go beside a server that answers: to nobody, or to one whose certificate is no good.

import { createServer } from 'node:net';
import { startFakeProvider } from '../../src/dev/fake-provider.ts';
import { authority, type Issued } from '../support/authority.ts';

export const ENDPOINTS = [
  'plain',
  'nobody listens',
  'no such host',
  'self-signed',
  'expired',
  'wrong host',
  'not HTTP',
] as const;

export type EndpointName = (typeof ENDPOINTS)[number];

/** All but the one that answers, which every conversation has for itself. */
export type BadEndpoints = Readonly<Record<Exclude<EndpointName, 'plain'>, string>>;

export interface OpenEndpoints extends AsyncDisposable {
  readonly urls: BadEndpoints;
}

const ADDRESS = '127.0.0.1';

export async function openEndpoints(): Promise<OpenEndpoints> {
  using issuer = authority();
  const secure = (tls: Issued) => startFakeProvider({ scenario: { replies: [] }, tls });
  const selfMade = await secure(issuer.issue({ selfSigned: true }));
  const expired = await secure(issuer.issue({ to: '20210101000000Z' }));
  const wrongHost = await secure(issuer.issue({ names: 'DNS:other.example' }));
  const chatter = await listenRudely();
  return {
    urls: {
      // A port that was closed a moment ago may be that of the next server.
      'nobody listens': `http://${ADDRESS}:1`,
      'no such host': 'http://host.invalid',
      'self-signed': selfMade.url,
      expired: expired.url,
      'wrong host': wrongHost.url,
      'not HTTP': chatter.url,
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([selfMade.close(), expired.close(), wrongHost.close(), chatter.close()]);
    },
  };
}

/** A server that speaks something else. */
function listenRudely(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((socket) => {
    // What is not read never ends.
    socket.on('error', () => {}).resume();
    socket.end('SSH-2.0-OpenSSH_9.6\r\n');
  });
  return new Promise((resolve) => {
    server.listen(0, ADDRESS, () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      resolve({
        url: `http://${ADDRESS}:${port}`,
        close: () => new Promise((done) => server.close(() => done())),
      });
    });
  });
}
