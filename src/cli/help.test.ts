// What people read against what the program does: the help, and the guide to everyday use.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { type Column, PERMISSION_MODES } from '../core/permission.ts';
import { PROVIDERS } from '../parts/llm/providers.ts';
import { decide } from '../parts/permissions/matrix.ts';
import { builtinCommands } from '../runtime/commands.ts';
import { FLAGS, type Flag } from './flags.ts';
import { helpText } from './help.ts';

const HELP = helpText();
const GUIDE = readFileSync(new URL('../../docs/guide/using-crab.md', import.meta.url), 'utf8');
const ALL: readonly Flag[] = FLAGS;

/** The rows of the guide's tables, as cells without their marks. */
const ROWS = GUIDE.split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  );

const BY_PROVIDER = new Map(
  PROVIDERS.map(({ name: provider, auth, baseUrlKey, modelKey }) => [
    provider,
    [
      ...(auth.kind === 'key' ? auth.variables.map(({ name }) => name) : []),
      ...[baseUrlKey, modelKey].filter((name) => name !== undefined),
    ],
  ]),
);

/** Of the providers, those of the two that most people have; the guide to providers has all of them. */
const VARIABLES = [
  ...(BY_PROVIDER.get('anthropic') ?? []),
  ...(BY_PROVIDER.get('openai') ?? []),
  'CRAB_MAX_RETRIES',
  'CRAB_REMOTE_TOKEN',
  'CRAB_HOME',
  'NO_COLOR',
];

suite('the help', () => {
  test('lists every flag once, with its choices, and no other', () => {
    const listed = [...HELP.matchAll(/^ {2}(?:-[a-zA-Z], )?--(?<name>[\w-]+)/gm)].map(
      (row) => row.groups?.['name'],
    );
    assert.deepEqual(listed.toSorted(), ALL.map(({ name }) => name).toSorted());
    const flat = HELP.replaceAll(/\s+/g, ' ');
    for (const { choices } of ALL) if (choices !== undefined) assert.ok(flat.includes(choices.join(', ')));
  });

  test('names every mode in order, and the flag accepts the same', () => {
    const section = HELP.split('Permission modes\n')[1]?.split('\n\n')[0] ?? '';
    const named = [...section.matchAll(/^ {2}(?<mode>[a-z]\w+) {2}/gm)].map((row) => row.groups?.['mode']);
    assert.deepEqual(named, [...PERMISSION_MODES]);
    assert.deepEqual(ALL.find(({ name }) => name === 'permission-mode')?.choices, [...PERMISSION_MODES]);
  });

  test('names the main environment variables, no provider’s that does not exist, and where the others are', () => {
    assert.deepEqual(
      VARIABLES.filter((name) => !HELP.includes(name)),
      [],
    );
    const known = new Set([...[...BY_PROVIDER.values()].flat(), ...VARIABLES]);
    const named = HELP.match(/\b[A-Z][A-Z0-9_]*_(?:KEY|TOKEN|URL|MODEL)\b/g) ?? [];
    assert.deepEqual(
      named.filter((name) => !known.has(name)),
      [],
    );
    assert.ok(named.length < 20, 'the help is no list of providers');
    assert.match(HELP, /docs\/guide\/providers\.md/);
  });

  test('fits a terminal of 110 columns', () => {
    assert.deepEqual(
      HELP.split('\n').filter((line) => line.length > 110),
      [],
    );
  });
});

suite('the guide to everyday use', () => {
  test('mentions no flag that does not exist', () => {
    const known = new Set(ALL.flatMap(({ name, also = [] }) => [name, ...also]));
    const mentioned = [...GUIDE.matchAll(/(?<![\w-])--(?<name>[a-zA-Z][\w-]*)/g)].map(
      (at) => at.groups?.['name'] ?? '',
    );
    assert.ok(mentioned.length > 20);
    assert.deepEqual(
      mentioned.filter((name) => !known.has(name)),
      [],
    );
  });

  test('has the table of modes', () => {
    const words = { allow: 'allow', ask: 'ask', deny: 'refuse' } as const;
    const cells: readonly (readonly [Column, boolean])[] = [
      ['read', false],
      ['write', false],
      ['write', true],
      ['outside', false],
      ['dangerous', false],
    ];
    const expected = PERMISSION_MODES.map((mode) => [
      `\`${mode}\``,
      ...cells.map(([column, byCommand]) => words[decide(mode, column, byCommand)]),
    ]);
    assert.deepEqual(
      ROWS.filter((row) => row.length === 6),
      expected,
    );
  });

  test('has every command and every environment variable', async () => {
    const first = ROWS.map(([cell = '']) => cell).join('\n');
    const commands = (await builtinCommands.commands?.()) ?? [];
    assert.ok(commands.length > 5);
    assert.deepEqual(
      commands.map(({ name }) => name).filter((name) => !first.includes(`\`,${name}`)),
      [],
    );
    assert.deepEqual(
      VARIABLES.filter((name) => !first.includes(`\`${name}\``)),
      [],
    );
  });
});
