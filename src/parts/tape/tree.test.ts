import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Entry } from '../../core/tape.ts';
import { userSays } from './tape.fixture.ts';
import { EntryTree } from './tree.ts';

function entry(id: string, parentId: string | null): Entry {
  return { ...userSays(id), id, parentId, timestamp: '' };
}

function leaf(id: string, targetId: string | null): Entry {
  return { type: 'leaf', id, parentId: targetId, timestamp: '', targetId };
}

function ids(entries: readonly Entry[]): string {
  return entries.map(({ id }) => id).join(' ');
}

test('the branch is one array that grows with each entry', () => {
  const tree = new EntryTree();
  tree.add(entry('a', null));
  const branch = tree.branch();
  tree.add(entry('b', 'a'));
  assert.equal(ids(branch), 'a b');
  assert.equal(tree.branch(), branch);
});

test('a leaf entry moves the head, and the same array shows the other branch', () => {
  const tree = new EntryTree();
  for (const [id, parentId] of [
    ['a', null],
    ['b', 'a'],
    ['c', 'b'],
  ] as const)
    tree.add(entry(id, parentId));
  const branch = tree.branch();
  tree.add(leaf('L', 'a'));
  assert.equal(tree.head, 'a');
  assert.equal(ids(branch), 'a');
  tree.add(entry('d', 'a'));
  assert.equal(ids(branch), 'a d');
  tree.add(leaf('M', null));
  assert.deepEqual(branch, []);
  tree.add(entry('e', null));
  assert.equal(ids(branch), 'e');
  assert.deepEqual(tree.totals, { messages: 5 });
});

test('entries behind a damaged line hang from what came before it, on every branch alike', () => {
  const tree = new EntryTree();
  tree.addRead(entry('a', null));
  tree.addRead(entry('c', 'lost'));
  tree.addRead(entry('d', 'c'));
  assert.equal(ids(tree.branch()), 'a c d');
  assert.deepEqual(tree.branch()[1], { ...entry('c', 'lost'), parentId: 'a' });
  tree.addRead(leaf('L', 'lost'));
  tree.addRead(entry('e', 'lost'));
  assert.equal(ids(tree.branch()), 'a e');
});

test('an entry cannot make a circle', () => {
  const tree = new EntryTree();
  tree.addRead(entry('a', 'b'));
  tree.addRead(entry('b', 'a'));
  tree.addRead(entry('c', 'c'));
  assert.equal(ids(tree.branch()), 'a b c');
});
