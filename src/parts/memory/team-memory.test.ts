import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { Memory } from '../../core/memory.ts';
import { openTeamMemory } from './team-memory.ts';

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'crab-team-'));
  folder = join(root, '.crab/memory');
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const clock = { now: () => 1_700_000_000_999, monotonic: () => 0, sleep: async () => {} };

const open = (): Memory =>
  openTeamMemory({
    folder,
    clock,
    lock: async () => () => {},
    redact: (text) => text.replaceAll('hunter two is mine', '[redacted]'),
  });

const add = (name: string, content: string, aliases: readonly string[] = []) =>
  ({ type: 'add', kind: 'note', name, content, aliases }) as const;

async function refusal(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof CrabError) return `${error.code}: ${error.message.replaceAll(root, 'ROOT')}`;
    throw error;
  }
  throw new Error('accepted');
}

const contents = async (memory: Memory) =>
  (await memory.entries()).map(({ name, content }) => [name, content]);

const faults = async (memory: Memory) =>
  ((await memory.faults?.()) ?? []).map((fault) => fault.replaceAll(root, 'ROOT'));

suite('a memory that a team shares', () => {
  test('is a file for each note, which others read with the repository', async () => {
    const mine = open();
    await mine.apply(add('Release: how', 'Run make ship.\n', ['ship']));
    assert.deepEqual(readdirSync(folder), ['release_how.md']);
    assert.equal(
      readFileSync(join(folder, 'release_how.md'), 'utf8'),
      '---\nname: "Release: how"\naliases: ["ship"]\ncreated: "2023-11-14T22:13:20Z"\n' +
        'description: "Run make ship."\ntype: project\n---\nRun make ship.\n',
    );
    const theirs = open();
    assert.deepEqual(await theirs.find('ship'), {
      id: 1n,
      name: 'Release: how',
      aliases: ['ship'],
      content: 'Run make ship.\n',
      kind: 'note',
      createdAt: 1_700_000_000n,
    });
    await theirs.apply({ type: 'update', name: 'ship', content: 'Ask Ada.' });
    await theirs.apply(add('style', 'tabs'));
    assert.deepEqual(await contents(mine), [
      ['Release: how', 'Ask Ada.'],
      ['style', 'tabs'],
    ]);
    assert.deepEqual(
      (await mine.search('ada', 5)).map(({ entry }) => entry.name),
      ['Release: how'],
    );
    await mine.apply({ type: 'remove', name: 'ship' });
    assert.deepEqual(readdirSync(folder), ['style.md']);
  });

  test('is replaced as a whole, and a note that stays keeps its file', async () => {
    const memory = open();
    await memory.apply(add('a', 'one'), add('b', 'two'));
    const note = (name: string, content: string) =>
      ({ name, content, aliases: [], kind: 'note', createdAt: 5n }) as const;
    await memory.replace([note('b', 'new'), note('c', 'three')]);
    assert.deepEqual(readdirSync(folder), ['b.md', 'c.md']);
    assert.deepEqual(await contents(memory), [
      ['b', 'new'],
      ['c', 'three'],
    ]);
  });

  test('takes no secret, by its look or because it is known, and no archive', async () => {
    const memory = open();
    for (const secret of ['key: ghp_0123456789abcdefghijABCDEFGHIJ012345', 'hunter two is mine'])
      assert.match(
        await refusal(memory.apply(add('login', secret))),
        /^usage: The note "login" was not written to ROOT\/\.crab\/memory: something in it looks like a secret \(/,
      );
    assert.match(
      await refusal(memory.apply({ type: 'add', kind: 'archive', name: 'x', content: 'y' })),
      /^usage: A shared memory holds notes only/,
    );
    assert.deepEqual(await memory.entries(), []);
    assert.throws(() => readdirSync(folder), /ENOENT/);
  });

  test('passes over what cannot be read, says so, and goes on when it is mended', async () => {
    const memory = open();
    await memory.apply(add('good', 'text'));
    const put = (file: string, text: string | Uint8Array) => writeFileSync(join(folder, file), text);
    put('head.md', '---\nname: x\n');
    put('bytes.md', Uint8Array.of(0xff, 0xfe));
    put('merged.md', 'One.\n<<<<<<< HEAD\nTwo.\n=======\nThree.\n>>>>>>> theirs\n');
    put('second.md', '---\nname: good\n---\nother');
    put('README.md', 'What this is.');
    symlinkSync('/etc/hostname', join(folder, 'link.md'));
    assert.deepEqual(await contents(memory), [['good', 'text']]);
    const told = await faults(memory);
    assert.deepEqual(
      told.map((fault) => /^A note is passed over: \S*memory\/(\w+\.md)[: ]/.exec(fault)?.[1]),
      ['bytes.md', 'head.md', 'link.md', 'merged.md', 'second.md'],
    );
    for (const file of ['bytes.md', 'head.md', 'link.md', 'second.md']) unlinkSync(join(folder, file));
    put('merged.md', 'One.\nThree.\n');
    assert.deepEqual(await contents(memory), [
      ['good', 'text'],
      ['merged', 'One.\nThree.\n'],
    ]);
    assert.deepEqual(await faults(memory), []);
  });

  test('does not follow a folder that is a link', async () => {
    const elsewhere = join(root, 'private');
    mkdirSync(elsewhere);
    writeFileSync(join(elsewhere, 'diary.md'), 'Dear diary.');
    mkdirSync(join(root, '.crab'));
    symlinkSync(elsewhere, folder);
    const memory = open();
    assert.deepEqual(await memory.entries(), []);
    assert.deepEqual(await faults(memory), ['ROOT/.crab/memory is no folder, or a link to one.']);
    assert.match(await refusal(memory.apply(add('a', 'b'))), /^memory-damaged: /);
    assert.deepEqual(readdirSync(elsewhere), ['diary.md']);
  });
});
