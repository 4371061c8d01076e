import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import { readGraph } from './read-graph.ts';
import {
  addTask,
  blockedTasks,
  changeTask,
  findTask,
  isReady,
  NO_TASKS,
  openBlockers,
  type TaskGraph,
} from './task-graph.ts';

function graphOf(count: number): TaskGraph {
  let graph = NO_TASKS;
  for (let number = 1; number <= count; number++)
    graph = addTask(graph, { subject: `task ${number}`, description: '' }).graph;
  return graph;
}

test('a task has an id that is never given twice, and is pending', () => {
  const { graph } = changeTask(graphOf(2), '2', { status: 'deleted' });
  const { task } = addTask(graph, { subject: 'third', description: 'd', metadata: { size: 3 } });
  assert.deepEqual(task, {
    id: '3',
    subject: 'third',
    description: 'd',
    metadata: { size: 3 },
    status: 'pending',
    blockedBy: [],
  });
});

test('an edge is seen from both ends, and a completed or deleted task holds nobody up', () => {
  const { graph } = changeTask(graphOf(3), '1', { addBlocks: ['2', '3'] });
  assert.deepEqual(blockedTasks(graph, '1'), ['2', '3']);
  assert.deepEqual(findTask(graph, '2').blockedBy, ['1']);
  assert.equal(isReady(graph, findTask(graph, '2')), false);
  for (const status of ['completed', 'deleted'] as const) {
    const after = changeTask(graph, '1', { status }).graph;
    assert.deepEqual(openBlockers(after, findTask(after, '2')), []);
    assert.equal(isReady(after, findTask(after, '2')), true);
  }
});

test('one that somebody owns, or that has begun, is not ready', () => {
  const owned = changeTask(graphOf(1), '1', { owner: 'ada' });
  assert.equal(isReady(owned.graph, owned.task), false);
  const freed = changeTask(owned.graph, '1', { owner: '' });
  assert.equal(isReady(freed.graph, freed.task), true);
  const begun = changeTask(freed.graph, '1', { status: 'in_progress' });
  assert.equal(isReady(begun.graph, begun.task), false);
});

test('a circle is refused and named, whichever edge closes it', () => {
  const { graph } = changeTask(graphOf(3), '2', { addBlockedBy: ['1'], addBlocks: ['3'] });
  const circle = { name: 'ToolFailure', message: /^Tasks cannot wait for each other in a circle: / };
  assert.throws(() => changeTask(graph, '1', { addBlockedBy: ['3'] }), circle);
  assert.throws(() => changeTask(graph, '3', { addBlocks: ['1'] }), circle);
  assert.throws(() => changeTask(graph, '1', { addBlockedBy: ['1'] }), circle);
});

test('with a deleted task its edges go, and no circle leads through it', () => {
  const { graph } = changeTask(graphOf(3), '1', { addBlocks: ['2'], addBlockedBy: ['3'] });
  const after = changeTask(graph, '1', { status: 'deleted' }).graph;
  assert.deepEqual(
    after.tasks.map(({ blockedBy }) => blockedBy),
    [[], [], []],
  );
  const { task } = changeTask(after, '3', { addBlockedBy: ['2'] });
  assert.deepEqual(task.blockedBy, ['2']);
});

test('a task without a subject is refused, made or changed', () => {
  const empty = { name: 'ToolFailure', message: 'The subject is empty.' };
  assert.throws(() => addTask(NO_TASKS, { subject: ' ', description: 'd' }), empty);
  assert.throws(() => changeTask(graphOf(1), '1', { subject: '' }), empty);
});

test('a refused change leaves the list as it was', () => {
  const before = graphOf(2);
  const copy = structuredClone(before);
  assert.throws(
    () => changeTask(before, '1', { subject: 'new', addBlockedBy: ['7'] }),
    /There is no task 7\./,
  );
  assert.deepEqual(before, copy);
});

test('a task does not start before what it waits for is completed', () => {
  const { graph } = changeTask(graphOf(2), '2', { addBlockedBy: ['1'] });
  assert.throws(() => changeTask(graph, '2', { status: 'in_progress' }), /Task 2 waits for 1, which must be/);
  const done = changeTask(graph, '1', { status: 'completed' }).graph;
  assert.equal(changeTask(done, '2', { status: 'in_progress' }).task.status, 'in_progress');
});

test('metadata is merged by key, and null takes a key away', () => {
  const { graph } = changeTask(graphOf(1), '1', { metadata: { a: 1, b: 2 } });
  assert.deepEqual(changeTask(graph, '1', { metadata: { a: null, c: 3 } }).task.metadata, { b: 2, c: 3 });
});

/** Whether the edges can be put in an order, by taking away what waits for nothing again and again. */
function hasOrder({ tasks }: TaskGraph): boolean {
  let left = tasks;
  for (;;) {
    const ids = new Set(left.map(({ id }) => id));
    const stuck = left.filter(({ blockedBy }) => blockedBy.some((id) => ids.has(id)));
    if (stuck.length === left.length) return left.length === 0;
    left = stuck;
  }
}

test('no order of changes leads to a circle, and only circles are refused', () => {
  const random = seeded(7);
  const pick = () => String(1 + Math.floor(random() * 8));
  let refused = 0;
  for (let round = 0; round < 40; round++) {
    let graph = graphOf(8);
    for (let step = 0; step < 30; step++) {
      const [one, other] = [pick(), pick()];
      const tasks = graph.tasks.map((task) =>
        task.id === one ? { ...task, blockedBy: [...task.blockedBy, other] } : task,
      );
      const mayBe = hasOrder({ ...graph, tasks });
      try {
        graph = changeTask(graph, one, { addBlockedBy: [other] }).graph;
        assert.equal(mayBe, true);
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error;
        refused++;
        assert.equal(mayBe, false);
      }
      assert.equal(hasOrder(graph), true);
    }
  }
  assert.ok(refused > 50);
});

test('what the tape has of the list is read, and what cannot be understood is left out', () => {
  const { graph } = changeTask(graphOf(2), '1', { owner: 'ada', activeForm: 'Doing' });
  assert.deepEqual(readGraph(structuredClone(graph)), graph);
  for (const bad of [undefined, null, 7, 'x', [], { tasks: {} }]) assert.deepEqual(readGraph(bad), NO_TASKS);
  const broken = { nextId: 1, tasks: [{ id: '../x' }, null, ...graph.tasks.slice(1), { id: '9' }] };
  assert.deepEqual(readGraph(broken), { nextId: 3, tasks: graph.tasks.slice(1) });
});
