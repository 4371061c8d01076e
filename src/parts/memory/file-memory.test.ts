import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { Memory } from '../../core/memory.ts';
import { decode } from './crmem.ts';
import { openMemory } from './file-memory.ts';
import { nodeSnapshotFs, type SnapshotFs } from './snapshot.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crab-memory-'));
  path = join(folder, 'deep/crab.crmem');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const clock = {
  now: () => 1_700_000_000_999,
  monotonic: () => 0,
  sleep: async () => {},
};

function memory(fs?: SnapshotFs): Memory {
  return openMemory({ path, clock, lock: async () => () => {}, ...(fs && { fs }) });
}

async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof CrabError) return `${error.code}: ${error.message.replaceAll(folder, 'FOLDER')}`;
    throw error;
  }
  throw new Error('accepted');
}

const add = (name: string, content = '', aliases: readonly string[] = []) =>
  ({ type: 'add', name, content, aliases, kind: 'note' }) as const;

async function names(of: Memory): Promise<readonly string[]> {
  return (await of.entries()).map(({ name }) => name);
}

suite('a memory', () => {
  test('is empty without a file, and a file from the first change on', async () => {
    const one = memory();
    assert.deepEqual(await one.entries(), []);
    assert.deepEqual(readdirSync(folder), []);
    const entry = {
      id: 1n,
      name: 'deploy',
      aliases: ['ship'],
      content: 'steps',
      kind: 'note',
      createdAt: 1_700_000_000n,
    };
    assert.deepEqual(await one.apply(add('deploy', 'steps', ['ship'])), entry);
    assert.deepEqual(await memory().find('ship'), entry);
    assert.deepEqual(readdirSync(join(folder, 'deep')), ['crab.crmem']);
  });

  test('changes nothing where an entry is not what it was taken for', async () => {
    const one = memory();
    await one.apply(add('a', 'first'), add('b', 'second'));
    const operations = [
      { type: 'remove', name: 'b', was: 'second' },
      { type: 'update', name: 'a', content: 'both', aliases: ['b'], was: 'first' },
    ] as const;
    await memory().apply({ type: 'update', name: 'a', content: 'changed' });
    assert.match(
      await refusal(one.apply(...operations)),
      /^memory-taken: The memory "a" was changed meanwhile\.$/,
    );
    assert.deepEqual(await names(one), ['a', 'b']);
    await memory().apply({ type: 'update', name: 'a', content: 'first' });
    await one.apply(...operations);
    assert.deepEqual(await names(one), ['a']);
    assert.equal((await one.find('b'))?.content, 'both');
  });

  test('changes as its operations say, and keeps id, kind and time', async () => {
    const one = memory();
    await one.apply(add('a', 'first', ['x']), add('b'), {
      type: 'add',
      name: 'c',
      content: 'sum',
      kind: 'archive',
    });
    await one.apply({ type: 'update', name: 'x', content: 'second' });
    await one.apply(
      { type: 'alias', name: 'a', aliases: ['y', 'y', 'a'] },
      { type: 'rename', name: 'y', to: 'x' },
    );
    await one.apply(
      { type: 'update', name: 'c', content: 'sum 2', aliases: ['z'] },
      { type: 'remove', name: 'b' },
    );
    const createdAt = 1_700_000_000n;
    assert.deepEqual(await memory().entries(), [
      { id: 1n, name: 'x', aliases: ['y'], content: 'second', kind: 'note', createdAt },
      { id: 3n, name: 'c', aliases: ['z'], content: 'sum 2', kind: 'archive', createdAt },
    ]);
    await one.apply(add('d'));
    assert.equal((await one.find('d'))?.id, 4n);
  });

  test('refuses what would be ambiguous or nameless, and then nothing has changed', async () => {
    const one = memory();
    await one.apply(add('a', '', ['x']));
    const before = readFileSync(path);
    for (const [operation, message] of [
      [add('a'), 'memory-taken: There is a memory called "a" already.'],
      [add('x'), 'memory-taken: There is a memory called "x" (an alias of "a") already.'],
      [add('b', '', ['a']), 'memory-taken: There is a memory called "a" already.'],
      [{ type: 'remove', name: 'b' }, 'memory-unknown: There is no memory called "b".'],
      [add(''), 'usage: "" cannot be the name of a memory.'],
      [add(' a'), 'usage: " a" cannot be the name of a memory.'],
      [add('a\nb'), 'usage: "a\\nb" cannot be the name of a memory.'],
      [add('é'.repeat(128)), `usage: "${'é'.repeat(128)}" cannot be the name of a memory.`],
      [add('b', 'x'.repeat(1024 * 1024 + 1)), 'usage: A memory may have 1048576 bytes of text, not 1048577.'],
    ] as const)
      assert.equal(await refusal(one.apply(add('first'), operation)), message);
    assert.deepEqual(readFileSync(path), before);
    assert.deepEqual(await names(one), ['a']);
  });

  test('is found by its words, its name and its aliases, best first', async () => {
    const one = memory();
    await one.apply(
      add('deploy', 'Run the release script, then watch the dashboards.', ['ship', '発布手順']),
      add('style', 'Use parseHttpUrl and not new URL. Résumé of the rules.'),
      add('filler', 'the the the then'),
    );
    const found = async (query: string) => (await one.search(query, 10)).map(({ entry }) => entry.name);
    assert.deepEqual(await found('release'), ['deploy']);
    assert.deepEqual(await found('SHIP'), ['deploy']);
    assert.deepEqual(await found('発布'), ['deploy']);
    assert.deepEqual(await found('parse http'), ['style']);
    assert.deepEqual(await found('parsehttpurl'), ['style']);
    assert.deepEqual(await found('resume'), ['style']);
    assert.deepEqual((await found('release the')).slice(0, 1), ['deploy']);
    assert.deepEqual(await found('nowhere'), []);
    assert.deepEqual(await found('...'), []);
    assert.equal((await one.search('the', 2)).length, 2);
    await one.apply({ type: 'remove', name: 'deploy' });
    assert.deepEqual(await found('release'), []);
  });

  test('is one for all who opened it', async () => {
    const [one, other] = [memory(), memory()];
    await one.apply(add('a'));
    await other.apply(add('b'));
    await one.apply(add('c'));
    assert.deepEqual(await names(one), ['a', 'b', 'c']);
    assert.deepEqual(await names(other), ['a', 'b', 'c']);
    assert.equal(await refusal(other.apply(add('a'))), 'memory-taken: There is a memory called "a" already.');
  });

  test('keeps a change that the disk did not take, and writes it with the next', async () => {
    let full = true;
    const one = memory({
      ...nodeSnapshotFs,
      write(descriptor, bytes) {
        if (full) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
        nodeSnapshotFs.write(descriptor, bytes);
      },
    });
    assert.match(
      await refusal(one.apply(add('a'))),
      /^storage-full: The memory .* could not be written: no space left/,
    );
    assert.deepEqual(await names(one), ['a']);
    await memory().apply(add('b'));
    assert.deepEqual(await names(one), ['b', 'a']);
    full = false;
    await one.checkpoint();
    assert.deepEqual(await names(memory()), ['b', 'a']);
  });

  test('that cannot be read is refused and left as it is', async () => {
    await memory().apply(add('a'));
    writeFileSync(path, 'nonsense');
    assert.match(await refusal(memory().apply(add('b'))), /^memory-damaged: .*it does not begin as one\.$/);
    assert.equal(readFileSync(path, 'utf8'), 'nonsense');
  });

  test('that a pipe stands in for is refused and not waited for', async () => {
    await memory().apply(add('a'));
    rmSync(path);
    execFileSync('mkfifo', [path]);
    assert.match(await refusal(memory().entries()), /^memory-damaged: .* is no regular file\.$/);
  });
});

/** What is on a disk whose power fails: what was not synced may be there, or not. */
interface Disk {
  readonly log: string[];
  readonly fs: SnapshotFs;
}

function recordingDisk(synced: boolean): Disk {
  const log: string[] = [];
  const paths = new Map<number, string>();
  return {
    log,
    fs: {
      ...nodeSnapshotFs,
      open(file, flags, mode) {
        const descriptor = nodeSnapshotFs.open(file, flags, mode);
        paths.set(descriptor, file.replace(folder, ''));
        return descriptor;
      },
      write(descriptor, bytes) {
        log.push(`write ${paths.get(descriptor)}`);
        nodeSnapshotFs.write(descriptor, bytes);
      },
      sync(descriptor) {
        if (!synced) return;
        log.push(`sync ${paths.get(descriptor)}`);
        nodeSnapshotFs.sync(descriptor);
      },
      rename(from, to) {
        log.push(`rename ${from.replace(folder, '')}`);
        nodeSnapshotFs.rename(from, to);
      },
    },
  };
}

/** The order that makes a replaced file durable; undefined where it is kept. */
function fault(log: readonly string[]): string | undefined {
  const at = (what: string) => log.indexOf(what);
  if (at('sync /deep/crab.crmem.tmp') < at('write /deep/crab.crmem.tmp')) return 'not synced before';
  if (at('rename /deep/crab.crmem.tmp') < at('sync /deep/crab.crmem.tmp'))
    return 'renamed before it was synced';
  if (at('sync /deep') < at('rename /deep/crab.crmem.tmp')) return 'the folder is not synced';
  return undefined;
}

suite('a memory on disk', () => {
  test('is synced before it takes the old one’s place, and its folder after', async () => {
    const disk = recordingDisk(true);
    await memory(disk.fs).apply(add('a'));
    assert.equal(fault(disk.log), undefined);
  });

  test('without the sync that check fails', async () => {
    const disk = recordingDisk(false);
    await memory(disk.fs).apply(add('a'));
    assert.equal(fault(disk.log), 'not synced before');
  });

  test('whatever call fails, the file is the old one or the new one', async () => {
    for (const call of ['open', 'write', 'sync', 'close', 'rename', 'makeFolder'] as const) {
      for (let skip = 0; skip < 2; skip++) {
        rmSync(join(folder, 'deep'), { recursive: true, force: true });
        await memory().apply(add('old'));
        let left = skip;
        const original = nodeSnapshotFs[call] as (...args: unknown[]) => unknown;
        const fs = {
          ...nodeSnapshotFs,
          [call]: (...args: unknown[]) => {
            if (left-- === 0) throw Object.assign(new Error('EIO'), { code: 'EIO' });
            return original(...args);
          },
        };
        await memory(fs)
          .apply(add('new'))
          .catch(() => {});
        const kept = decode(readFileSync(path), path).entries.map(({ name }) => name);
        assert.ok(kept.join() === 'old' || kept.join() === 'old,new', `${call} ${skip}: ${kept}`);
        await memory().apply(add('after'));
      }
    }
  });
});
