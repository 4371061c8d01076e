import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findInstructions } from './instructions.ts';

/** A file system of texts; a null is something that is no file, an error is one that cannot be read. */
function filesOf(contents: Readonly<Record<string, string | null | Error>>) {
  return {
    info: async (path: string) => {
      const found = contents[path];
      if (found === undefined) return undefined;
      const kind = found === null ? 'other' : 'file';
      const size = typeof found === 'string' ? Buffer.byteLength(found) : 10;
      return { kind, size, modified: 0, mode: 0o644 } as const;
    },
    read: async (path: string, range?: { readonly offset: number; readonly length: number }) => {
      const found = contents[path];
      if (found instanceof Error) throw found;
      return Buffer.from(found ?? '').subarray(0, range?.length);
    },
  };
}

const search = (contents: Parameters<typeof filesOf>[0], cwd = '/work/app') =>
  findInstructions({ files: filesOf(contents), cwd, home: '/home/.crab' });

test('files speak from the home folder and from the root down, the nearest last', async () => {
  const found = await search({
    '/work/app/AGENTS.md': 'app',
    '/work/CLAUDE.md': 'work',
    '/AGENTS.md': 'root',
    '/home/.crab/AGENTS.md': 'mine',
    '/work/app/src/AGENTS.md': 'below, not ours',
  });
  assert.deepEqual(
    found.files.map(({ text }) => text),
    ['mine', 'root', 'work', 'app'],
  );
});

test('of two names for one thing the first is read, and Crab.md beside them', async () => {
  const found = await search({
    '/work/app/CLAUDE.md': 'claude',
    '/work/app/AGENTS.md': 'agents',
    '/work/app/Crab.md': 'crab',
  });
  assert.deepEqual(
    found.files.map(({ text }) => text),
    ['crab', 'agents'],
  );
});

test('an empty file gives way to the next name', async () => {
  const found = await search({ '/work/app/AGENTS.md': ' \n', '/work/app/CLAUDE.md': 'claude' });
  assert.deepEqual(
    found.files.map(({ text }) => text),
    ['claude'],
  );
});

test('the prompt files of the home folder replace and extend, those of a project do not', async () => {
  const found = await search({
    '/home/.crab/SYSTEM.md': 'I am mine.',
    '/home/.crab/APPEND_SYSTEM.md': 'And more.',
    '/work/app/SYSTEM.md': 'I am theirs.',
  });
  assert.deepEqual(found, { system: 'I am mine.', append: ['And more.'], files: [], skipped: [] });
});

test('what cannot be read is named, and the rest is read', async () => {
  const found = await search({
    '/AGENTS.md': new Error('Cannot read /AGENTS.md: permission denied.'),
    '/work/AGENTS.md': null,
    '/work/app/AGENTS.md': 'app',
  });
  const reasons = ['Cannot read /AGENTS.md: permission denied.', '/work/AGENTS.md is no file'];
  assert.deepEqual(new Set(found.skipped), new Set(reasons));
  assert.deepEqual(
    found.files.map(({ text }) => text),
    ['app'],
  );
});

test('a long file is cut, and says so', async () => {
  const [file] = (await search({ '/work/app/AGENTS.md': 'x'.repeat(40_000) })).files;
  assert.equal(file?.text, `${'x'.repeat(32_768)}\n[cut at 32768 bytes of 40000]`);
});
