// grep, find and ls over real folders, with the real ripgrep and without it: both must say the same.

import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { mkdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { rgPath } from '@vscode/ripgrep';
import { realClock } from '../../../test/support/tool-context.ts';
import {
  createTestFolder,
  runForText,
  type TestFolder,
  toolNamed,
} from '../../../test/support/tool-folder.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { seeded } from '../../core/seeded.ts';
import { createExec } from '../process/exec.ts';
import { createFileTools } from './file-tools.ts';

const exec = createExec({ env: process.env, clock: realClock });

const fast = createFileTools({ ripgrep: rgPath });
const own = createFileTools({ ripgrep: null });

async function folderOf(files: Readonly<Record<string, string | Uint8Array>>): Promise<TestFolder> {
  const folder = await createTestFolder({ exec, open: exec.open });
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(folder.at(name)), { recursive: true });
    await writeFile(folder.at(name), content);
  }
  return folder;
}

/** The result of a call, or its failure, which must be the same in both ways. */
async function both(name: string, input: JsonObject, folder: TestFolder): Promise<string> {
  const [left, right] = await Promise.all(
    [fast, own].map((tools) => runForText(toolNamed(tools, name), input, folder.context)),
  );
  assert.equal(right, left, JSON.stringify(input));
  return left ?? '';
}

const PROJECT = {
  'src/main.ts': 'import { start } from "./start.ts";\nstart(1);\n// the end\n',
  'src/start.ts': 'export function start(count: number) {\n  return count;\n}\n',
  'src/deep/x.test.ts': 'start(2)\r\nstart(3)\r\n',
  'README.md': '# Start\n\nHow to start it.\n',
  '.github/ci.yml': 'run: start\n',
  '.gitignore': 'dist/\n*.log\n!keep.log\n',
  '.git/config': 'start\n',
  'dist/out.js': 'start(9)\n',
  'noise.log': 'start\n',
  'keep.log': 'start kept\n',
  'picture.bin': new Uint8Array([115, 116, 97, 114, 116, 0, 10]),
};

describe('grep', () => {
  test('shows path, line and text in the order of the paths, and leaves out what is ignored', async () => {
    await using folder = await folderOf(PROJECT);
    assert.equal(
      await both('grep', { pattern: 'start\\(\\w' }, folder),
      [
        'src/deep/x.test.ts:1: start(2)',
        'src/deep/x.test.ts:2: start(3)',
        'src/main.ts:2: start(1);',
        'src/start.ts:1: export function start(count: number) {',
      ].join('\n'),
    );
    assert.equal(
      await both('grep', { pattern: 'start', output: 'count' }, folder),
      [
        '.github/ci.yml: 1',
        'README.md: 1',
        'keep.log: 1',
        'src/deep/x.test.ts: 2',
        'src/main.ts: 2',
        'src/start.ts: 1',
      ].join('\n'),
    );
  });

  test('shows context lines once, with a mark where lines are left out', async () => {
    const lines = Array.from({ length: 20 }, (_, at) =>
      [3, 5, 15].includes(at) ? `hit ${at}` : `line ${at}`,
    );
    await using folder = await folderOf({ 'a.txt': lines.join('\n'), 'b.txt': 'hit\n' });
    assert.equal(
      await both('grep', { pattern: '^hit', context: 1 }, folder),
      [
        'a.txt-3- line 2',
        'a.txt:4: hit 3',
        'a.txt-5- line 4',
        'a.txt:6: hit 5',
        'a.txt-7- line 6',
        '--',
        'a.txt-15- line 14',
        'a.txt:16: hit 15',
        'a.txt-17- line 16',
        '--',
        'b.txt:1: hit',
      ].join('\n'),
    );
  });

  test('stops at the limit and says so', async () => {
    await using folder = await folderOf({ 'a.txt': 'x\n'.repeat(5), 'b.txt': 'x\n' });
    assert.equal(
      await both('grep', { pattern: 'x', limit: 2 }, folder),
      'a.txt:1: x\na.txt:2: x\n[Only the first 2 matching lines are shown. Narrow it with path or glob, or raise limit.]',
    );
    assert.equal(
      await both('grep', { pattern: 'x', limit: 1, output: 'files' }, folder),
      'a.txt\n[Only the first 1 files are shown. Narrow it with path or glob, or raise limit.]',
    );
    assert.equal((await both('grep', { pattern: 'x', limit: 6 }, folder)).split('\n').length, 6);
  });

  test('takes globs over names and over paths, and their negation', async () => {
    await using folder = await folderOf(PROJECT);
    const files = (glob: string) => both('grep', { pattern: 'start', output: 'files', glob }, folder);
    assert.equal(await files('*.md'), 'README.md');
    assert.equal(await files('*.{md,yml}'), '.github/ci.yml\nREADME.md');
    assert.equal(await files('src/*.ts'), 'src/main.ts\nsrc/start.ts');
    assert.equal(await files('src/**/*.test.ts'), 'src/deep/x.test.ts');
    assert.equal(await files('src/'), 'src/deep/x.test.ts\nsrc/main.ts\nsrc/start.ts');
    assert.equal(await files('!*.ts'), '.github/ci.yml\nREADME.md\nkeep.log');
    assert.equal(await files('dist/*.js'), 'No matches.');
    assert.equal(await files('*.log'), 'keep.log');
  });

  test('leaves out what a rule withholds, and says so whether or not there is a match in it', async () => {
    await using folder = await folderOf(PROJECT);
    const note = '\n[Files that a permission rule withholds were left out.]';
    const context = {
      ...folder.context,
      withheld: async () => (path: string) => path.startsWith(folder.at('src')),
    };
    const held = { ...folder, context };
    const input = { pattern: 'start', output: 'files' };
    assert.equal(await both('grep', input, held), `.github/ci.yml\nREADME.md\nkeep.log${note}`);
    assert.equal(await both('grep', { ...input, path: 'src' }, held), `No matches.${note}`);
    assert.equal(await both('grep', { ...input, path: 'src/main.ts' }, held), `No matches.${note}`);
  });

  test('searches one file that is named, ignored or not', async () => {
    await using folder = await folderOf(PROJECT);
    assert.equal(await both('grep', { pattern: 'start', path: 'noise.log' }, folder), 'noise.log:1: start');
    assert.equal(await both('grep', { pattern: 'start', path: 'picture.bin' }, folder), 'No matches.');
  });

  test('reads a literal pattern as it stands, and ignores case on request', async () => {
    await using folder = await folderOf({ 'a.txt': 'f(x)\nF(X)\nffx\nÄRGER\n' });
    assert.equal(await both('grep', { pattern: 'f(x)', literal: true }, folder), 'a.txt:1: f(x)');
    assert.equal(
      await both('grep', { pattern: 'f(x)', literal: true, ignore_case: true }, folder),
      'a.txt:1: f(x)\na.txt:2: F(X)',
    );
    assert.equal(await both('grep', { pattern: 'ärger', ignore_case: true }, folder), 'a.txt:4: ÄRGER');
  });

  test('reads UTF-16 with a mark, and what is not UTF-8 as far as it is', async () => {
    await using folder = await folderOf({
      'a.txt': Buffer.from('\ufeffGrüße\r\nzwei\r\n', 'utf16le'),
      'b.txt': Buffer.from('Gr\xfc\xdfe\nGruss\n', 'latin1'),
      'c.txt': '\ufeffGrund\n',
    });
    assert.equal(
      await both('grep', { pattern: '^Gr' }, folder),
      'a.txt:1: Grüße\nb.txt:1: Gr\ufffd\ufffde\nb.txt:2: Gruss\nc.txt:1: Grund',
    );
    assert.equal(await both('grep', { pattern: 'Gr.+e' }, folder), 'a.txt:1: Grüße');
  });

  test('cuts long lines, and names those that are too long for any result', async () => {
    await using folder = await folderOf({
      'a.txt': `x${'y'.repeat(600)}\n`,
      'b.min.js': `x${'y'.repeat(70_000)}\n`,
    });
    assert.equal(
      await both('grep', { pattern: 'x' }, folder),
      `a.txt:1: x${'y'.repeat(499)}…\n[Not shown: 1 matching in lines longer than 64 KB.]`,
    );
  });

  test('does not keep a line of any length in memory', async () => {
    await using folder = await folderOf({ 'a.js': `${'xy'.repeat(10_000_000)}\n`, 'b.js': 'x\n' });
    assert.equal(
      await both('grep', { pattern: '^xy' }, folder),
      'No matches.\n[Not shown: 1 matching in lines longer than 64 KB.]',
    );
  });

  test('keeps a result within its bytes', async () => {
    await using folder = await folderOf({ 'a.txt': `${'x'.repeat(499)}\n`.repeat(900) });
    const text = await both('grep', { pattern: 'x', limit: 1000 }, folder);
    assert.ok(Buffer.byteLength(text) <= 50 * 1024);
    const kept =
      /\[The result was cut\. Narrow it with path, glob or limit\.\]\n\[All 900 lines \(\d+ KB\) are in (.+)\.\]$/;
    assert.match(text, kept);
    const whole = await readFile(kept.exec(text)?.[1] ?? '', 'utf8');
    const lines = Array.from({ length: 900 }, (_, at) => `a.txt:${at + 1}: ${'x'.repeat(499)}\n`);
    assert.equal(whole, lines.join(''));
  });

  test('searches files of a type, under its common names too', async () => {
    await using folder = await folderOf({ 'a.ts': 'x\n', 'b.tsx': 'x\n', 'c.js': 'x\n', 'sub/d.mts': 'x\n' });
    for (const type of ['ts', 'typescript', 'TS'])
      assert.equal(
        await both('grep', { pattern: 'x', type, output: 'files' }, folder),
        'a.ts\nb.tsx\nsub/d.mts',
      );
    assert.equal(
      await both('grep', { pattern: 'x', type: 'ts', glob: 'sub/**', output: 'files' }, folder),
      'sub/d.mts',
    );
    for (const tools of [fast, own])
      await assert.rejects(toolNamed(tools, 'grep').run({ pattern: 'x', type: 'nope' }, folder.context), {
        message: /"nope" is no known type: use glob, such as \*\.nope, or one of c, cpp/,
      });
  });

  test('shows lines before or after alone', async () => {
    await using folder = await folderOf({ a: '1\n2\nhit\n4\n5\n6\nhit\n8\n' });
    const grep = toolNamed(own, 'grep');
    const named = (input: JsonObject) => grep.prepare?.(input) ?? input;
    assert.equal(
      await both('grep', named({ pattern: 'hit', '-A': 1 }), folder),
      'a:3: hit\na-4- 4\n--\na:7: hit\na-8- 8',
    );
    assert.equal(
      await both('grep', named({ pattern: 'hit', '-B': 2, '-C': 0 }), folder),
      'a-1- 1\na-2- 2\na:3: hit\n--\na-5- 5\na-6- 6\na:7: hit',
    );
  });

  test('finds a pattern over several lines', async () => {
    await using folder = await folderOf({
      a: 'start {\n  x\n}\nstart\n{ y }\r\nend\r\n',
      b: 'x {\n}{ z\n\n}\nno {\n',
    });
    const lines = (pattern: string, more: JsonObject = {}) =>
      both('grep', { pattern, multiline: true, path: 'a', ...more }, folder);
    assert.equal(await lines('start \\{.*?\\}'), 'a:1: start {\na:2:   x\na:3: }');
    assert.equal(await lines('start\\s+\\{'), 'a:1: start {\na:4: start\na:5: { y }');
    assert.equal(
      await lines('x\n}', { literal: true, context: 1 }),
      'a-1- start {\na:2:   x\na:3: }\na-4- start',
    );
    assert.equal(await lines('^end$'), 'a:6: end');
    assert.equal(await lines('}.end'), 'No matches.');
    assert.equal(await lines('}\\r\\nend$', { output: 'count' }), 'a: 2');
    assert.equal(await lines('\\{.*?\\}', { path: 'b' }), 'b:1: x {\nb:2: }{ z\nb:3: \nb:4: }');
    assert.equal(await lines('(?-s:x.\\})'), 'No matches.');
  });

  test('names files that have line ends, colons and control characters in their names', async () => {
    await using folder = await folderOf({ 'a:1: b': 'hit\n', 'c\nd': 'hit\n', 'e\x1b[31m\tf': 'hit\n' });
    assert.equal(
      await both('grep', { pattern: 'hit' }, folder),
      'a:1: b:1: hit\nc\\nd:1: hit\ne<U+001B>[31m\\tf:1: hit',
    );
  });

  test('does not follow links', async () => {
    await using folder = await folderOf({ 'a/x.txt': 'hit\n' });
    await symlink(folder.at('a'), folder.at('b'));
    await symlink(folder.at('a/x.txt'), folder.at('c.txt'));
    assert.equal(await both('grep', { pattern: 'hit' }, folder), 'a/x.txt:1: hit');
  });

  const REFUSED = [
    '(',
    'a{',
    '[z-a]',
    '(?=x)',
    '(x)\\1',
    'a**{',
    '*a',
    'a\\n',
    '\\p{Nonsense}',
    '[a',
    '(?z)',
  ];
  for (const pattern of REFUSED)
    test(`refuses ${pattern} in both ways`, async () => {
      await using folder = await folderOf({ 'a.txt': 'a\n' });
      for (const tools of [fast, own])
        await assert.rejects(runForText(toolNamed(tools, 'grep'), { pattern }, folder.context), ToolFailure);
    });

  test('refuses a path that is not there, a FIFO, an empty pattern and ~', async () => {
    await using folder = await folderOf({});
    execFileSync('mkfifo', [folder.at('pipe')]);
    const grep = toolNamed(own, 'grep');
    const failure = (input: JsonObject, message: RegExp) =>
      assert.rejects(grep.run(input, folder.context), { name: 'ToolFailure', message });
    await failure({ pattern: 'x', path: 'nowhere' }, /nowhere: it does not exist/);
    await failure({ pattern: 'x', path: 'pipe' }, /pipe: it is a FIFO/);
    await failure({ pattern: '' }, /pattern is empty/);
    await failure({ pattern: 'x', path: '~/src' }, /only a shell expands/);
    await failure({ pattern: 'x\ny' }, /one line at a time/);
  });

  for (const multiline of [false, true])
    test(`says the same in both ways about random ${multiline ? 'patterns over several lines' : 'patterns'}`, async () => {
      const random = seeded(20260601);
      const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
      const atoms = [
        'a',
        'b',
        '.',
        '\\w',
        '\\b',
        '^',
        '$',
        '[ab]',
        '[^a]',
        '\\s',
        '\\d',
        'é',
        '\\W',
        '(?i:B)',
        'a\\B',
        '\\.',
        ...(multiline ? ['\\n', '\\n', '(?-s:.)'] : []),
      ];
      const quantified = (): string =>
        pick(atoms) + pick(['', '', '', '*', '+', '?', '{2}', '{1,3}', '*?', '+?', '??', '{1,2}?']);
      const pattern = (depth: number): string => {
        const parts = Array.from({ length: 1 + Math.floor(random() * 3) }, () =>
          depth > 0 && random() < 0.3
            ? `(${pattern(depth - 1)}|${pattern(depth - 1)})${pick(['', '*', '+', '?'])}`
            : quantified(),
        );
        return parts.join('');
      };
      const letters = ['a', 'b', 'B', 'é', ' ', '.', '7', '\t', '_', '😀', '\u200d'];
      const line = () => Array.from({ length: Math.floor(random() * 6) }, () => pick(letters)).join('');
      const text = () => Array.from({ length: 12 }, () => line() + pick(['\n', '\n', '\r\n'])).join('');
      await using folder = await folderOf({
        'a.txt': text(),
        'b/c.txt': text(),
        'b.txt': text(),
        'b-d/e.txt': text(),
      });
      for (let round = 0; round < 150; round++) {
        const source = pattern(2);
        const ignore_case = random() < 0.3;
        await both(
          'grep',
          { pattern: source, ignore_case, multiline, limit: 1000, context: Math.floor(random() * 3) },
          folder,
        );
      }
    });
});

describe('find', () => {
  test('finds names in any folder or paths, the newest first', async () => {
    await using folder = await folderOf(PROJECT);
    await utimes(folder.at('src/main.ts'), 1000, 1000);
    await utimes(folder.at('src/start.ts'), 3000, 3000);
    await utimes(folder.at('src/deep/x.test.ts'), 2000, 2000);
    const newest = 'src/start.ts\nsrc/deep/x.test.ts\nsrc/main.ts';
    assert.equal(await both('find', { pattern: '*.ts' }, folder), newest);
    assert.equal(await both('find', { pattern: 'src/**/*.ts' }, folder), newest);
    assert.equal(await both('find', { pattern: `${folder.path}/src/**` }, folder), newest);
    assert.equal(await both('find', { pattern: '../src/**', path: 'dist' }, folder), newest);
    assert.equal(await both('find', { pattern: 'src/*.ts' }, folder), 'src/start.ts\nsrc/main.ts');
    assert.equal(await both('find', { pattern: 'deep/*', path: 'src' }, folder), 'src/deep/x.test.ts');
    assert.equal(await both('find', { pattern: '*.yml' }, folder), '.github/ci.yml');
    assert.equal(await both('find', { pattern: 'out.js' }, folder), 'No files match.');
    assert.equal(
      await both('find', { pattern: '*.ts', limit: 2 }, folder),
      'src/start.ts\nsrc/deep/x.test.ts\n[The newest 2 of 3 files. Narrow the pattern or the path.]',
    );
  });

  test('finds names with line ends and control characters, and shows each on a line', async () => {
    const names = ['a\nb.txt', 'c\x07\x1b[2J.txt', 'd\u202e.txt', '\n', 'sub\n/e\r.txt'];
    await using folder = await folderOf(Object.fromEntries(names.map((name) => [name, 'x'])));
    for (const name of names) await utimes(folder.at(name), 1000, 1000);
    assert.equal(
      await both('find', { pattern: '**' }, folder),
      ['\\n', 'a\\nb.txt', 'c<U+0007><U+001B>[2J.txt', 'd<U+202E>.txt', 'sub\\n/e<U+000D>.txt'].join('\n'),
    );
  });

  test('says which access it needs: the folder where the pattern begins', async () => {
    const find = toolNamed(own, 'find');
    const read = (path: string) => ({
      access: { kind: 'read', paths: [path] },
      parallel: true,
      repeatable: true,
    });
    assert.deepEqual(await find.plan({ pattern: '*.ts' }, '/w'), read('/w'));
    assert.deepEqual(await find.plan({ pattern: 'src/*.ts' }, '/w'), read('/w'));
    assert.deepEqual(await find.plan({ pattern: '/etc/*.conf' }, '/w'), read('/etc'));
    assert.deepEqual(await find.plan({ pattern: '../x/*.ts', path: 'a' }, '/w'), read('/w/x'));
    await assert.rejects(find.plan({ pattern: '*/../../x' }, '/w'), ToolFailure);
    await assert.rejects(find.plan({ pattern: '~/x/*' }, '/w'), ToolFailure);
  });

  test('agrees with git and with ripgrep on random ignore files', async () => {
    const random = seeded(7);
    const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
    const folderNames = ['a', 'b', '.hid', 'ab'];
    const fileNames = ['a.txt', '.hide', 'foo.log', 'abc', '!x'];
    const rules = [
      ...[
        'a',
        'b/',
        '/a',
        '*.txt',
        '!a.txt',
        '**/b',
        'a/**',
        '!a/**/b',
        'a/*/b',
        '?b',
        '[ab]',
        '!.hid',
        '.*',
      ],
      ...['foo*', '# no', '', '/b/a', '\\!x', 'a/b/', '*/a.txt', '!*/', 'b/**/abc', '[!a]bc', 'a.txt  ', '*'],
    ];
    const ruleFile = () => Array.from({ length: 1 + Math.floor(random() * 4) }, () => pick(rules)).join('\n');
    const run = promisify(execFile);
    for (let round = 0; round < 40; round++) {
      const files: Record<string, string> = {};
      for (let count = 0; count < 25; count++) {
        const folders = Array.from({ length: Math.floor(random() * 3) }, () => pick(folderNames));
        files[[...folders, pick(fileNames)].join('/')] = 'x';
      }
      const folders = new Set(Object.keys(files).map((path) => dirname(path)));
      const byGit = round % 2 === 0;
      for (const folder of folders) {
        if (folder === '.' || random() < 0.3) files[`${folder}/.gitignore`] = ruleFile();
        if (!byGit && random() < 0.2) files[`${folder}/.ignore`] = ruleFile();
      }
      files['.git/info/exclude'] = ruleFile();
      await using folder = await folderOf(files);
      const found = await both('find', { pattern: '**' }, folder);
      if (!byGit) continue;
      const git = (...args: string[]) =>
        run('git', args, {
          cwd: folder.path,
          env: { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null' },
        });
      await git('init', '-q', '.');
      await writeFile(folder.at('.git/info/exclude'), files['.git/info/exclude']);
      const { stdout } = await git('ls-files', '-co', '--exclude-standard');
      const shown = found === 'No files match.' ? [] : found.split('\n');
      assert.deepEqual(
        shown.toSorted(),
        stdout
          .split('\n')
          .filter((name) => name !== '')
          .toSorted(),
        JSON.stringify(files),
      );
    }
  });
});

describe('ls', () => {
  test('lists folders, links and dotfiles, and says when there are more', async () => {
    await using folder = await folderOf({ '.env': '', 'b.txt': '', 'sub/x': '', 'odd\nname': '' });
    await symlink('b.txt', folder.at('link'));
    const ls = toolNamed(own, 'ls');
    assert.equal(await runForText(ls, {}, folder.context), '.env\nb.txt\nlink@\nodd\\nname\nsub/');
    assert.equal(await runForText(ls, { path: 'sub' }, folder.context), 'x');
    assert.equal(
      await runForText(ls, { limit: 2 }, folder.context),
      '.env\nb.txt\n[The first 2 of 5 entries. Use find for the others.]',
    );
    await assert.rejects(ls.run({ path: 'b.txt' }, folder.context), /b\.txt: it is a file, not a folder/);
  });
});
