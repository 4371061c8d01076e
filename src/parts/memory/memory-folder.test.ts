import assert from 'node:assert/strict';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { CrabError } from '../../core/errors.ts';
import type { MemoryEntry } from '../../core/memory.ts';
import { exportFolder, importFolder } from './memory-folder.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crab-notes-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PROJECT = { type: 'project' };

function entry(name: string, content: string, more: Partial<MemoryEntry> = {}): MemoryEntry {
  return { id: 1n, name, aliases: [], content, kind: 'note', createdAt: 1_776_162_225n, ...more };
}

const read = (file: string) => readFileSync(join(folder, file), 'utf8');

const write = (file: string, text: string | Uint8Array) => writeFileSync(join(folder, file), text);

function refusal(): string {
  try {
    importFolder(folder, PROJECT);
  } catch (error) {
    if (error instanceof CrabError) return `${error.code}: ${error.message.replaceAll(folder, 'FOLDER')}`;
    throw error;
  }
  return 'it was read';
}

suite('memories as a folder of notes', () => {
  test('each note is a file with front matter, and the index has a line for each', () => {
    const archive = entry('session', 'what was', { kind: 'archive' });
    const notes = [entry('Deploy: how', '# Steps\n\nRun make ship.\n', { aliases: ['release'] }), archive];
    assert.equal(exportFolder(folder, notes, PROJECT), 1);
    assert.deepEqual(readdirSync(folder).sort(), ['MEMORY.md', 'deploy_how.md']);
    assert.equal(read('MEMORY.md'), '- [Deploy: how](deploy_how.md): Steps\n');
    assert.equal(
      read('deploy_how.md'),
      [
        '---',
        'name: "Deploy: how"',
        'aliases: ["release"]',
        'created: "2026-04-14T10:23:45Z"',
        'description: "Steps"',
        'type: project',
        '---',
        '# Steps',
        '',
        'Run make ship.',
        '',
      ].join('\n'),
    );
  });

  test('what is exported and imported again is the same', () => {
    const notes = [
      entry('plain', 'text'),
      entry('empty', ''),
      entry('ünïcödé 名前', 'ends\n\n'),
      entry('Case', 'a'),
      entry('case', 'b', { createdAt: 18_446_744_073_709_551_615n }),
      entry('memory', 'called like the index', { aliases: ['a, b', '"quoted"', "it's", '[x]'] }),
      entry('headed', '---\ntype: feedback\nmetadata:\n  by: me\n---\nBe brief.'),
      entry('tricky', '---\nname: other\ntype: user\n---\ntext'),
      entry('derived', '---\ndescription: "text"\ntype: project\n---\ntext'),
      entry('bare head', '---\n---\ntext'),
      entry('unended', '---\nno end'),
      entry('windows', '---\r\ntype: user\r\n---\r\ntext\r\n'),
      entry('first line', '---\na: b\n---'),
    ];
    exportFolder(folder, notes, PROJECT);
    const sorted = (all: readonly Omit<MemoryEntry, 'id'>[]) =>
      [...all].sort((a, b) => (a.name < b.name ? -1 : 1));
    const expected = notes.map(({ id: _, ...rest }) => rest);
    assert.deepEqual(sorted(importFolder(folder, PROJECT)), sorted(expected));
  });

  test('a folder of another agent is read as it stands', () => {
    write('MEMORY.md', '- [User role](user_role.md): hooks are not read\n');
    write(
      'user_role.md',
      '---\nname: user role # theirs\ndescription: what they do\nmetadata:\n  type: user\n---\n\nA data scientist.\n',
    );
    write('bare.md', 'No head.\n');
    write('single.md', "---\nname: 'it''s'\naliases: [one, \"two, three\"]\n---\nx");
    for (const file of ['user_role.md', 'bare.md', 'single.md']) utimesSync(join(folder, file), 1000, 1000);
    const common = { kind: 'note', createdAt: 1000n } as const;
    assert.deepEqual(importFolder(folder, PROJECT), [
      { name: 'bare', aliases: [], content: 'No head.\n', ...common },
      { name: "it's", aliases: ['one', 'two, three'], content: 'x', ...common },
      {
        name: 'user role',
        aliases: [],
        content: '---\ndescription: what they do\nmetadata:\n  type: user\n---\n\nA data scientist.\n',
        ...common,
      },
    ]);
  });

  test('what an index says beside its list is a note, too', () => {
    write('style.md', 'Two spaces.\n');
    write(
      'MEMORY.md',
      '# Memory\n\n- [Style](style.md): two spaces\n- [Guide](docs/guide.md): read it first\n\nTests: make test\n',
    );
    for (const file of ['style.md', 'MEMORY.md']) utimesSync(join(folder, file), 1000, 1000);
    assert.deepEqual(
      importFolder(folder, PROJECT).map(({ name, content }) => [name, content]),
      [
        ['MEMORY', '# Memory\n\n- [Guide](docs/guide.md): read it first\n\nTests: make test\n'],
        ['style', 'Two spaces.\n'],
      ],
    );
    unlinkSync(join(folder, 'style.md'));
    assert.equal(importFolder(folder, PROJECT).length, 1);
    write('MEMORY.md', '# Memory\n');
    assert.equal(refusal(), 'usage: FOLDER has no memories in it.');
  });

  test('the index is never longer than agents read, and says so', () => {
    const notes = Array.from({ length: 300 }, (_, at) => entry(`note ${at}`, 'x'));
    exportFolder(folder, notes, PROJECT);
    const lines = read('MEMORY.md').trimEnd().split('\n');
    assert.equal(lines.length, 200);
    assert.equal(lines.at(-1), '- 101 more in this folder');
    const long = notes.map((note) => ({ ...note, content: 'é'.repeat(300) }));
    exportFolder(folder, long, PROJECT);
    assert.ok(Buffer.byteLength(read('MEMORY.md')) <= 25_000);
    assert.equal(importFolder(folder, PROJECT).length, 300);
  });

  test('what is no folder of notes is refused', () => {
    assert.equal(refusal(), 'usage: FOLDER has no memories in it.');
    write('broken.md', '---\nname: x\n');
    assert.match(
      refusal(),
      /^input-malformed: FOLDER\/broken\.md cannot be read as a memory: it begins with `---`/,
    );
    write('broken.md', new Uint8Array([0xff, 0xfe, 0x00]));
    assert.match(
      refusal(),
      /^input-malformed: FOLDER\/broken\.md cannot be read as a memory: it is not UTF-8/,
    );
    unlinkSync(join(folder, 'broken.md'));
    symlinkSync('/etc/passwd', join(folder, 'link.md'));
    assert.match(
      refusal(),
      /^input-malformed: FOLDER\/link\.md cannot be read as a memory: it is no regular file/,
    );
    unlinkSync(join(folder, 'link.md'));
    write('a.md', '---\nname: same\n---\n');
    write('b.md', '---\nname: x\naliases: [same]\n---\n');
    assert.equal(
      refusal(),
      'input-malformed: FOLDER cannot be read as a memory: a.md and b.md are both called same.',
    );
  });
});
