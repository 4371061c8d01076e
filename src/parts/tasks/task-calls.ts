// What the tools for tasks do. The list belongs to its conversation and is kept with it, so that a branch or a rewind has
// the list of its time.

import type { Display } from '../../core/display.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { readGraph } from './read-graph.ts';
import {
  addTask,
  blockedTasks,
  changeTask,
  findTask,
  isReady,
  openBlockers,
  type Task,
  type TaskChange,
  type TaskFields,
  type TaskGraph,
} from './task-graph.ts';

const STATE = 'tasks';

type Context = Pick<ToolContext, 'state'>;

export function create(input: JsonObject, { state }: Context): ToolOutput {
  const { addBlocks, addBlockedBy, ...fields } = input;
  const added = addTask(readGraph(state.get(STATE)), fields as unknown as TaskFields);
  const { graph, task } = changeTask(added.graph, added.task.id, { addBlocks, addBlockedBy } as TaskChange);
  state.set(STATE, graph);
  const waits = task.blockedBy.length === 0 ? '' : ` (waits for ${task.blockedBy.join(', ')})`;
  return textOutput(`Task ${task.id} is added: ${task.subject}${waits}`, display(graph));
}

export function get(input: JsonObject, { state }: Context): ToolOutput {
  const graph = readGraph(state.get(STATE));
  return textOutput(JSON.stringify(whole(graph, findTask(graph, String(input['taskId']))), null, 2));
}

export function list({ state }: Context): ToolOutput {
  const graph = readGraph(state.get(STATE));
  const lines = shown(graph).map((task) => lineOf(graph, task));
  return textOutput(lines.length === 0 ? 'There are no tasks.' : lines.join('\n'), display(graph));
}

export function open(state: Pick<Context['state'], 'get'>): readonly string[] {
  const graph = readGraph(state.get(STATE));
  const left = shown(graph).filter(({ status }) => status !== 'completed');
  return left.map((task) => `- task ${lineOf(graph, task)}`);
}

export function update(input: JsonObject, { state }: Context): ToolOutput {
  const { taskId, ...change } = input;
  const before = readGraph(state.get(STATE));
  const { graph, task } = changeTask(before, String(taskId), change as TaskChange);
  state.set(STATE, graph);
  const freed = blockedTasks(graph, task.id)
    .map((id) => findTask(graph, id))
    .filter((each) => isReady(graph, each) && task.status === 'completed');
  const ready = freed.length === 0 ? '' : ` Ready now: ${freed.map(({ id }) => id).join(', ')}.`;
  const what = task.status === 'deleted' ? `Task ${task.id} is deleted.` : lineOf(graph, task);
  return textOutput(`${what}${ready}`, display(graph));
}

function shown({ tasks }: TaskGraph): readonly Task[] {
  return tasks.filter(({ status }) => status !== 'deleted');
}

function whole(graph: TaskGraph, task: Task): object {
  return { ...task, blocks: blockedTasks(graph, task.id), ready: isReady(graph, task) };
}

function lineOf(graph: TaskGraph, task: Task): string {
  const waits = openBlockers(graph, task);
  const facts = [
    task.status,
    ...(task.owner === undefined ? [] : [`owner ${task.owner}`]),
    ...(waits.length === 0 ? [] : [`waits for ${waits.join(', ')}`]),
    ...(isReady(graph, task) ? ['ready'] : []),
  ];
  return `${task.id}. ${task.subject} [${facts.join('; ')}]`;
}

const SHOWN = { pending: 'pending', in_progress: 'active', completed: 'done', deleted: 'done' } as const;

function display(graph: TaskGraph): Display {
  return {
    kind: 'todo',
    items: shown(graph).map((task) => ({
      text: task.status === 'in_progress' ? (task.activeForm ?? task.subject) : task.subject,
      state: SHOWN[task.status],
    })),
  };
}
