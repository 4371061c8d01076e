// Tasks that wait for each other. An edge is kept once, with the task that waits, so that its two ends cannot disagree;
// `blocks` is read from the others. A cycle is refused when its last edge is asked for: nothing in it could ever start.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { TaskStatus } from './task-statuses.ts';

export interface Task {
  /** Counts up from 1 and is never given twice. */
  readonly id: string;
  readonly subject: string;
  readonly description: string;
  /** What is shown while it is in progress. */
  readonly activeForm?: string;
  readonly status: TaskStatus;
  /** Who does it. */
  readonly owner?: string;
  readonly metadata: JsonObject;
  /** Ids of tasks that must be completed first. */
  readonly blockedBy: readonly string[];
}

export interface TaskGraph {
  readonly nextId: number;
  readonly tasks: readonly Task[];
}

export const NO_TASKS: TaskGraph = { nextId: 1, tasks: [] };

export type TaskFields = Pick<Task, 'subject' | 'description'> &
  Partial<Pick<Task, 'activeForm' | 'metadata'>>;

export interface TaskChange {
  readonly subject?: string;
  readonly description?: string;
  readonly activeForm?: string;
  readonly status?: TaskStatus;
  /** Empty: nobody. */
  readonly owner?: string;
  /** Merged key by key; null takes a key away. */
  readonly metadata?: JsonObject;
  readonly addBlocks?: readonly string[];
  readonly addBlockedBy?: readonly string[];
  readonly removeBlockedBy?: readonly string[];
}

/** Deleted ones included: every change writes the whole list to the tape. */
const MAX_TASKS = 500;

/** Throws `ToolFailure` when there are too many, or it has no subject. */
export function addTask(graph: TaskGraph, fields: TaskFields): { graph: TaskGraph; task: Task } {
  requireSubject(fields.subject);
  if (graph.tasks.length >= MAX_TASKS)
    throw new ToolFailure(`There are ${MAX_TASKS} tasks already, which is the most that one list holds.`);
  const task: Task = { metadata: {}, ...fields, id: String(graph.nextId), status: 'pending', blockedBy: [] };
  return { graph: { nextId: graph.nextId + 1, tasks: [...graph.tasks, task] }, task };
}

/** Throws `ToolFailure` for an id that is not there. A deleted task is there no more. */
export function findTask({ tasks }: TaskGraph, id: string): Task {
  const task = tasks.find((each) => each.id === id && each.status !== 'deleted');
  if (task !== undefined) return task;
  const known = tasks.filter(({ status }) => status !== 'deleted').map((each) => each.id);
  throw new ToolFailure(
    `There is no task ${id}. ${known.length === 0 ? 'There are none.' : `There are: ${known.join(', ')}.`}`,
  );
}

/**
 * All of the change or nothing. Throws `ToolFailure` for unknown ids, no subject, a cycle, and a start before what it waits
 * for. With a deleted task its edges go: nothing waits for what is not there, and no circle leads through it.
 */
export function changeTask(
  graph: TaskGraph,
  id: string,
  change: TaskChange,
): { graph: TaskGraph; task: Task } {
  const old = findTask(graph, id);
  if (change.subject !== undefined) requireSubject(change.subject);
  for (const other of [...(change.addBlocks ?? []), ...(change.addBlockedBy ?? [])]) findTask(graph, other);
  const removed = new Set(change.removeBlockedBy ?? []);
  const { owner, activeForm, status, ...rest } = old;
  const newOwner = change.owner ?? owner;
  const newForm = change.activeForm ?? activeForm;
  const task: Task = {
    ...rest,
    subject: change.subject ?? old.subject,
    description: change.description ?? old.description,
    status: change.status ?? status,
    metadata: merged(old.metadata, change.metadata ?? {}),
    blockedBy: joined(old.blockedBy, change.addBlockedBy).filter((each) => !removed.has(each)),
    ...(newForm !== undefined && newForm !== '' && { activeForm: newForm }),
    ...(newOwner !== undefined && newOwner !== '' && { owner: newOwner }),
  };
  if (task.status === 'deleted') return { graph: { ...graph, tasks: withoutEdges(graph, task) }, task };
  const blocks = new Set(change.addBlocks ?? []);
  const tasks = graph.tasks.map((each) => {
    if (each.id === id) return task;
    return blocks.has(each.id) ? { ...each, blockedBy: joined(each.blockedBy, [id]) } : each;
  });
  const next = { ...graph, tasks };
  refuseCycle(next, [id, ...blocks]);
  const starts = change.status === 'in_progress' || change.status === 'completed';
  const waitsFor = starts ? openBlockers(next, task) : [];
  if (waitsFor.length > 0)
    throw new ToolFailure(`Task ${id} waits for ${waitsFor.join(', ')}, which must be completed first.`);
  return { graph: next, task };
}

function requireSubject(subject: string): void {
  if (subject.trim() === '') throw new ToolFailure('The subject is empty.');
}

function withoutEdges({ tasks }: TaskGraph, deleted: Task): readonly Task[] {
  return tasks.map((each) =>
    each.id === deleted.id
      ? { ...deleted, blockedBy: [] }
      : { ...each, blockedBy: each.blockedBy.filter((id) => id !== deleted.id) },
  );
}

/** Ids of tasks that wait for this one. */
export function blockedTasks({ tasks }: TaskGraph, id: string): readonly string[] {
  return tasks
    .filter((task) => task.status !== 'deleted' && task.blockedBy.includes(id))
    .map((task) => task.id);
}

/** What a task still waits for: a completed one holds nobody up. */
export function openBlockers({ tasks }: TaskGraph, task: Task): readonly string[] {
  const open = new Set(
    tasks.filter(({ status }) => status === 'pending' || status === 'in_progress').map(({ id }) => id),
  );
  return task.blockedBy.filter((id) => open.has(id));
}

/** Pending, waiting for nothing, and nobody's: what can be taken up. */
export function isReady(graph: TaskGraph, task: Task): boolean {
  return task.status === 'pending' && task.owner === undefined && openBlockers(graph, task).length === 0;
}

/** Goes down from the tasks whose edges are new: only through one of these can a new cycle lead. */
function refuseCycle({ tasks }: TaskGraph, changed: readonly string[]): void {
  const waitsFor = new Map(tasks.map(({ id, blockedBy }) => [id, blockedBy]));
  const done = new Set<string>();
  for (const start of changed) {
    const path: string[] = [];
    const onPath = new Set<string>();
    const stack: { id: string; left: boolean }[] = [{ id: start, left: false }];
    for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
      if (at.left) {
        onPath.delete(at.id);
        path.pop();
        done.add(at.id);
        continue;
      }
      if (onPath.has(at.id)) {
        const cycle = [...path.slice(path.indexOf(at.id)), at.id].reverse();
        throw new ToolFailure(`Tasks cannot wait for each other in a circle: ${cycle.join(' → ')}.`);
      }
      if (done.has(at.id)) continue;
      onPath.add(at.id);
      path.push(at.id);
      stack.push({ id: at.id, left: true });
      for (const id of waitsFor.get(at.id) ?? []) stack.push({ id, left: false });
    }
  }
}

function joined(ids: readonly string[], more: readonly string[] = []): readonly string[] {
  return [...new Set([...ids, ...more])];
}

function merged(old: JsonObject, change: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries({ ...old, ...change }).filter(([, value]) => value !== null));
}
