// Every step of a write is made to fail, once with the cleaning-up after it and once as a kill, after which nothing
// more is done. The campaign must also find a write that is not atomic: it is planted in the last test.

import assert from 'node:assert/strict';
import * as promises from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { createTestFolder } from '../../../test/support/tool-folder.ts';
import { atomicWrite, type WriteSystem } from './atomic-write.ts';

class Planned extends Error {
  readonly code = 'EIO';
}

/** A system whose step number `failing` fails; `killed`: and all after it. Counts the steps taken. */
function faulty(failing: number, killed: boolean) {
  let steps = 0;
  const guard =
    <Arguments extends unknown[], Result>(step: (...args: Arguments) => Promise<Result>) =>
    async (...args: Arguments): Promise<Result> => {
      const at = steps++;
      if (at === failing || (killed && at > failing)) throw new Planned(`step ${at}`);
      return step(...args);
    };
  const opened: promises.FileHandle[] = [];
  const system: WriteSystem = {
    access: guard(promises.access),
    mkdir: guard(promises.mkdir) as typeof promises.mkdir,
    rename: guard(promises.rename),
    stat: guard(promises.stat) as typeof promises.stat,
    unlink: guard(promises.unlink),
    open: guard(async (...args: Parameters<typeof promises.open>) => {
      const handle = await promises.open(...args);
      opened.push(handle);
      return new Proxy(handle, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          // Half of the bytes arrive before a write fails.
          if (name === 'writeFile')
            return guard(async (bytes: Uint8Array) => {
              await target.write(bytes.subarray(0, bytes.length / 2));
              await guard(async () => target.write(bytes.subarray(bytes.length / 2)))();
            });
          if (typeof value !== 'function') return value;
          const method = value.bind(target);
          return name === 'close' ? method : guard(method);
        },
      });
    }),
  };
  const close = () => Promise.all(opened.map((handle) => handle.close().catch(() => {})));
  return { system, close, steps: () => steps };
}

type Write = (path: string, bytes: Uint8Array, system: WriteSystem) => Promise<void>;

/** Fails each step in turn; returns what was found wrong. */
async function campaign(
  write: Write,
): Promise<{ readonly runs: number; readonly faults: readonly string[] }> {
  await using folder = await createTestFolder();
  const path = folder.at('file.txt');
  const [before, after] = ['old content\n'.repeat(100), 'new content, longer\n'.repeat(100)];
  const faults: string[] = [];
  let runs = 0;
  for (const killed of [false, true]) {
    for (let failing = 0; ; failing++) {
      await promises.writeFile(path, before);
      const { system, close, steps } = faulty(failing, killed);
      const failed = await write(path, Buffer.from(after), system).then(
        () => false,
        () => true,
      );
      await close();
      if (steps() <= failing) break;
      runs++;
      const found = await promises.readFile(path, 'utf8');
      const name = `step ${failing}${killed ? ', killed' : ''}`;
      if (found !== before && found !== after) faults.push(`${name}: neither old nor new`);
      if (!failed && found !== after) faults.push(`${name}: said to be done`);
      const left = (await promises.readdir(folder.path)).filter((each) => each !== 'file.txt');
      if (!killed && left.length > 0) faults.push(`${name}: left ${left.join(', ')}`);
      for (const each of left) {
        if (!each.startsWith('.')) faults.push(`${name}: ${each} is in the way`);
        await promises.unlink(join(folder.path, each));
      }
    }
  }
  return { runs, faults };
}

describe('atomicWrite', () => {
  test('leaves the old content or the new, whichever step fails', async () => {
    const { runs, faults } = await campaign(atomicWrite);
    assert.deepEqual(faults, []);
    assert.ok(runs >= 20, `${runs} steps were made to fail`);
  });

  test('the campaign finds a write that is not atomic', async () => {
    const { faults } = await campaign(async (path, bytes, system) => {
      const handle = await system.open(path, 'w');
      try {
        await handle.writeFile(bytes);
      } finally {
        await handle.close();
      }
    });
    assert.ok(faults.some((fault) => fault.endsWith('neither old nor new')));
  });

  test('syncs the file before the rename, and the folder after it', async () => {
    await using folder = await createTestFolder();
    const order: string[] = [];
    const system: WriteSystem = {
      ...promises,
      open: async (...args) => {
        const handle = await promises.open(...args);
        const sync = handle.sync.bind(handle);
        handle.sync = () => {
          order.push(args[0] === folder.path ? 'sync folder' : 'sync file');
          return sync();
        };
        return handle;
      },
      rename: (...args) => {
        order.push('rename');
        return promises.rename(...args);
      },
    };
    await atomicWrite(folder.at('a'), Buffer.from('x'), system);
    assert.deepEqual(order, ['sync file', 'rename', 'sync folder']);
  });
});
