import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/memory.ts';
import { dumpBook, loadBook } from './book.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crab-book-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function entry(name: string, more: Partial<MemoryEntry> = {}): MemoryEntry {
  return { id: 1n, name, aliases: [], content: 'text', kind: 'note', createdAt: 1_776_162_225n, ...more };
}

function withoutId({ id: _, ...rest }: MemoryEntry): Omit<MemoryEntry, 'id'> {
  return rest;
}

const read = (file: string) => readFileSync(join(folder, file), 'utf8');

function refusal(): string {
  try {
    loadBook(folder);
  } catch (error) {
    if (error instanceof CrabError) return `${error.code}: ${error.message.replaceAll(folder, 'FOLDER')}`;
    throw error;
  }
  throw new Error('accepted');
}

suite('a book of a memory', () => {
  test('has a page an entry, with its facts ahead of its text', () => {
    dumpBook(folder, [
      entry('deploy', { aliases: ['ship', 'a<b'], content: '# Steps\n' }),
      entry('x', { kind: 'archive' }),
    ]);
    assert.equal(
      read('notes/deploy.md'),
      `<div id="meta">
<dl>
  <dt>Created</dt>
  <dd><time datetime="2026-04-14T10:23:45Z">2026-04-14T10:23:45Z</time></dd>
  <dt>Aliases</dt>
  <dd><ul><li>ship</li><li>a&lt;b</li></ul></dd>
</dl>
</div>

# Steps
`,
    );
    assert.equal(
      read('SUMMARY.md'),
      '# Summary\n\n# Notes\n\n- [deploy](<notes/deploy.md>)\n\n# Archives\n\n- [x](<archives/x.md>)\n',
    );
    assert.equal(read('book.toml'), '[book]\ntitle = "Memory"\nsrc = "."\n');
  });

  test('gives back every entry as it was, whatever its name', () => {
    const entries = [
      entry('plain'),
      entry('Plain', { aliases: ['&amp;', '"q"', '<li>'] }),
      entry('../../etc/passwd'),
      entry('a/b\\c:d*e?f"g<h>i|j%k'),
      entry('.hidden'),
      entry('..'),
      entry('ends.'),
      entry('con'),
      entry('日本語 🦀'),
      entry('%41'),
      entry('x'.repeat(255)),
      entry('é'.repeat(127)),
      entry('like a block', { content: '<div id="meta">\n</div>\n\nno block' }),
      entry('blank lines', { content: '\n\n\nhere\n\n' }),
      entry('empty', { content: '' }),
      entry('returns', { content: 'a\r\nb\r\n' }),
      entry('old', { createdAt: 0n }),
      entry('far', { createdAt: (1n << 64n) - 1n, kind: 'archive' }),
    ];
    dumpBook(folder, entries);
    const key = ({ name }: { name: string }) => name;
    const sorted = (all: readonly Omit<MemoryEntry, 'id'>[]) =>
      [...all].sort((a, b) => (key(a) < key(b) ? -1 : 1));
    assert.deepEqual(sorted(loadBook(folder)), sorted(entries.map(withoutId)));
    assert.deepEqual(readdirSync(folder).sort(), ['SUMMARY.md', 'archives', 'book.toml', 'notes']);
  });

  test('written again keeps what is the person’s and drops pages of entries that are gone', () => {
    dumpBook(folder, [entry('old')]);
    writeFileSync(join(folder, 'book.toml'), 'mine');
    writeFileSync(join(folder, 'notes/picture.png'), 'mine');
    mkdirSync(join(folder, 'theme'));
    dumpBook(folder, [entry('new')]);
    assert.deepEqual(readdirSync(join(folder, 'notes')).sort(), ['new.md', 'picture.png']);
    assert.equal(read('book.toml'), 'mine');
    assert.ok(readdirSync(folder).includes('theme'));
  });

  test('goes on over one that did not come to its end, and not over what somebody else wrote', () => {
    dumpBook(folder, [entry('old')]);
    writeFileSync(join(folder, 'SUMMARY.md'), '# Summ');
    dumpBook(folder, [entry('new')]);
    assert.deepEqual(readdirSync(join(folder, 'notes')), ['new.md']);
    for (const summary of ['# Summary\n\n- [Mine](mine.md)\n', undefined]) {
      if (summary === undefined) rmSync(join(folder, 'SUMMARY.md'));
      else writeFileSync(join(folder, 'SUMMARY.md'), summary);
      assert.throws(() => dumpBook(folder, []), { code: 'usage', message: /would be lost/ });
    }
    assert.deepEqual(readdirSync(join(folder, 'notes')), ['new.md']);
  });

  test('takes a page without facts for text alone', () => {
    mkdirSync(join(folder, 'notes'));
    writeFileSync(join(folder, 'notes/tea%2Fcoffee.md'), '\ufeffhot\n');
    writeFileSync(join(folder, 'notes/readme.txt'), 'ignored');
    assert.deepEqual(loadBook(folder), [
      { name: 'tea/coffee', aliases: [], content: 'hot\n', kind: 'note', createdAt: 0n },
    ]);
  });

  for (const [what, prepare, message] of [
    ['neither notes nor archives', () => {}, /^usage: FOLDER has neither notes nor archives in it\.$/],
    [
      'a block without an end',
      () => writeFileSync(join(folder, 'notes/a.md'), '<div id="meta">\n'),
      /^input-malformed: FOLDER\/notes\/a\.md cannot be read as a memory: its block of facts has no <\/div>\.$/,
    ],
    [
      'a time that is none',
      () => writeFileSync(join(folder, 'notes/a.md'), '<div id="meta"><time datetime="soon"></div>'),
      /"soon" is no time\.$/,
    ],
    [
      'text that is not UTF-8',
      () => writeFileSync(join(folder, 'notes/a.md'), Uint8Array.of(0xff)),
      /a\.md cannot be read as a memory: it is not UTF-8\.$/,
    ],
    [
      'a link',
      () => symlinkSync('/etc/passwd', join(folder, 'notes/a.md')),
      /a\.md cannot be read as a memory: it is no regular file\.$/,
    ],
    [
      'a page that is too long',
      () => writeFileSync(join(folder, 'notes/a.md'), 'x'.repeat(1_200_000)),
      /has 1200000 bytes/,
    ],
  ] as const) {
    test(`with ${what} it is refused`, () => {
      if (!what.startsWith('neither')) mkdirSync(join(folder, 'notes'));
      prepare();
      assert.match(refusal(), message);
    });
  }
});
