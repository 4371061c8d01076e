// What the tests of this room share: a home of their own, a clock that they move, and chance that repeats.

import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { SessionInfo } from '../../core/conversation.ts';
import type { Clock } from '../../core/host.ts';
import type { EntryBody, SessionMeta } from '../../core/tape.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { nodeSyncFs, type SyncFs } from './sync-fs.ts';

export interface TempFolder extends AsyncDisposable {
  readonly path: string;
}

export async function tempFolder(parent = process.env['TMPDIR'] ?? '/tmp'): Promise<TempFolder> {
  const path = await mkdtemp(join(parent, 'crab-tape-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Time stands still until `advance`. */
export interface TestClock extends Clock {
  advance(ms: number): void;
}

export function testClock(start = Date.UTC(2030, 0, 1)): TestClock {
  let passed = 0;
  return {
    now: () => start + passed,
    monotonic: () => passed,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Math.min(ms, 1))),
    advance: (ms) => {
      passed += ms;
    },
  };
}

export function userSays(content: string): EntryBody {
  return { type: 'message', message: { role: 'user', content, timestamp: 1 } };
}

export function answerSays(text: string): EntryBody {
  return {
    type: 'message',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text }],
      api: 'test-wire',
      provider: 'test',
      model: 'model-1',
      usage: NO_USAGE,
      stopReason: 'stop',
      timestamp: 2,
    },
  };
}

/** The real file system, its parts replaced by `changes`. */
export function diskWith(changes: Partial<SyncFs>): SyncFs {
  return { ...nodeSyncFs, ...changes };
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made by a test`), { code });
}

/** What a tape says of itself, from what a list says of it. */
export function infoOf({ id, path, name, cwd, messages }: SessionMeta): SessionInfo {
  return { id, path, ...(name !== undefined && { name }), cwd, messages };
}
