// A server of the protocol in which every method refuses, for tests that need a few of them.

import { RequestFailure } from '../../src/protocol/failure.ts';
import type { Server } from '../../src/protocol/server.ts';

const no = async (): Promise<never> => {
  throw new RequestFailure(404, 'not served here');
};

// biome-ignore lint/correctness/useYield: it refuses
async function* none(): AsyncGenerator<never, void> {
  throw new RequestFailure(404, 'not served here');
}

export function wireServer(methods: Partial<Server>): Server {
  return {
    hello: async ({ capabilities }) => ({
      version: 2,
      server: 'test',
      capabilities,
      home: '/home',
      pid: 1,
      basis: [],
    }),
    send: no,
    stream: none,
    ping: async () => {},
    sessions: no,
    kill: no,
    getConfig: no,
    setConfig: no,
    reload: no,
    subscribeEvents: none,
    replyToAsk: no,
    replyToPermission: no,
    getStats: no,
    compact: no,
    generateTitle: no,
    subscribeEvent: no,
    unsubscribeEvent: no,
    listSubscriptions: no,
    publishEvent: no,
    listAgents: no,
    upsertAgent: no,
    deleteAgent: no,
    listMcps: no,
    upsertMcp: no,
    deleteMcp: no,
    open: no,
    enter: no,
    prompt: none,
    answer: no,
    control: no,
    leave: no,
    watch: none,
    ...methods,
  };
}
