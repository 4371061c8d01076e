// What is remembered in one conversation is there in the next, in this project or in all of them, for the model and for
// the person.

import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { journey, onEachWire } from '../support/journey.ts';

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

test('a memory goes out as pages and comes back, replaced or merged', async () => {
  await using at = await journey('anthropic', { script: [] });
  await at.run(['memory', 'edit', 'a/b'], { stdin: 'slash' });
  const dump = await at.run(['memory', 'dump', 'book']);
  assert.equal(dump.stdout, `Wrote 1 memory of the project to ${at.work.file('book')}.\n`);
  assert.match(
    await readFile(at.work.file('book/notes/a%2Fb.md'), 'utf8'),
    /^<div id="meta">[\s\S]*<\/div>\n\nslash$/,
  );
  await at.run(['memory', 'edit', 'other'], { stdin: 'kept' });
  await at.run(['memory', 'load', 'book', '--merge']);
  assert.match((await at.run(['memory', 'list'])).stdout, /other\n.*a\/b\n$/);
  assert.equal(
    (await at.run(['memory', 'load', 'book'])).stdout,
    'Read 1 memory into the memory of the project.\n',
  );
  assert.match((await at.run(['memory', 'list'])).stdout, /^\S+ +project +a\/b\n$/);
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
    [['list', '--scope', 'team'], 2, /--scope team is not known\./],
    [['load', '.'], 2, /has neither notes nor archives in it\./],
  ] as const) {
    const exit = await at.run(['memory', ...args]);
    assert.equal(exit.code, code);
    assert.match(exit.stderr, message);
  }
});
