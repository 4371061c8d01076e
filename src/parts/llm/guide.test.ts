// The guide to providers lists what the rows and the quirks are. A line that is missing is printed as it has to be.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { QUIRK_NAMES, settingOf } from './openai-quirk-settings.ts';
import type { ProviderRow } from './provider-row.ts';
import { PROVIDERS } from './providers.ts';

const GUIDE = await readFile(new URL('../../../docs/guide/providers.md', import.meta.url), 'utf8');

/** The lines of the table whose header begins with this word. */
function linesOf(header: string): readonly string[] {
  const [, table = ''] = GUIDE.split(new RegExp(`^\\| ${header} \\|.*\\n\\|[-|]+\\n`, 'm'));
  const [lines = ''] = table.split('\n\n');
  return lines.split('\n').filter((line) => line !== '');
}

/** A row's line without its notes. */
function lineOf({ name, auth, baseUrlKey, modelKey, defaultModel }: ProviderRow): string {
  const keys = auth.kind === 'key' ? auth.variables.map((variable) => variable.name) : [auth.kind];
  const cells = [[name], keys, [baseUrlKey], [modelKey], [defaultModel]].map((words) => {
    const known = words.filter((word) => word !== undefined);
    return known.length === 0 ? 'none' : known.map((word) => `\`${word}\``).join(', ');
  });
  return `| ${cells.join(' | ')} |`;
}

test('the guide has every provider, in the order in which one is chosen', () => {
  const written = linesOf('provider').map((line) => line.replace(/[^|]*\|$/, '').trim());
  assert.deepEqual(written, PROVIDERS.map(lineOf));
});

test('the guide has every quirk', () => {
  const written = linesOf('quirk').map((line) => /^\| `(\w+)` \|/.exec(line)?.[1]);
  assert.deepEqual(written, QUIRK_NAMES.map(settingOf));
});
