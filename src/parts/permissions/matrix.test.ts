import assert from 'node:assert/strict';
import { test } from 'node:test';
import { COLUMNS, PERMISSION_MODES } from '../../core/permission.ts';
import { decide } from './matrix.ts';

// Rows and columns stand in the order of the core's lists: read, write, outside, dangerous, external, spawn, denied.
const EXPECTED: Record<string, string> = {
  plan: 'allow deny deny deny deny deny deny',
  default: 'allow ask ask ask ask ask deny',
  acceptEdits: 'allow allow ask ask ask ask deny',
  trustProject: 'allow allow ask ask ask allow deny',
  dontAsk: 'allow deny deny deny deny deny deny',
  bypassPermissions: 'allow allow allow allow allow allow deny',
};

for (const mode of PERMISSION_MODES) {
  const row = (EXPECTED[mode] ?? '').split(' ');
  for (const [index, column] of COLUMNS.entries())
    test(`${mode} and ${column}: ${row[index]}`, () => {
      assert.equal(decide(mode, column, false), row[index]);
    });
}

test('a command differs from a file tool in one cell only: acceptEdits and write', () => {
  const differing = PERMISSION_MODES.flatMap((mode) =>
    COLUMNS.filter((column) => decide(mode, column, true) !== decide(mode, column, false)).map((column) => ({
      mode,
      column,
      decision: decide(mode, column, true),
    })),
  );
  assert.deepEqual(differing, [{ mode: 'acceptEdits', column: 'write', decision: 'ask' }]);
});
