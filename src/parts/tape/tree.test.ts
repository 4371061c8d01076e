import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Entry } from '../../core/tape.ts';
import { userSays } from './tape.fixture.ts';
import { EntryTree, outlineOf } from './tree.ts';

function entry(id: string, parentId: string | null): Entry {
  return { ...userSays(id), id, parentId, timestamp: '' };
}

function leaf(id: string, targetId: string | null): Entry {
  return { type: 'leaf', id, parentId: targetId, timestamp: '', targetId };
}

const PLACE = { offset: 0, length: 0, line: 0 };

function treeOf(...entries: readonly Entry[]): EntryTree {
  const tree = new EntryTree();
  for (const each of entries) tree.add(each, PLACE);
  return tree;
}

function read(tree: EntryTree, each: Entry): void {
  tree.addRead(outlineOf(each), PLACE, each);
}

/** The ids from the root to the head. */
function branch(tree: EntryTree, part?: Parameters<EntryTree['path']>[0]): string {
  return tree
    .path(part)
    .map((index) => tree.outline(index).id)
    .join(' ');
}

const ABC = [entry('a', null), entry('b', 'a'), entry('c', 'b')];

test('the branch grows with each entry', () => {
  const tree = treeOf(entry('a', null));
  assert.equal(branch(tree), 'a');
  tree.add(entry('b', 'a'), PLACE);
  assert.equal(branch(tree), 'a b');
});

test('a branch begins and ends where it is asked to, or is empty', () => {
  const tree = treeOf(...ABC, leaf('L', 'a'), entry('d', 'a'));
  assert.equal(branch(tree, { to: 'c' }), 'a b c');
  assert.equal(branch(tree, { to: 'c', from: 'b' }), 'b c');
  assert.equal(branch(tree, { from: 'd' }), 'd');
  assert.equal(branch(tree, { from: 'b' }), '');
  assert.equal(branch(tree, { from: 'nobody' }), '');
  assert.equal(branch(tree, { to: null }), '');
  assert.deepEqual(
    [...tree.ancestry('c')].map(({ id }) => id),
    ['c', 'b', 'a'],
  );
});

test('a leaf entry moves the head', () => {
  const tree = treeOf(...ABC, leaf('L', 'a'));
  assert.equal(tree.head, 'a');
  assert.equal(branch(tree), 'a');
  tree.add(entry('d', 'a'), PLACE);
  assert.equal(branch(tree), 'a d');
  tree.add(leaf('M', null), PLACE);
  assert.equal(branch(tree), '');
  tree.add(entry('e', null), PLACE);
  assert.equal(branch(tree), 'e');
  assert.deepEqual(tree.totals, { messages: 5 });
});

test('entries behind a damaged line hang from what came before it, on every branch alike', () => {
  const tree = new EntryTree();
  for (const each of [entry('a', null), entry('c', 'lost'), entry('d', 'c')]) read(tree, each);
  assert.equal(branch(tree), 'a c d');
  assert.deepEqual(tree.mended(1, entry('c', 'lost')), entry('c', 'a'));
  read(tree, leaf('L', 'lost'));
  assert.deepEqual(tree.mended(3, leaf('L', 'lost')), leaf('L', 'a'));
  read(tree, entry('e', 'lost'));
  assert.equal(branch(tree), 'a e');
});

test('an entry cannot make a circle', () => {
  const tree = new EntryTree();
  for (const each of [entry('a', 'b'), entry('b', 'a'), entry('c', 'c')]) read(tree, each);
  assert.equal(branch(tree), 'a b c');
});

test('the last label of an entry counts, and an empty one takes it away', () => {
  const label = (id: string, targetId: string, text: string | undefined): Entry => ({
    type: 'label',
    id,
    parentId: 'c',
    timestamp: '',
    targetId,
    label: text,
  });
  const tree = treeOf(...ABC, label('l1', 'a', 'one'), label('l2', 'b', 'two'), label('l3', 'a', 'three'));
  assert.deepEqual(
    [...tree.labels],
    [
      ['a', 'three'],
      ['b', 'two'],
    ],
  );
  tree.add(label('l4', 'a', undefined), PLACE);
  tree.add(label('l5', 'b', ''), PLACE);
  assert.deepEqual([...tree.labels], []);
});
