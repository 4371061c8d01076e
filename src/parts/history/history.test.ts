// Interrupted rewinds, the quota, bounds, and what survives a restart.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { past } from '../../../test/support/past.ts';
import { collect } from './collect.ts';
import { bytesOf, hashOf, openContentStore, packsIn } from './content-store.ts';
import { journalPath, writeJournal } from './journal.ts';
import { mergeBytes } from './merge.ts';
import { rewindRecordOf } from './record.ts';
import { restore } from './restore.ts';
import { workspaceFolder } from './workspace.ts';

const ALL = { what: 'both', dryRun: false } as const;
const bytes = (text: string) => Buffer.from(text);

for (const steps of [0, 1, 2, 3, 4]) {
  test(`a rewind that was interrupted after ${steps} of 4 steps is finished at the next open`, async () => {
    await using at = await past();
    for (const name of ['a', 'b', 'c']) fs.writeFileSync(at.file(name), 'before\n');
    at.prompt('change');
    await at.call('command', [], () => {
      for (const name of ['a', 'b', 'c', 'd']) fs.writeFileSync(at.file(name), 'after\n');
    });
    await at.restart();
    const folder = workspaceFolder(at.home, at.root);
    const store = openContentStore(join(folder, 'packs'), at.options.newId);
    const state = (text: string) =>
      ({ kind: 'file', hash: hashOf(bytes(text)), size: text.length, mode: 0o644 }) as const;
    const changed = ['a', 'b', 'c'].map((name) => ({
      path: at.file(name),
      before: { ...state('after\n'), mode: fs.statSync(at.file(name)).mode & 0o7777 },
      after: state('before\n'),
    }));
    const made = {
      path: at.file('d'),
      before: changed[0]?.before ?? state(''),
      after: { kind: 'absent' } as const,
    };
    const all = [made, ...changed];
    const record = { id: 'R1', what: 'both', from: at.tape.leafId, undo: all, changes: [] } as const;
    writeJournal(journalPath(folder, at.tape.header.id), { head: { to: null }, steps: all, record });
    let count = 0;
    const stop = () => {
      if (count++ === steps) throw new Error('killed');
    };
    if (steps < 4) assert.throws(() => restore(all, store, stop), /killed/);
    else restore(all, store, stop);
    store.close();
    const notices = await at.histories().recover(at.tape);
    assert.deepEqual(notices, ['A rewind that was interrupted has been finished: 4 files put back.']);
    assert.deepEqual(fs.readdirSync(at.root).sort(), ['a', 'b', 'c']);
    for (const name of ['a', 'b', 'c']) assert.equal(fs.readFileSync(at.file(name), 'utf8'), 'before\n');
    assert.deepEqual(
      [...at.tape.branch()].map((entry) => rewindRecordOf(entry)?.id),
      ['R1'],
    );
    assert.deepEqual(await at.histories().recover(at.tape), []);
  });
}

test('the quota drops what no session names first, and then the oldest; going back says what is gone', async () => {
  await using at = await past();
  const noise = (seed: number) =>
    Buffer.from(Array.from({ length: 40_000 }, (_, n) => (Math.imul(n + 1, seed * 2654435761) >>> 13) & 255));
  for (let file = 0; file < 10; file++) fs.writeFileSync(at.file(`f${file}`), noise(file + 1));
  at.prompt('change');
  await at.call('command', [], () => fs.writeFileSync(at.file('f0'), 'after\n'));
  await at.restart();
  const packs = join(workspaceFolder(at.home, at.root), 'packs');
  const before = bytesOf(packsIn(packs));
  await collect(at.options, { always: true });
  assert.ok(bytesOf(packsIn(packs)) < before / 4, 'contents that no session names are still there');
  const dry = await (await at.rewinding()).rewind('1', { ...ALL, dryRun: true });
  assert.deepEqual(dry.restored, [{ path: at.file('f0'), how: 'restored' }]);
  await at.restart();
  await collect({ ...at.options, quotaBytes: 10 });
  assert.deepEqual(packsIn(packs), []);
  const report = await (await at.rewinding()).rewind('1', ALL);
  assert.deepEqual(report.unavailable, [{ path: at.file('f0'), why: 'its content is no longer kept' }]);
  assert.equal(fs.readFileSync(at.file('f0'), 'utf8'), 'after\n');
});

test('a workspace that another process uses is left alone', async () => {
  await using at = await past({ quotaBytes: 10 });
  fs.writeFileSync(at.file('a'), 'before\n');
  at.prompt('change');
  await at.call('write', ['a'], (write) => write('a', bytes('after\n')));
  const { before, after } = await collect({ ...at.options, isLocked: async () => true });
  assert.ok(before > 10);
  assert.equal(after, before);
});

test('beyond the bounds nothing is promised, and it is said', async () => {
  const bounds = { maxFiles: 1000, maxFileBytes: 10, maxNewBytes: 1000, maxWaitMs: 60_000 };
  await using at = await past({ bounds });
  fs.writeFileSync(at.file('large'), 'much too large\n');
  at.prompt('change');
  await at.call('command', [], () => fs.writeFileSync(at.file('large'), 'larger than it may be\n'));
  const report = await (await at.rewinding()).rewind('1', ALL);
  assert.deepEqual(
    { unavailable: report.unavailable.map(({ path }) => path), uncovered: report.uncovered },
    {
      unavailable: [at.file('large')],
      uncovered: ['Commands may have changed what is not covered: 1 too large.'],
    },
  );
  assert.equal(fs.readFileSync(at.file('large'), 'utf8'), 'larger than it may be\n');
});

test('what made room for something that cannot come is on record, so that it comes back', async () => {
  await using at = await past();
  fs.mkdirSync(at.file('b'));
  fs.symlinkSync('/nowhere', at.file('b/link'));
  const store = openContentStore(join(at.home, 'packs'), at.options.newId);
  const hash = store.put(bytes('a file\n'));
  const folder = { kind: 'folder', mode: 0o755 } as const;
  const link = { kind: 'link', target: '/nowhere' } as const;
  const file = { kind: 'file', hash, size: 7, mode: 0o644 } as const;
  const steps = [
    { path: at.file('b'), before: folder, after: file },
    { path: at.file('b/link'), before: link, after: folder },
  ];
  const { done, left } = restore(steps, store);
  store.close();
  assert.deepEqual(
    left.map(({ path }) => path),
    [at.file('b/link')],
  );
  assert.deepEqual(done, [steps[0], { ...steps[1], after: { kind: 'absent' } }]);
});

test('files of a folder that stops being ignored during a command do not count as made by it', async () => {
  await using at = await past();
  fs.mkdirSync(at.file('data'));
  fs.writeFileSync(at.file('data/mine'), 'mine\n');
  fs.writeFileSync(at.file('.gitignore'), 'data/\n');
  at.prompt('change');
  await at.call('command', [], () => fs.rmSync(at.file('.gitignore')));
  await (await at.rewinding()).rewind('1', ALL);
  assert.deepEqual(fs.readdirSync(at.root).sort(), ['.gitignore', 'data']);
  assert.equal(fs.readFileSync(at.file('data/mine'), 'utf8'), 'mine\n');
});

test('a content that is damaged on disk never takes the place of a file', async () => {
  await using at = await past();
  fs.writeFileSync(at.file('a'), 'before\n');
  at.prompt('change');
  await at.call('write', ['a'], (write) => write('a', bytes('after\n')));
  await at.restart();
  for (const pack of packsIn(join(workspaceFolder(at.home, at.root), 'packs'))) {
    const content = fs.readFileSync(pack);
    fs.writeFileSync(pack, content.fill(7, content.length - 8));
  }
  const report = await (await at.rewinding()).rewind('1', ALL);
  assert.deepEqual(report.restored, []);
  assert.equal(fs.readFileSync(at.file('a'), 'utf8'), 'after\n');
});

for (const [name, ours, theirs, expected] of [
  ['apart', 'A\nb\nc\nd\n', 'a\nb\nc\nD\n', 'A\nb\nc\nD\n'],
  ['the same', 'A\nb\nc\nd\n', 'A\nb\nc\nd\n', 'A\nb\nc\nd\n'],
  ['line ends kept', 'a\nb\nc\nd\r\n', 'A\r\nb\nc\nd\n', 'A\r\nb\nc\nd\r\n'],
  ['no last line end', 'a\nb\nc\nd', 'A\nb\nc\nd\n', 'A\nb\nc\nd'],
  ['adjoining', 'A\nb\nc\nd\n', 'a\nB\nc\nd\n', undefined],
  ['the same line', 'A\nb\nc\nd\n', 'X\nb\nc\nd\n', undefined],
  ['no text', 'A\nb\nc\nd\u0000', 'a\nb\nc\nD\n', undefined],
] as const) {
  test(`merging changes: ${name}`, async () => {
    const merged = await mergeBytes(bytes('a\nb\nc\nd\n'), bytes(ours), bytes(theirs));
    assert.equal(merged?.toString(), expected);
  });
}
