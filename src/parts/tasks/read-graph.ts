// The list of tasks as the tape has it. A value of another version, or one that somebody changed, loses the tasks that
// cannot be understood and nothing else.

import type { JsonObject } from '../../core/schema.ts';
import { NO_TASKS, type Task, type TaskGraph } from './task-graph.ts';
import { TASK_STATUSES } from './task-statuses.ts';

export function readGraph(value: unknown): TaskGraph {
  const { nextId, tasks } = Object(value) as JsonObject;
  if (!Array.isArray(tasks)) return NO_TASKS;
  const read = tasks.flatMap((each: unknown) => taskIn(Object(each) as JsonObject) ?? []);
  const highest = Math.max(0, ...read.map(({ id }) => Number(id)));
  const next = typeof nextId === 'number' && Number.isSafeInteger(nextId) ? nextId : 1;
  return { nextId: Math.max(next, highest + 1), tasks: read };
}

function taskIn(value: JsonObject): Task | undefined {
  const { id, subject, description, activeForm, status, owner, metadata, blockedBy } = value;
  const known = TASK_STATUSES.find((name) => name === status);
  if (typeof id !== 'string' || !/^[1-9]\d{0,8}$/.test(id)) return undefined;
  if (typeof subject !== 'string' || known === undefined) return undefined;
  const isObject = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata);
  return {
    id,
    subject,
    description: typeof description === 'string' ? description : '',
    status: known,
    metadata: isObject ? (metadata as JsonObject) : {},
    blockedBy: Array.isArray(blockedBy) ? blockedBy.filter((each) => typeof each === 'string') : [],
    ...(typeof activeForm === 'string' && { activeForm }),
    ...(typeof owner === 'string' && { owner }),
  };
}
