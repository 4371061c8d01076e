// The guide's tables against the tables they describe.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { ERRORS, type ErrorCode, EXIT } from '../core/errors.ts';

/** The cells of each row of the tables in a page; header and rule are left out. */
function rows(page: string): string[][] {
  return page
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[-:|\s]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
}

function guide(name: string): string {
  return readFileSync(new URL(`../../docs/guide/${name}`, import.meta.url), 'utf8');
}

function isDocumented(page: string): string[][] {
  return rows(page)
    .filter(([code]) => code?.startsWith('`'))
    .map(([code = '', exit = '', , hint = '']) => [code.replaceAll('`', ''), exit, hint]);
}

const ERROR_ROWS = (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
  const { exit, hint } = ERRORS[code];
  return [code, String(EXIT[exit]), hint];
});

suite('the guide', () => {
  test('errors.md has every code with its status and advice', () => {
    assert.deepEqual(isDocumented(guide('errors.md')), ERROR_ROWS);
  });

  test('errors.md says of every code what it means', () => {
    for (const [code, , meaning] of rows(guide('errors.md')).slice(1))
      assert.ok((meaning ?? '').length > 10, code);
  });

  test('output-formats.md has every exit status', () => {
    const [, table = ''] = guide('output-formats.md').split('## Exit status');
    const statuses = rows(table)
      .slice(1)
      .map(([status]) => Number(status));
    assert.deepEqual(statuses, Object.values(EXIT));
  });

  test('a code that is missing from the page is noticed', () => {
    const page = guide('errors.md').replace(/^\| `network` .*\n/m, '');
    assert.notDeepEqual(isDocumented(page), ERROR_ROWS);
  });
});
