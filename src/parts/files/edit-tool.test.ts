import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import {
  createTestFolder,
  runForText,
  type TestFolder,
  textOf,
  toolNamed,
} from '../../../test/support/tool-folder.ts';
import type { Files } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import { seeded } from '../../core/seeded.ts';
import { createFileTools } from './file-tools.ts';
import { createLocalFiles } from './local-files.ts';

const tools = createFileTools({ ripgrep: null });
const [read, write, edit] = [toolNamed(tools, 'read'), toolNamed(tools, 'write'), toolNamed(tools, 'edit')];

const PROGRAM = [
  'function greet(name) {',
  '\tconst text = "Hello, " + name;',
  '\tconsole.log(text);',
  '\treturn text;',
  '}',
  '',
  'function part(name) {',
  '\tconsole.log(text);',
  '}',
  '',
].join('\n');

async function folderWith(content: string | Uint8Array): Promise<TestFolder> {
  const folder = await createTestFolder();
  await writeFile(folder.at('a.js'), content);
  return folder;
}

/** The message of the refusal; the file must be as it was. */
async function refusal(folder: TestFolder, input: JsonObject): Promise<string> {
  const before = await readFile(folder.at('a.js'));
  const failure = await edit.run({ path: 'a.js', ...input }, folder.context).then(
    () => assert.fail('the edit was made'),
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Error && failure.name === 'ToolFailure', String(failure));
  assert.deepEqual(await readFile(folder.at('a.js')), before);
  assert.deepEqual(await readdir(folder.path), ['a.js']);
  return failure.message;
}

test('edit replaces the one place, shows the lines around it and a diff', async () => {
  await using folder = await folderWith(PROGRAM);
  const input = { path: 'a.js', old_string: '"Hello, " + name', new_string: 'greeting(name)' };
  assert.deepEqual(await edit.run(input, folder.context), {
    content: [
      {
        type: 'text',
        text: [
          'Edited a.js, line 2 (+1 −1).',
          '1\tfunction greet(name) {',
          '2\t\tconst text = greeting(name);',
          '3\t\tconsole.log(text);',
          '4\t\treturn text;',
        ].join('\n'),
      },
    ],
    isError: false,
    display: {
      kind: 'diff',
      path: 'a.js',
      diff: [
        '--- a.js',
        '+++ a.js',
        '@@ -1,5 +1,5 @@',
        ' function greet(name) {',
        '-\tconst text = "Hello, " + name;',
        '+\tconst text = greeting(name);',
        ' \tconsole.log(text);',
        ' \treturn text;',
        ' }',
        '',
      ].join('\n'),
      added: 1,
      removed: 1,
    },
  });
  assert.equal(
    await readFile(folder.at('a.js'), 'utf8'),
    PROGRAM.replace('"Hello, " + name', 'greeting(name)'),
  );
});

describe('edit refuses', () => {
  test('a text that occurs more than once, and says where', async () => {
    await using folder = await folderWith(PROGRAM);
    assert.equal(
      await refusal(folder, { old_string: 'console.log(text);', new_string: 'x' }),
      'old_string occurs 2 times in a.js, at lines 3, 8. Add lines around it until it is unique, or set replace_all.\nNothing was written.',
    );
  });

  test('a text that is not there, and shows the nearest lines and what differs', async () => {
    await using folder = await folderWith(PROGRAM);
    assert.equal(
      await refusal(folder, { old_string: '    console.log(text);\n    return text;', new_string: 'x' }),
      [
        'old_string was not found in a.js. The nearest place is lines 3–4:',
        '3\t\tconsole.log(text);',
        '4\t\treturn text;',
        'It differs first at line 3, in indentation: the file has 1 tab, old_string has 4 spaces.',
        'Nothing was written.',
      ].join('\n'),
    );
    assert.match(
      await refusal(folder, { old_string: '\tconst text = "Hello, "+name;', new_string: 'x' }),
      /nearest place is line 2:\n2\t.*\nIt differs first at line 2, in the text: old_string has "\\tconst text/,
    );
    assert.match(
      await refusal(folder, { old_string: 'FUNCTION GREET(NAME) {', new_string: 'x' }),
      /No similar place was found|upper and lower case/,
    );
    assert.match(
      await refusal(folder, { old_string: 'quite another thing', new_string: 'x' }),
      /No similar place was found/,
    );
    assert.match(
      await refusal(folder, { old_string: '3\t\tconsole.log(text);\n4\t\treturn text;', new_string: 'x' }),
      /leave them out/,
    );
  });

  test('a change that changes nothing, and an empty text', async () => {
    await using folder = await folderWith(PROGRAM);
    assert.match(await refusal(folder, { old_string: 'greet', new_string: 'greet' }), /are the same/);
    assert.match(
      await refusal(folder, { old_string: '', new_string: 'x' }),
      /a\.js exists, so old_string must not be empty/,
    );
    assert.match(await refusal(folder, {}), /Give old_string and new_string, or edits/);
  });

  test('what is no text, and a character that the encoding lacks', async () => {
    await using binary = await folderWith(Buffer.from('\x7fELF\0\0', 'latin1'));
    assert.match(
      await refusal(binary, { old_string: 'E', new_string: 'x' }),
      /it is an ELF program, not text/,
    );
    await using latin = await folderWith(Buffer.from('caf\xe9\n', 'latin1'));
    assert.match(
      await refusal(latin, { old_string: 'café', new_string: '→' }),
      /windows-1252, which has no U\+2192/,
    );
  });

  test('all of several changes when one does not apply', async () => {
    await using folder = await folderWith(PROGRAM);
    const edits = [
      { old_string: 'function greet', new_string: 'function hello' },
      { old_string: 'nothing like it', new_string: 'x' },
      { old_string: 'console.log(text);', new_string: 'x' },
    ];
    assert.equal(
      await refusal(folder, { edits }),
      [
        'Change 2 of 3: old_string was not found in a.js. No similar place was found: read the part that you want to change.',
        'Change 3 of 3: old_string occurs 2 times in a.js, at lines 3, 8. Add lines around it until it is unique, or set replace_all.',
        'Nothing was written.',
      ].join('\n'),
    );
  });

  test('changes that overlap', async () => {
    await using folder = await folderWith(PROGRAM);
    const edits = [
      { old_string: 'return text;\n}', new_string: 'x' },
      { old_string: 'return text;', new_string: 'y' },
    ];
    assert.match(await refusal(folder, { edits }), /Changes \d and \d of 2 overlap at line 4: make them one/);
  });
});

test('edit replaces every place on request, and several changes in one step', async () => {
  await using folder = await folderWith(PROGRAM);
  await edit.run(
    { path: 'a.js', old_string: 'console.log(text);', new_string: 'log(text);', replace_all: true },
    folder.context,
  );
  const edits = [
    { old_string: 'function part(name) {\n', new_string: '' },
    { old_string: 'greet', new_string: 'hello' },
  ];
  const text = await runForText(edit, { path: 'a.js', edits }, folder.context);
  assert.match(text, /^Edited a\.js, lines 1, 7 \(2 replacements, \+1 −2\)\./);
  assert.equal(
    await readFile(folder.at('a.js'), 'utf8'),
    PROGRAM.replaceAll('console.log', 'log').replace('greet', 'hello').replace('function part(name) {\n', ''),
  );
});

test('edit creates a file from an empty text, which counts as read', async () => {
  await using folder = await createTestFolder();
  const text = await runForText(
    edit,
    { path: 'sub/new.txt', old_string: '', new_string: 'one\n' },
    folder.context,
  );
  assert.equal(text, 'Created sub/new.txt.');
  await write.run({ path: 'sub/new.txt', content: 'two\n' }, folder.context);
  assert.equal(await readFile(folder.at('sub/new.txt'), 'utf8'), 'two\n');
});

describe('what models cannot see or type is forgiven where one place fits', () => {
  const cases: readonly (readonly [name: string, file: string, old: string, fresh: string, after: string])[] =
    [
      ['trailing whitespace', 'a;  \nb;\t\nc;\n', 'a;\nb;\nc;', 'a;\nX;\nc;', 'a;  \nX;\t\nc;\n'],
      ['quotes', 'say(“it’s”, 1);\n', 'say("it\'s", 1);', 'say("it\'s", 2);', 'say(“it’s”, 2);\n'],
      ['dashes', 'pages 1–2 — end\n', 'pages 1-2 - end', 'pages 1-2 - stop', 'pages 1–2 — stop\n'],
      ['kinds of space', 'a\u00a0= b;\n', 'a = b;', 'a = c;', 'a\u00a0= c;\n'],
    ];
  for (const [name, file, old_string, new_string, after] of cases)
    test(name, async () => {
      await using folder = await folderWith(file);
      const text = await runForText(edit, { path: 'a.js', old_string, new_string }, folder.context);
      assert.match(text, new RegExp(`Matched although ${name} differed\\.`));
      assert.equal(await readFile(folder.at('a.js'), 'utf8'), after);
    });

  test('and refused where two do', async () => {
    await using folder = await folderWith('f(“a”);\nf(‘a’); f(„a“);\n');
    assert.match(
      await refusal(folder, { old_string: 'f("a");', new_string: 'x' }),
      /occurs 2 times in a\.js when quotes are ignored, at lines 1, 2\. Add lines around it until it is unique\.\n/,
    );
  });

  test('and not at all for indentation', async () => {
    await using folder = await folderWith('\tif (a) {\n\t\tb();\n');
    assert.match(
      await refusal(folder, { old_string: '  if (a) {\n    b();', new_string: 'x' }),
      /indentation/,
    );
  });
});

describe('a file that changed since it was read', () => {
  test('is edited where the text is unique, and still counts as changed', async () => {
    await using folder = await folderWith(PROGRAM);
    await read.run({ path: 'a.js' }, folder.context);
    await writeFile(folder.at('a.js'), `// new\n${PROGRAM}`);
    const text = await runForText(
      edit,
      { path: 'a.js', old_string: 'greet', new_string: 'hello' },
      folder.context,
    );
    assert.match(text, /^Edited a\.js, line 2 .* The file had changed since you read it\./);
    await assert.rejects(
      write.run({ path: 'a.js', content: 'x' }, folder.context),
      /has changed since you read it/,
    );
  });

  test('is said to have changed when the text is gone', async () => {
    await using folder = await folderWith(PROGRAM);
    await read.run({ path: 'a.js' }, folder.context);
    await writeFile(folder.at('a.js'), PROGRAM.replace('greet', 'greets'));
    assert.match(
      await refusal(folder, { old_string: 'function greet(name) {', new_string: 'x' }),
      /^a\.js has changed since you read it\. old_string was not found in a\.js\. The nearest place is line 1:\n1\tfunction greets/,
    );
  });
});

test('after its own edits a file may be replaced, and an unread one may not', async () => {
  await using folder = await folderWith(PROGRAM);
  await edit.run({ path: 'a.js', old_string: 'greet', new_string: 'hello' }, folder.context);
  await assert.rejects(write.run({ path: 'a.js', content: 'x' }, folder.context), /you have not read it/);
  await read.run({ path: 'a.js' }, folder.context);
  await edit.run({ path: 'a.js', old_string: 'hello', new_string: 'greet' }, folder.context);
  await write.run({ path: 'a.js', content: 'x' }, folder.context);
  assert.equal(await readFile(folder.at('a.js'), 'utf8'), 'x');
});

test('line ends and encoding stay outside the hunk and hold inside', async () => {
  await using folder = await folderWith(Buffer.from('\ufeffeins\r\nzwei\ndrei\r\n', 'utf16le'));
  await edit.run(
    { path: 'a.js', old_string: 'eins\nzwei\n', new_string: 'eins\nneu\nzwei\n' },
    folder.context,
  );
  assert.deepEqual(
    await readFile(folder.at('a.js')),
    Buffer.from('\ufeffeins\r\nneu\nzwei\ndrei\r\n', 'utf16le'),
  );
  await edit.run({ path: 'a.js', old_string: 'drei\r\n', new_string: 'drei\r\nvier\r\n' }, folder.context);
  assert.deepEqual(
    await readFile(folder.at('a.js')),
    Buffer.from('\ufeffeins\r\nneu\nzwei\ndrei\r\nvier\r\n', 'utf16le'),
  );
});

describe('many edits of one file at the same time', () => {
  const count = 40;
  const content = Array.from({ length: count }, (_, at) => `line ${at}.\n`).join('');
  const inputs = Array.from({ length: count }, (_, at) => ({
    path: 'a.js',
    old_string: `line ${at}.`,
    new_string: `done ${at}.`,
  }));
  const expected = content.replaceAll('line', 'done');

  test('lose nothing', async () => {
    await using folder = await folderWith(content);
    const results = await Promise.all(inputs.map((input) => edit.run(input, folder.context)));
    for (const result of results) assert.match(textOf(result), /^Edited a\.js/);
    assert.equal(await readFile(folder.at('a.js'), 'utf8'), expected);
  });

  test('do lose some when each has a queue of its own, which shows that the queue is what keeps them', async () => {
    const local = createLocalFiles();
    const allHaveRead = Promise.withResolvers<void>();
    let readers = 0;
    const files: Files = {
      ...local,
      read: async (path, range) => {
        const bytes = await local.read(path, range);
        if (++readers === count) allHaveRead.resolve();
        await allHaveRead.promise;
        return bytes;
      },
    };
    await using folder = await createTestFolder({ files });
    await writeFile(folder.at('a.js'), content);
    const alone = () => toolNamed(createFileTools({ ripgrep: null }), 'edit');
    await Promise.all(inputs.map((input) => alone().run(input, folder.context)));
    assert.equal((await readFile(folder.at('a.js'), 'utf8')).match(/done/g)?.length, 1);
  });
});

test('paths are shown as they were named, also below a working directory that is a link', async () => {
  await using folder = await folderWith('old\n');
  await symlink('.', folder.at('link'));
  const context = { ...folder.context, identity: { ...folder.context.identity, cwd: folder.at('link') } };
  const text = await runForText(edit, { path: 'a.js', old_string: 'old', new_string: 'new' }, context);
  assert.match(text, /^Edited a\.js, line 1/);
  assert.equal(await runForText(toolNamed(tools, 'grep'), { pattern: 'new' }, context), 'a.js:1: new');
  assert.equal(await runForText(toolNamed(tools, 'find'), { pattern: '*.js' }, context), 'a.js');
});

test('a diff that is shown can be applied', async () => {
  const random = seeded(5);
  const run = promisify(execFile);
  for (let round = 0; round < 25; round++) {
    const line = () => ['alpha', 'beta', 'gamma', ''][Math.floor(random() * 4)] ?? '';
    const before = Array.from({ length: 30 }, (_, at) => `${at} ${line()}`);
    const after = before.flatMap((text) => (random() < 0.1 ? [] : random() < 0.2 ? [text, line()] : [text]));
    const join = (lines: readonly string[]) => lines.join('\n') + (random() < 0.5 ? '\n' : '');
    await using folder = await folderWith(join(before));
    await read.run({ path: 'a.js' }, folder.context);
    const content = join(after);
    const { display } = await write.run({ path: 'a.js', content }, folder.context);
    assert.ok(display?.kind === 'diff');
    await writeFile(folder.at('patch'), display.diff);
    await run('git', ['apply', '-R', '-p0', 'patch'], { cwd: folder.path });
    await run('git', ['apply', '-p0', 'patch'], { cwd: folder.path });
    assert.equal(await readFile(folder.at('a.js'), 'utf8'), content);
  }
});

test('nothing but the file itself is written, and nothing at all when writing fails', async () => {
  const local = createLocalFiles();
  const written: string[] = [];
  const files: Files = {
    ...local,
    write: async (path) => {
      written.push(path);
      throw new Error('no space');
    },
  };
  await using folder = await createTestFolder({ files });
  await writeFile(folder.at('a.js'), 'old');
  await assert.rejects(
    edit.run({ path: 'a.js', old_string: 'old', new_string: 'new' }, folder.context),
    /no space/,
  );
  assert.deepEqual(written, [folder.at('a.js')]);
  assert.deepEqual([...folder.state], []);
});

test('edit takes the names that models use', () => {
  assert.deepEqual(edit.prepare?.({ filePath: 'a', oldText: 'x', newText: 'y', replaceAll: true }), {
    path: 'a',
    old_string: 'x',
    new_string: 'y',
    replace_all: true,
  });
  assert.deepEqual(edit.prepare?.({ file_path: 'a', edits: [{ old_str: 'x', new_str: 'y' }] }), {
    path: 'a',
    edits: [{ old_string: 'x', new_string: 'y' }],
  });
});
