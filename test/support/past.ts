// A workspace with a history, without a runtime: what calls write is watched and recorded on a tape, as the runtime does it.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createIds } from '../../src/core/ids.ts';
import { userMessage } from '../../src/core/message.ts';
import type { Access } from '../../src/core/permission.ts';
import type { Rewinding } from '../../src/core/rewind.ts';
import type { Tape } from '../../src/core/tape.ts';
import { parseIgnoreRules } from '../../src/parts/files/ignore-rules.ts';
import { createLocalFiles } from '../../src/parts/files/local-files.ts';
import { createHistories, type Histories } from '../../src/parts/history/histories.ts';
import { type FilesRecord, filesEntry } from '../../src/parts/history/record.ts';
import type { HistoryOptions } from '../../src/parts/history/workspace.ts';
import type { Withheld } from '../../src/parts/history/workspace-index.ts';
import { createTapes } from '../../src/parts/tape/tapes.ts';

export interface Past extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly tape: Tape;
  readonly options: HistoryOptions;
  file(name: string): string;
  prompt(text: string): void;
  /** One call of the run: `work` gets the files that it is to write through. */
  call(access: Access['kind'], paths: readonly string[], work: Work): Promise<FilesRecord | undefined>;
  rewinding(): Promise<Rewinding>;
  /** Ends the process, as far as history knows, and begins another. */
  restart(): Promise<void>;
  histories(): Histories;
}

export type Work = (write: (name: string, bytes: Uint8Array) => Promise<void>) => void | Promise<void>;

export interface PastOptions {
  readonly quotaBytes?: number;
  readonly withheld?: Withheld;
  /** Takes the place of what goes on the tape: for planted faults. */
  readonly record?: (record: FilesRecord) => FilesRecord | undefined;
  readonly bounds?: HistoryOptions['bounds'];
  readonly merge?: HistoryOptions['merge'];
}

export async function past(settings: PastOptions = {}): Promise<Past> {
  const { quotaBytes = 1024 ** 3, withheld, record: recordOf = (record) => record, bounds, merge } = settings;
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'crab-history-')));
  const [root, home] = [join(top, 'work'), join(top, 'home')];
  mkdirSync(root);
  mkdirSync(home);
  const clock = {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: () => Promise.reject(new Error('Nothing sleeps here.')),
  };
  const newId = createIds({ now: clock.now, random: Math.random });
  const locked = new Set<string>();
  const options: HistoryOptions = {
    home,
    quotaBytes,
    parseRules: parseIgnoreRules,
    newId,
    now: clock.now,
    monotonic: clock.monotonic,
    lock: async (path) => {
      locked.add(path);
      writeFileSync(`${path}.lock`, '');
      return {
        release: () => {
          locked.delete(path);
          rmSync(`${path}.lock`);
        },
      };
    },
    isLocked: async (path) => locked.has(path),
    ...(bounds !== undefined && { bounds }),
    ...(merge !== undefined && { merge }),
  };
  const tapes = createTapes({ home, clock, random: Math.random });
  const tape = await tapes.create({ agent: 'crab', sender: () => 'cli:test', cwd: root });
  const files = createLocalFiles();
  let histories = createHistories(options);
  let calls = 0;
  const file = (name: string) => join(root, name);
  return {
    root,
    home,
    tape,
    options,
    file,
    prompt: (text) => void tape.append([{ type: 'message', message: userMessage(text, clock.now()) }]),
    async call(kind, paths, work) {
      const access = accessOf(kind, paths.map(file), root);
      const watch = await histories.watch(tape, access, {
        call: `call-${++calls}`,
        cwd: root,
        files,
        withheld: async () => withheld,
        signal: new AbortController().signal,
      });
      await work((name, bytes) => (watch?.files ?? files).write(file(name), bytes));
      const made = await watch?.end();
      const record = made && recordOf(made);
      if (record !== undefined) await tape.append([filesEntry(record)]).synced;
      return made;
    },
    rewinding: () => histories.rewinding(tape),
    async restart() {
      await histories.close();
      histories = createHistories(options);
    },
    histories: () => histories,
    async [Symbol.asyncDispose]() {
      await histories.close();
      await tape.close();
      rmSync(top, { recursive: true, force: true });
    },
  };
}

function accessOf(kind: Access['kind'], paths: readonly string[], cwd: string): Access {
  if (kind === 'command') return { kind, command: 'test', cwd };
  if (kind === 'write') return { kind, paths };
  return { kind: 'none' };
}
