// What is remembered in one conversation is there in the next, in this project or in all of them, for the model and for
// the person.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import {
  type Journey,
  journey,
  type Line,
  linesOf,
  nearTest,
  onEachWire,
  onlySession,
} from '../support/journey.ts';
import { eventually } from '../support/processes.ts';

const call = (name: string, input: Record<string, unknown>) => ({ calls: [{ name, input }] });

onEachWire('the model remembers in one run and recalls in another', async (wire) => {
  await using at = await journey(wire, {
    script: {
      scripts: [
        {
          when: 'learn',
          replies: [
            call('remember', { name: 'deploy', content: 'Run make ship on Fridays.', aliases: ['release'] }),
            { text: 'Noted.' },
          ],
        },
        {
          when: 'ask',
          replies: [call('recall', { query: 'how do I release' }), { text: 'With make ship.' }],
        },
        { when: 'drop', replies: [call('forget', { name: 'release' }), { text: 'Gone.' }] },
      ],
    },
  });
  assert.equal((await at.run(['-p', 'learn'])).stdout, 'Noted.\n');
  assert.equal((await at.run(['-p', 'ask'])).stdout, 'With make ship.\n');
  const results = () => at.asked().at(-1)?.messages;
  assert.match(
    JSON.stringify(results()),
    /## deploy \(project, \d{4}-\d\d-\d\d\)\\nAlso: release\\nRun make ship/,
  );
  assert.equal((await at.run(['-p', 'drop'])).stdout, 'Gone.\n');
  await at.run(['-p', 'ask']);
  assert.match(JSON.stringify(results()), /Nothing is remembered about that/);
});

onEachWire('search_memory is another name of recall', async (wire) => {
  await using at = await journey(wire, {
    script: [
      call('remember', { name: 'deploy', content: 'Run make ship on Fridays.' }),
      call('search_memory', { query: 'ship' }),
      { text: 'Done.' },
    ],
  });
  await at.run(['-p', 'go']);
  const found = at.asked()[2]?.messages.at(-1)?.text ?? '';
  assert.match(found, /^## deploy \(project, \d{4}-\d\d-\d\d\)\nRun make ship on Fridays\.$/);
});

test('a person lists, shows, searches, changes and removes what is remembered', async () => {
  await using at = await journey('anthropic', { script: [] });
  const crab = async (args: readonly string[], stdin?: string) => {
    const exit = await at.run(['memory', ...args], stdin === undefined ? {} : { stdin });
    assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
    return exit.stdout.replace(/^\d{4}-\d\d-\d\d/gm, 'DAY');
  };
  assert.equal(await crab(['list']), 'Nothing is remembered yet.\n');
  assert.equal(await crab(['edit', 'style'], 'Two spaces.\n'), 'Remembered style (project).\n');
  assert.equal(await crab(['edit', 'me', '--scope', 'user'], 'I like tea.'), 'Remembered me (user).\n');
  assert.equal(await crab(['list']), 'DAY  project  style\nDAY  user     me\n');
  assert.equal(await crab(['show', 'me']), 'DAY  user     me\n\nI like tea.\n');
  assert.equal(await crab(['search', 'tea']), 'DAY  user     me\n');
  assert.equal(await crab(['edit', 'moves'], 'up \u001b[2J\u0007here\n'), 'Remembered moves (project).\n');
  assert.doesNotMatch(await crab(['show', 'moves']), /[\p{Cc}--\n]/v);
  assert.ok((await crab(['show', 'moves', '--json'])).includes('up \\u001b[2J\\u0007here\\n'));
  assert.equal(await crab(['remove', 'moves']), 'Removed moves (project).\n');
  assert.equal(await crab(['edit', 'style'], 'Four spaces.\n'), 'Changed style (project).\n');
  const [shown] = JSON.parse(await crab(['list', '--json'])) as readonly object[];
  const { created, ...rest } = shown as { created: string };
  assert.match(created, /^\d{4}-\d\d-\d\d$/);
  assert.deepEqual(rest, {
    name: 'style',
    aliases: [],
    kind: 'note',
    scope: 'project',
    content: 'Four spaces.\n',
  });
  await mkdir(at.work.file('sub/deep'), { recursive: true });
  assert.equal(await crab(['remove', 'style']), 'Removed style (project).\n');
  assert.equal(await crab(['list', '--scope', 'project']), 'Nothing is remembered yet.\n');
});

test('a memory gets other names, and a text that is empty or stale replaces nothing', async () => {
  await using at = await journey('anthropic', {
    script: {
      scripts: [
        { when: 'learn', replies: [call('remember', { name: 'shipping', content: ' ' }), { text: 'So.' }] },
        {
          when: 'again',
          replies: [
            call('remember', { name: 'release', content: 'make release', aliases: ['release', 'out'] }),
            { text: 'So.' },
          ],
        },
      ],
    },
  });
  const crab = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await at.run(['memory', ...args]);
    return `${code} ${stdout.replace(/^\d{4}-\d\d-\d\d/gm, 'DAY')}${stderr}`;
  };
  await at.run(['memory', 'edit', 'deploy'], { stdin: 'make ship' });
  assert.equal(await crab('alias', 'deploy', 'release', '発売'), '0 DAY  project  deploy (release, 発売)\n');
  assert.equal(await crab('rename', 'release', 'shipping'), '0 Renamed deploy to shipping (project).\n');
  assert.equal(await crab('show', '発売'), '0 DAY  project  shipping (release, 発売)\n\nmake ship\n');
  assert.match(await crab('rename', 'shipping'), /^2 crab: The form is `crab memory rename NAME NEW`/);
  assert.match(await crab('alias', 'shipping'), /^2 crab: The form is `crab memory alias NAME OTHER\.\.\.`/);
  assert.match(await crab('rename', 'nothing', 'x'), /^1 .*\[memory-unknown\]/);
  assert.match(await crab('edit', 'shipping'), /^2 crab: There is no text to remember\. \[usage\]/);
  assert.equal(await crab('edit', 'new'), '0 Nothing was changed.\n');
  await at.run(['-p', 'learn']);
  assert.match(JSON.stringify(at.asked().at(-1)?.messages), /A memory needs a text/);
  assert.equal(await crab('list'), '0 DAY  project  shipping (release, 発売)\n');
  // What the model chose last is its name, and the one before finds it still.
  await at.run(['-p', 'again']);
  assert.equal(await crab('show', 'shipping'), '0 DAY  project  release (out, shipping)\n\nmake release\n');
});

test('a memory that is damaged costs nobody the others', async () => {
  await using at = await journey('anthropic', {
    script: {
      scripts: [{ when: 'ask', replies: [call('search_memory', { query: 'tea' }), { text: 'With milk.' }] }],
    },
  });
  await at.run(['memory', 'edit', 'black'], { stdin: 'tea and milk' });
  await at.run(['memory', 'edit', 'green', '--scope', 'user'], { stdin: 'tea' });
  await writeFile(join(at.work.home, '.crab/memory/crab.crmem'), 'not what it was');
  await writeFile(join(at.work.home, '.crab/config.toml'), '[policy]\nmemory_prompt = true\n');
  const damage = /crab\.crmem is no memory that can be read: it does not begin as one\./;
  for (const args of [['list'], ['search', 'milk']]) {
    const { code, stdout, stderr } = await at.run(['memory', ...args]);
    assert.equal(code, 9);
    assert.match(stdout, /^\S+ +project +black\n$/);
    assert.match(stderr, damage);
  }
  assert.equal(JSON.parse((await at.run(['memory', 'list', '--json'])).stdout).length, 1);
  const exit = await at.run(['-p', 'ask']);
  assert.equal(exit.stdout, 'With milk.\n');
  assert.match(exit.stderr, damage);
  const { system, messages } = at.asked().at(-1) ?? {};
  assert.match(String(system), /\n- black \(project, 0 days old\): tea and milk/);
  assert.match(JSON.stringify(messages), /## black .*tea and milk\\n\\n\[.*does not begin as one/);
});

test('a memory goes out as pages and comes back, replaced or merged', async () => {
  await using at = await journey('anthropic', { script: [] });
  await at.run(['memory', 'edit', 'a/b'], { stdin: 'slash' });
  const dump = await at.run(['memory', 'dump', 'book']);
  assert.equal(dump.stdout, `Wrote 1 memory of the project to ${at.work.file('book')}.\n`);
  assert.match(
    await readFile(at.work.file('book/notes/a%2Fb.md'), 'utf8'),
    /^<div id="meta">[\s\S]*<\/div>\n\nslash$/,
  );
  await at.work.write('notes/mine.md', 'not of a memory');
  const refused = await at.run(['memory', 'dump', '.']);
  assert.equal(refused.code, 2);
  assert.match(
    refused.stderr,
    /notes is not of a memory that was dumped, and would be lost\. \[usage\]\nChoose an empty/,
  );
  assert.equal(await at.work.read('notes/mine.md'), 'not of a memory');
  assert.equal((await at.run(['memory', 'dump', 'book'])).code, 0);
  await at.run(['memory', 'edit', 'other'], { stdin: 'kept' });
  await at.run(['memory', 'load', 'book', '--merge']);
  assert.match((await at.run(['memory', 'list'])).stdout, /other\n.*a\/b\n$/);
  assert.equal(
    (await at.run(['memory', 'load', 'book'])).stdout,
    'Read 1 memory into the memory of the project.\n',
  );
  assert.match((await at.run(['memory', 'list'])).stdout, /^\S+ +project +a\/b\n$/);
  await at.work.write('book/notes/by hand.md', 'without facts');
  await at.run(['memory', 'load', 'book']);
  assert.match(
    (await at.run(['memory', 'list'])).stdout,
    /^20\d\d-\S+ +project +by hand\n20\d\d-\S+ +project +a\/b\n$/,
  );
});

test('processes that change it at once lose nothing of each other', async () => {
  await using at = await journey('anthropic', { script: [] });
  const names = Array.from({ length: 8 }, (_, number) => `note-${number}`);
  const exits = await Promise.all(names.map((name) => at.run(['memory', 'edit', name], { stdin: name })));
  assert.deepEqual(new Set(exits.map(({ code }) => code)), new Set([0]));
  const { stdout } = await at.run(['memory', 'list']);
  assert.deepEqual([...stdout.matchAll(/note-\d/g)].map(([name]) => name).sort(), names);
});

test('what cannot be meant is refused with what can', async () => {
  await using at = await journey('anthropic', { script: [] });
  for (const [args, code, message] of [
    [
      ['leak'],
      2,
      /There is no `crab memory leak`\. \[usage\]\nRun `crab memory --help`; for a prompt that begins so/,
    ],
    [['show'], 2, /The form is `crab memory show NAME`\./],
    [['show', 'nothing'], 1, /There is no memory called "nothing"\. \[memory-unknown\]/],
    [['list', '--scope', 'world'], 2, /--scope world is not known\./],
    [['load', '.'], 2, /has neither notes nor archives in it\./],
  ] as const) {
    const exit = await at.run(['memory', ...args]);
    assert.equal(exit.code, code);
    assert.match(exit.stderr, message);
  }
});

test('notes go to another agent’s kind of folder and come back', async () => {
  await using at = await journey('anthropic', { script: [] });
  const crab = async (args: readonly string[], stdin?: string) => {
    const exit = await at.run(['memory', ...args], stdin === undefined ? {} : { stdin });
    assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
    return exit.stdout.replaceAll(at.work.path, 'WORK');
  };
  await crab(['edit', 'style'], 'Two spaces.\n');
  assert.equal(await crab(['export', 'notes']), 'Wrote 1 memory of the project to WORK/notes.\n');
  assert.equal(await at.work.read('notes/MEMORY.md'), '- [style](style.md): Two spaces.\n');
  await crab(['edit', 'style'], 'Four spaces.\n');
  await crab(['edit', 'other'], 'Kept.\n');
  await at.work.write('notes/deploy.md', '---\nname: deploy\ntype: project\n---\nRun make ship.\n');
  assert.equal(await crab(['import', 'notes']), 'Read 2 memories into the memory of the project.\n');
  assert.match(await crab(['show', 'style']), /\n\nTwo spaces\.\n$/);
  assert.match(await crab(['show', 'other']), /\n\nKept\.\n$/);
  assert.match(await crab(['show', 'deploy']), /\n\n---\ntype: project\n---\nRun make ship\.\n$/);
  await at.work.write('facts/MEMORY.md', '# Facts\n\nTests: make test\n');
  assert.equal(await crab(['import', 'facts']), 'Read 1 memory into the memory of the project.\n');
  assert.match(await crab(['show', 'MEMORY']), /\n\n# Facts\n\nTests: make test\n$/);
  await at.work.write('notes/broken.md', '---\nname: x\n');
  const exit = await at.run(['memory', 'import', 'notes']);
  assert.equal(exit.code, 42);
  assert.match(
    exit.stderr,
    /broken\.md cannot be read as a memory: it begins with `---`[^\n]*\nMend the page; nothing was changed\./,
  );
  assert.match(await crab(['show', 'style']), /\n\nTwo spaces\.\n$/);
});

test('nothing is written through a link that lies in a project', async () => {
  await using at = await journey('anthropic', {
    script: [],
    files: { 'own.md': 'mine', 'own/page.md': 'mine' },
  });
  const { work } = at;
  const link = async (target: string, path: string) => {
    await mkdir(dirname(work.file(path)), { recursive: true });
    await symlink(work.file(target), work.file(path));
  };
  await link('own.md', '.crab/memory/style.md.tmp');
  const edit = await at.run(['memory', 'edit', 'style', '--scope', 'team'], { stdin: 'Two spaces.' });
  assert.equal(edit.stdout, 'Remembered style (team).\n');
  await at.run(['memory', 'edit', 'style', '--scope', 'project'], { stdin: 'Two spaces.' });
  await link('own.md', 'notes/style.md');
  await link('own.md', 'listed/MEMORY.md');
  await link('own', 'book/notes');
  await link('own.md', 'second/SUMMARY.md');
  for (const args of [
    ['export', 'notes'],
    ['export', 'listed'],
    ['dump', 'book'],
    ['dump', 'second'],
  ]) {
    const { code, stderr } = await at.run(['memory', ...args, '--scope', 'project']);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, /is a link, and nothing is written through it\. \[usage\]/);
  }
  assert.deepEqual([await work.read('own.md'), await work.read('own/page.md')], ['mine', 'mine']);
});

test('what a team shares is a file of the repository, and a model sees it where the project is trusted', async () => {
  const release = call('remember', { name: 'release', content: 'Tag first.', scope: 'team' });
  await using at = await journey('anthropic', {
    script: {
      scripts: [
        { when: 'ask', replies: [call('recall', { query: 'deploy' }), { text: 'So.' }] },
        { when: 'share', replies: [release, { text: 'Shared.' }] },
      ],
    },
    git: true,
  });
  const crab = (args: readonly string[], stdin = '') =>
    at.run(['memory', ...args, '--scope', 'team'], { stdin });
  assert.equal((await crab(['edit', 'deploy'], 'Run make ship.\n')).stdout, 'Remembered deploy (team).\n');
  assert.match(
    await at.work.read('.crab/memory/deploy.md'),
    /^---\nname: "deploy"\n[\s\S]*\nRun make ship\.\n$/,
  );
  const listed = await at.run(['memory', 'list']);
  assert.match(listed.stdout, /^\S+ {2}team {5}deploy\n$/);
  assert.match(listed.stderr, /is not trusted, so no model is shown what its team remembers/);
  const secret = await crab(['edit', 'key'], 'ghp_0123456789abcdefghijABCDEFGHIJ012345');
  assert.equal(secret.code, 2);
  assert.match(secret.stderr, /looks like a secret \(GitHub\)/);

  const result = () => JSON.stringify(at.asked().at(-1)?.messages);
  await at.run(['-p', 'ask']);
  assert.match(result(), /Nothing is remembered about that/);
  await at.run(['-p', '--trust', 'ask']);
  assert.match(result(), /## deploy \(team, /);

  await at.run(['-p', '--permission-mode', 'acceptEdits', 'share']);
  assert.match(result(), /Permission|refused|not allowed/i);
  await at.run(['-p', '--permission-mode', 'bypassPermissions', 'share']);
  assert.match(result(), /does not trust this project/);
  await at.run(['-p', '--permission-mode', 'bypassPermissions', '--trust', 'share']);
  assert.match(await at.work.read('.crab/memory/release.md'), /\nTag first\.$/);
});

test('a session begins with a list of what is remembered, where the person wants that', async () => {
  await using at = await journey('anthropic', { script: [{ text: 'Hello.' }, { text: 'Hello.' }] });
  await at.run(['memory', 'edit', 'style'], { stdin: '# Two spaces\n' });
  await at.run(['-p', 'hi']);
  assert.doesNotMatch(String(at.asked().at(-1)?.system), /Two spaces/);
  await writeFile(join(at.work.home, '.crab/config.toml'), '[policy]\nmemory_prompt = true\n');
  await at.run(['-p', 'hi']);
  assert.match(String(at.asked().at(-1)?.system), /\n- style \(project, 0 days old\): Two spaces/);
});

test('a model chooses what recall shows, where the person wants to pay for that', async () => {
  await using at = await journey('anthropic', {
    script: {
      scripts: [
        { when: 'Question: tea', replies: [{ text: '2' }] },
        { when: 'ask', replies: [call('recall', { query: 'tea' }), { text: 'So.' }] },
      ],
    },
  });
  await at.run(['memory', 'edit', 'green'], { stdin: 'tea tea tea' });
  await at.run(['memory', 'edit', 'black'], { stdin: 'tea and milk, tea and sugar' });
  await writeFile(join(at.work.home, '.crab/config.toml'), '[policy]\nmemory_ranking = "model"\n');
  const exit = await at.run(['-p', '--output-format', 'json', 'ask']);
  assert.equal(exit.code, 0, exit.stderr);
  const shown = JSON.stringify(at.asked().at(-1)?.messages);
  assert.match(shown, /## black/);
  assert.doesNotMatch(shown, /## green/);
  const ledger = linesOf(await at.run(['usage', '--json', '--by', 'cause']))[0] ?? {};
  const causes = (ledger['rows'] as readonly Line[]).map(({ key, requests }) => `${key} ${requests}`);
  assert.deepEqual(causes.toSorted(), ['aside 1', 'turn 2']);
});

test('what matters of a conversation is kept when somebody asks for that', async () => {
  const notes = [
    '{"name": "style", "content": "Two spaces."}',
    'no note',
    '{"name": "key", "content": "ghp_0123456789abcdefghijABCDEFGHIJ012345"}',
  ].join('\n');
  await using at = await journey('anthropic', {
    script: {
      scripts: [
        { when: 'line of JSON', replies: [{ text: notes }], otherwise: { text: notes } },
        { replies: [{ text: 'Yes.' }] },
      ],
    },
  });
  await at.run(['-p', 'Use two spaces.']);
  const first = await at.run(['-p', '-c', ',learn the style']);
  assert.equal(first.stdout, 'Remembered: style. `crab memory show NAME` shows one.\n');
  assert.match(
    JSON.stringify(at.asked().at(-1)?.messages),
    /Use two spaces[\s\S]*Look above all at: the style/,
  );
  assert.match((await at.run(['memory', 'show', 'style'])).stdout, /\n\nTwo spaces\.\n$/);
  assert.match((await at.run(['memory', 'list'])).stdout, /^\S+ +project +style\n$/);
  assert.equal((await at.run(['-p', '-c', ',learn'])).stdout, 'There is nothing new to remember.\n');
});

const MERGE =
  'Here they are:\n{"name": "ship", "from": ["ship", "release"], "content": "make ship, on Fridays."}\n' +
  '{"name": "other", "from": ["style", "tests"], "content": "A name that none of them has."}\n' +
  '{"name": "style", "from": ["style", "nothing"], "content": "Of a note that is not there."}\n' +
  '{"name": "tests", "from": ["tests", "style"], "content": "The key is ghp_0123456789abcdefghijABCDEFGHIJ012345"}\n{}';

const TIDY = { when: '</notes>', replies: [{ text: MERGE }], otherwise: { text: '{}' } };

async function withNotes(at: Journey, names: readonly string[]): Promise<void> {
  for (const name of names) await at.run(['memory', 'edit', name], { stdin: `About ${name}.` });
}

const names = async (at: Journey) =>
  (await at.run(['memory', 'list'])).stdout
    .replaceAll(/^\S+ +project +/gm, '')
    .trimEnd()
    .split('\n');

async function causes(at: Journey): Promise<readonly string[]> {
  const ledger = linesOf(await at.run(['usage', '--json', '--by', 'cause']))[0] ?? {};
  return (ledger['rows'] as readonly Line[]).map(({ key, requests }) => `${key} ${requests}`).toSorted();
}

onEachWire('notes that say the same are merged by hand, and what they were comes back', async (wire) => {
  await using at = await journey(wire, { script: { scripts: [TIDY, { replies: [{ text: 'Yes.' }] }] } });
  await withNotes(at, ['ship', 'release', 'style', 'tests']);
  const consolidate = (...more: readonly string[]) => at.run(['memory', 'consolidate', ...more]);
  assert.equal((await consolidate('--scope', 'user')).stdout, 'No notes of the user are to be merged.\n');
  assert.equal(at.asked().length, 0);
  const planned = await consolidate('--dry-run', '--scope', 'project');
  assert.match(
    planned.stdout,
    /^ship in place of ship, release:\n\nmake ship, on Fridays\.\nIt cost \$0\.\d{4}\.\n$/,
  );
  assert.deepEqual(await names(at), ['ship', 'release', 'style', 'tests']);
  const done = await consolidate();
  assert.equal(done.stderr, '');
  const folder = /`crab memory import (\S+)`/.exec(done.stdout)?.[1] ?? '';
  assert.match(done.stdout, /^ship in place of ship, release\.\n.* brings back what they were\.\nIt cost /);
  assert.deepEqual(await names(at), ['ship (release)', 'style', 'tests']);
  assert.match((await at.run(['memory', 'show', 'release'])).stdout, /\n\nmake ship, on Fridays\.\n$/);
  assert.deepEqual(await causes(at), ['memory 2']);
  assert.equal(
    (await at.run(['memory', 'import', folder])).stdout,
    'Read 2 memories into the memory of the project.\n',
  );
  assert.deepEqual((await names(at)).toSorted(), ['release', 'ship', 'style', 'tests']);
  assert.match((await at.run(['memory', 'show', 'release'])).stdout, /\n\nAbout release\.\n$/);
  assert.equal((await consolidate('--scope', 'team')).code, 2);
  assert.deepEqual(await at.sessions(), []);
});

nearTest(
  'notes are merged at the end of a conversation where the person wants that, and not each time',
  async () => {
    await using at = await journey('anthropic', {
      script: { scripts: [TIDY, { replies: [{ text: 'Yes.' }], otherwise: { text: 'Yes.' } }] },
    });
    await withNotes(at, ['ship', 'release', 'style', 'tests', 'tea']);
    const said = async (...more: readonly string[]) => {
      const exit = await at.run(['-p', 'hi', ...more]);
      assert.deepEqual([exit.code, exit.stdout], [0, 'Yes.\n']);
      return exit.stderr;
    };
    assert.equal(await said(), '');
    const settings = (text: string) =>
      writeFile(join(at.work.home, '.crab/config.toml'), `[policy]\n${text}`);
    await settings('memory_consolidate = true\nmemory_consolidate_usd = 0.000001\n');
    assert.match(await said(), /crab: the memory was not tidied: .*budget/i);
    assert.equal((await names(at)).length, 5);
    await settings('memory_consolidate = true\n');
    assert.match(
      await said(),
      /^crab: memory of the project: ship in place of ship, release\. `crab memory import \S+` brings back what they were\. \(\$0\.\d{4}\)\n$/,
    );
    assert.deepEqual(await names(at), ['ship (release)', 'style', 'tests', 'tea']);
    await withNotes(at, ['a', 'b', 'c', 'd', 'e']);
    assert.equal(await said(), '');
    assert.deepEqual(await causes(at), ['memory 1', 'turn 4']);
  },
);

nearTest('who is at it keeps others from it', async () => {
  await using at = await journey('anthropic', {
    script: { scripts: [{ when: '</notes>', replies: [{ text: 'I think', fault: { stallAfter: 1 } }] }] },
  });
  await withNotes(at, ['ship', 'release']);
  await using first = at.start(['memory', 'consolidate', '--scope', 'project']);
  await eventually('the model is asked', async () => at.asked().length === 1);
  const second = await at.run(['memory', 'consolidate', '--scope', 'project']);
  assert.deepEqual([second.code, at.asked().length], [1, 1]);
  assert.match(second.stderr, /The memory of the project is being consolidated by another process\./);
  first.kill('SIGINT');
  assert.equal((await first.exited).code, 130);
  assert.deepEqual(await names(at), ['ship', 'release']);
});

onEachWire('what a session keeps for itself is there when it goes on, and in no other', async (wire) => {
  const keep = { name: 'plan', content: 'Parser first, then the tests.', scope: 'session' };
  await using at = await journey(wire, {
    script: {
      scripts: [
        {
          when: 'keep',
          replies: [
            call('remember', keep),
            { text: 'Kept.' },
            call('recall', { query: 'parser plan' }),
            { text: 'So.' },
            call('tool_search', { query: 'select:forget' }),
            call('forget', { name: 'plan' }),
            { text: 'Gone.' },
          ],
        },
        { replies: [call('recall', { query: 'parser plan' }), { text: 'So.' }] },
      ],
    },
  });
  assert.equal((await at.run(['-p', 'keep'])).stdout, 'Kept.\n');
  const { header } = await onlySession(at);
  assert.ok(existsSync(join(at.work.home, '.crab/memory/sessions', `${header.id}.crmem`)));
  const last = () => JSON.stringify(at.asked().at(-1)?.messages.at(-1));
  await at.run(['-p', 'ask']);
  assert.match(last(), /Nothing is remembered about that/);
  await at.run(['-p', 'ask', '--no-session']);
  assert.match(last(), /Nothing is remembered about that/);
  await at.run(['-p', 'ask', '--resume', header.id]);
  assert.match(last(), /## plan \(session, \d{4}-\d\d-\d\d\)\\nParser first/);

  assert.equal((await at.run(['memory', 'list'])).stdout, 'Nothing is remembered yet.\n');
  const memory = (...words: readonly string[]) => at.run(['memory', ...words, '--session', header.id]);
  assert.match((await memory('list')).stdout, /^\S+ {2}session {2}plan\n$/);
  await at.run(['memory', 'edit', 'more', '--session', header.id], { stdin: 'Then the docs.' });
  assert.match((await memory('search', 'docs')).stdout, /^\S+ {2}session {2}more\n$/);
  assert.equal((await memory('remove', 'more')).stdout, 'Removed more (session).\n');
  for (const [words, message] of [
    [['list', '--session', '0000'], /No session’s id begins with 0000/],
    [['list', '--scope', 'session'], /--scope session needs a session\./],
    [['list', '--session', header.id, '--scope', 'user'], /--session and --scope user exclude each other\./],
    [['consolidate', '--session', header.id], /Only the memory of the project and your own are tidied\./],
  ] as const)
    assert.match((await at.run(['memory', ...words])).stderr, message);

  await at.run(['-p', 'drop', '--resume', header.id]);
  assert.match(last(), /Forgot plan/);
  await at.run(['-p', 'keep', '--no-session']);
  assert.match(last(), /This session is not kept, so nothing can be kept for it\./);
  assert.equal((await memory('list')).stdout, 'Nothing is remembered yet.\n');
});
