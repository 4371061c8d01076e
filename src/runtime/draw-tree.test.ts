import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TreeRow } from '../core/tape.ts';
import { drawTree, shortId } from './draw-tree.ts';

function row(id: string, parentId: string | null, more: Partial<TreeRow> = {}): TreeRow {
  return { id, parentId, kind: 'user', timestamp: '', text: `say ${id}`, isOnBranch: true, ...more };
}

const ROWS = [
  row('a', null),
  row('b', 'a', { kind: 'assistant', label: 'good\u202eone' }),
  row('c', 'b', { isOnBranch: false }),
  row('d', 'c', { isOnBranch: false, kind: 'crab.shell' }),
  row('e', 'b'),
  row('f', 'e'),
];

test('what follows one from another stands below it, and branches are set in', () => {
  const drawn = [
    '● a user: say a',
    '● b [good one] assistant: say b',
    '├─○ c user: say c',
    '│ ○ d shell: say d',
    '└─● e user: say e',
    '  ◆ f user: say f',
  ];
  assert.equal(drawTree(ROWS), drawn.join('\n'));
});

test('of too many rows the newest are shown, and what hangs from the others stands at the root', () => {
  assert.equal(
    drawTree(ROWS, 3),
    ['… 3 earlier entries', '├─○ d shell: say d', '└─● e user: say e', '  ◆ f user: say f'].join('\n'),
  );
});

test('a chain of a hundred thousand entries is drawn', () => {
  const rows = Array.from({ length: 100_000 }, (_, at) => row(`${at}`, at === 0 ? null : `${at - 1}`));
  assert.equal(drawTree(rows).split('\n').length, 100_000);
});

test('an id of ours is shown by its end, which is what differs', () => {
  assert.equal(shortId('01JA0000000000000000000001'), '00000001');
  assert.equal(shortId('a1b2c3d4'), 'a1b2c3d4');
});
