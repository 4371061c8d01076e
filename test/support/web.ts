// Servers and roads for the tests of the web: real connections, with names that lead where a test wants.

import { Agent, createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Documents } from '../../src/core/document.ts';
import type { NetworkAddress } from '../../src/core/network.ts';
import type { JsonObject } from '../../src/core/schema.ts';
import type { ToolContext } from '../../src/core/tool.ts';
import { createDocuments } from '../../src/parts/documents/documents.ts';
import { createSend, type Send } from '../../src/parts/web/exchange.ts';
import { createGuard, type GuardOptions } from '../../src/parts/web/guard.ts';
import { createReader, type ReadWeb } from '../../src/parts/web/read-web.ts';
import type { Roads } from '../../src/parts/web/roads.ts';

export const directRoads: Roads = {
  to: () => ({ agent: new Agent(), isWide: true, request }),
  trustSystem() {},
};

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  /** The paths that were asked for, with their hosts. */
  readonly asked: readonly string[];
}

export async function serve(listener: RequestListener): Promise<TestServer> {
  const asked: string[] = [];
  const server = createServer((incoming, answer) => {
    asked.push(`${incoming.headers.host?.replace(/:\d+$/, '')}${incoming.url}`);
    listener(incoming, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const LOOPBACK: NetworkAddress = { address: '127.0.0.1', family: 4 };

export interface TestWeb {
  readonly send: Send;
  readonly documents: Documents;
  /** Where nothing is said of it, no host is allowed beforehand. */
  read(input: JsonObject, signal: AbortSignal, permits?: ToolContext['permits']): ReturnType<ReadWeb>;
}

const ASK: ToolContext['permits'] = async () => ({ decision: 'ask', reason: 'No rule names it.' });

/** `*.test` leads to this machine and is allowed; every other name leads where `resolve` says. */
export function testWeb({
  timeoutMs = 60_000,
  ...options
}: GuardOptions & { readonly timeoutMs?: number } = {}): TestWeb {
  const send = createSend({ roads: directRoads, userAgent: 'test', timeoutMs });
  const { resolve = async () => [LOOPBACK] } = options;
  const guard = createGuard({ privateHosts: ['*.test'], ...options, resolve });
  const documents = createDocuments();
  const read = createReader({ send, guard, documents, now: () => performance.now() });
  return { send, documents, read: (input, signal, permits = ASK) => read(input, { signal, permits }) };
}
