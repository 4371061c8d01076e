import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Declaration } from '../core/agent.ts';
import { type Tool, textOutput } from '../core/tool.ts';
import { gather } from './catalogue.ts';
import { offeredTools } from './offered-tools.ts';

const tool = (name: string, more: Partial<Tool> = {}): Tool => ({
  name,
  source: 'builtin',
  description: `Does ${name}.`,
  input: { type: 'object' },
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  run: async () => textOutput(''),
  show: async () => ({ kind: 'markdown', text: '' }),
  ...more,
});

const TOOLS = [
  tool('hidden', { isDeferred: true, aliases: ['Hidden'], guidelines: ['Rule.'] }),
  tool('first'),
  tool('other', { isDeferred: true }),
  tool('second'),
];

/** A conversation's memory of what was offered; `names` is what its tape has. */
function memory(names: readonly string[] = []) {
  const offered = new Set(names);
  return { offered, offer: (more: readonly string[]) => void more.forEach((name) => void offered.add(name)) };
}

async function catalogueOf(tools?: readonly string[]) {
  const declaration = {
    agent: { name: 'crab', ...(tools && { tools }) },
    rules: [],
    withoutTools: [] as string[],
  };
  return gather([{ name: 'test', tools: async () => TOOLS }], declaration as unknown as Declaration, []);
}

test('a tool from elsewhere does not take the name of one that is there', async () => {
  const others = [
    tool('FIRST', { source: 'mcp' }),
    tool('new', { source: 'mcp', aliases: ['hid_den'] }),
    tool('mine', { source: 'extension' }),
    tool('mine', { source: 'mcp' }),
  ];
  const declaration = { agent: { name: 'crab' }, rules: [], withoutTools: [] } as unknown as Declaration;
  const extensions = [
    { name: 'others', tools: async () => others },
    { name: 'test', tools: async () => TOOLS },
  ];
  const catalogue = await gather(extensions, declaration, []);
  assert.deepEqual(names(catalogue.tools), [...names(TOOLS), 'mine']);
  assert.equal(catalogue.toolsByName.get('mine'), others[2]);
  assert.deepEqual(catalogue.notices, [
    'The tool FIRST was left out: there is one that answers to FIRST.',
    'The tool new was left out: there is one that answers to hid_den.',
    'The tool mine was left out: there is one that answers to mine.',
  ]);
});

const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

test('a deferred tool is sent from the moment it is offered, behind all others', async () => {
  const offered = offeredTools({ conversation: memory(), catalogue: await catalogueOf() });
  const before = offered.schemas();
  assert.deepEqual(names(before), ['first', 'second']);
  assert.equal(offered.schemas(), before, 'the same value while nothing is offered');
  offered.directory.offer(['other', 'first', 'unknown']);
  offered.directory.offer(['hidden', 'other']);
  assert.deepEqual(names(offered.schemas()), ['first', 'second', 'other', 'hidden']);
  assert.equal(offered.schemas(), offered.schemas());
});

test('what the tape says was offered is sent, and names that are no tools are passed over', async () => {
  const conversation = memory(['other', 'gone', 'first']);
  const offered = offeredTools({ conversation, catalogue: await catalogueOf() });
  assert.deepEqual(names(offered.schemas()), ['first', 'second', 'other']);
});

test('one that was never offered can be called, by any of its names', async () => {
  const { byName } = offeredTools({ conversation: memory(), catalogue: await catalogueOf() });
  assert.deepEqual([byName.get('hidden'), byName.get('Hidden')], [TOOLS[0], TOOLS[0]]);
});

test('the directory says which are sent', async () => {
  const { directory } = offeredTools({ conversation: memory(['other']), catalogue: await catalogueOf() });
  assert.deepEqual(
    directory.list().map(({ name, aliases, isOffered }) => ({ name, aliases, isOffered })),
    [
      { name: 'hidden', aliases: ['Hidden'], isOffered: false },
      { name: 'first', aliases: [], isOffered: true },
      { name: 'other', aliases: [], isOffered: true },
      { name: 'second', aliases: [], isOffered: true },
    ],
  );
});

test('a tool that the person chose by name is sent from the beginning', async () => {
  const catalogue = await catalogueOf(['Hidden', 'first']);
  const offered = offeredTools({ conversation: memory(), catalogue });
  assert.deepEqual(names(offered.schemas()), ['hidden', 'first']);
  assert.deepEqual(catalogue.promptParts, [
    '<scope>\nYou may use these and nothing else; anything outside is refused.\ntools: hidden, first\n</scope>',
  ]);
});

test('the prompt names what has to be looked for', async () => {
  const { promptParts } = await catalogueOf();
  assert.deepEqual(promptParts, [
    'There are further tools that you must look for before you call them: hidden, other.',
  ]);
});

test('the tool that ends the run stands before those that are found', async () => {
  const ending = tool('structured_output');
  const offered = offeredTools({ conversation: memory(['other']), catalogue: await catalogueOf(), ending });
  assert.deepEqual(names(offered.schemas()), ['first', 'second', 'structured_output', 'other']);
  assert.equal(offered.byName.get('structured_output'), ending);
});
