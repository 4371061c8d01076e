// What a tool is given, for tests of single tools: everything that they do not bring themselves refuses.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../src/core/host.ts';
import type { ToolContext } from '../../src/core/tool.ts';

export const realClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms, signal) => sleep(ms, undefined, signal && { signal }),
};

const refused = (what: string) => () => {
  throw new Error(`${what} was not expected`);
};

export function toolContext(cwd: string, changes: Partial<ToolContext> = {}): ToolContext {
  return {
    callId: 'call-1',
    identity: { agent: 'crab', sender: 'cli:test', session: 'test', cwd, mode: 'default' },
    signal: new AbortController().signal,
    clock: realClock,
    exec: async () => refused('a program')(),
    open: async () => refused('a program')(),
    files: {
      info: async () => refused('a file')(),
      resolve: async () => refused('a file')(),
      read: async () => refused('a file')(),
      write: async () => refused('a file')(),
      remove: async () => refused('a file')(),
      list: async () => refused('a file')(),
    },
    jobs: {
      start: async () => refused('a job')(),
      list: () => [],
      get: refused('a job'),
      read: async () => refused('a job')(),
      wait: async () => refused('a job')(),
      write: async () => refused('a job')(),
      seen: refused('a job'),
      stop: async () => refused('a job')(),
    },
    tools: { list: () => [], offer: refused('an offer') },
    control: {
      setMode: async () => refused('a mode')(),
      setName: async () => refused('a name')(),
      setFolder: async () => refused('a folder')(),
      snip: async () => refused('a snip')(),
    },
    state: { get: () => undefined, set: () => {} },
    withheld: async () => undefined,
    permits: async () => ({ decision: 'ask', reason: 'Nothing is known of it.' }),
    scratch: async () => refused('a scratch folder')(),
    output: () => {},
    progress: () => {},
    notify: refused('a notification'),
    ask: async () => refused('a question')(),
    peers: [],
    run: refused('a task'),
    remembered: () => {},
    ...changes,
  };
}
