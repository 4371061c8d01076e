// The guide's list of tools is what the tools say of themselves. `CRAB_UPDATE_GUIDE=1` writes it anew.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { allTools } from './all-tools.ts';
import { factsOf, firstSentence, type ToolFacts } from './tool-facts.ts';
import { TOUCHES } from './tools-command.ts';

const PAGE = new URL('../../docs/guide/tools.md', import.meta.url);
const START = '<!-- The list below is written by src/cli/tools-guide.test.ts. -->\n';
const END = '<!-- The end of the list. -->';

test('docs/guide/tools.md lists every tool', async () => {
  const tools = await allTools({ HOME: '/nonexistent', CRAB_HOME: '/nonexistent/.crab' });
  const list = sections(await Promise.all(tools.map(factsOf)));
  const page = await readFile(PAGE, 'utf8');
  const [before = '', rest = ''] = page.split(START);
  const [written, after = ''] = rest.split(END);
  if (process.env['CRAB_UPDATE_GUIDE'] === '1')
    return writeFile(PAGE, `${before}${START}${list}${END}${after}`);
  assert.equal(written, list, 'run this test with CRAB_UPDATE_GUIDE=1 to write the list anew');
});

function sections(all: readonly ToolFacts[]): string {
  const first = all.filter(({ isDeferred }) => !isDeferred);
  const deferred = all.filter(({ isDeferred }) => isDeferred);
  return `\n## Sent with every request\n\n${table(first)}\n## Found when they are looked for\n\n${table(deferred)}\n`;
}

function table(all: readonly ToolFacts[]): string {
  const rows = all.map(({ name, aliases, description, safety }) => {
    const names = [name, ...aliases].map((each) => `\`${each}\``).join(', ');
    return `| ${names} | ${cell(firstSentence(description))} | ${TOUCHES[safety.access]} |`;
  });
  return ['| tool | what it does | a call |', '|---|---|---|', ...rows, ''].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/</g, '&lt;');
}
