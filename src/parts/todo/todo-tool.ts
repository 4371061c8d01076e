// The tool `todo_write`: the model's own list of what it is about to do. A call carries the whole list, so that a list is
// never half changed; the list is kept with the conversation and goes back and forth with it.

import type { Display } from '../../core/display.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';

const STATUSES = ['pending', 'in_progress', 'completed'] as const;

type Status = (typeof STATUSES)[number];

interface Todo {
  readonly content: string;
  readonly status: Status;
  /** What is shown while it is in progress: "Running the tests". */
  readonly activeForm?: string;
}

const STATE = 'todo';
const MAX_TODOS = 200;
const MAX_LENGTH = 1000;

const DESCRIPTION =
  'Keeps your list of steps for a task that has several. A call replaces the whole list; ' +
  'without `todos` it returns the list as it stands.';

export function createTodoTool(): Tool {
  return {
    name: 'todo_write',
    aliases: ['TodoWrite', 'todo', 'write_todos'],
    source: 'builtin',
    description: DESCRIPTION,
    input: {
      type: 'object',
      properties: {
        todos: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              content: { type: 'string', description: 'As an order: "Run the tests"' },
              status: { type: 'string', enum: STATUSES },
              activeForm: { type: 'string', description: 'While it is done: "Running the tests"' },
            },
            required: ['content', 'status'],
          },
        },
      },
    },
    guidelines: [
      'For work of three or more steps keep a list with todo_write: one item in progress at a time, each completed as soon as it is done.',
    ],
    prepare,
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
    run,
    open: async (state) =>
      todosIn(state.get(STATE)).flatMap(({ content, status }) =>
        status === 'completed' ? [] : [`- [${status}] ${content}`],
      ),
    show: async (input) => (input['todos'] === undefined ? READ : listDisplay(todosIn(input['todos']))),
  };
}

/** What other lists call the same. */
const OTHER_STATUSES: Readonly<Record<string, Status>> = {
  todo: 'pending',
  open: 'pending',
  not_started: 'pending',
  active: 'in_progress',
  'in-progress': 'in_progress',
  'in progress': 'in_progress',
  done: 'completed',
  complete: 'completed',
};

function prepare(input: JsonObject): JsonObject {
  const { items, tasks = items, todos = tasks, ...rest } = input;
  const list = Array.isArray(todos) ? todos.map(prepareOne) : todos;
  return { ...rest, ...(list !== undefined && { todos: list }) };
}

function prepareOne(given: unknown): unknown {
  if (typeof given === 'string') return { content: given, status: 'pending' };
  const { text, task = text, content = task, active_form, status, ...rest } = Object(given) as JsonObject;
  return {
    ...rest,
    ...(content !== undefined && { content }),
    ...(active_form !== undefined && { activeForm: active_form }),
    ...(status !== undefined && { status: OTHER_STATUSES[String(status).toLowerCase()] ?? status }),
  };
}

const READ: Display = { kind: 'markdown', text: 'the list' };

async function run(input: JsonObject, { state }: ToolContext): Promise<ToolOutput> {
  if (input['todos'] === undefined) return listed(todosIn(state.get(STATE)));
  const todos = todosIn(input['todos']);
  check(todos);
  state.set(STATE, todos);
  const open = todos.filter(({ status }) => status !== 'completed');
  const [active] = todos.filter(({ status }) => status === 'in_progress');
  const next = active === undefined ? '' : ` In progress: ${active.content}.`;
  const text =
    open.length === 0
      ? `All ${todos.length} are completed.`
      : `The list has ${todos.length}, of which ${open.length} are open.${next}`;
  return textOutput(todos.length === 0 ? 'The list is empty.' : text, listDisplay(todos));
}

function check(todos: readonly Todo[]): void {
  if (todos.length > MAX_TODOS)
    throw new ToolFailure(`The list has ${todos.length} items; at most ${MAX_TODOS} are kept.`);
  for (const [index, { content }] of todos.entries()) {
    if (content === '') throw new ToolFailure(`Item ${index + 1} has no content.`);
    if (content.length > MAX_LENGTH)
      throw new ToolFailure(
        `Item ${index + 1} has ${content.length} characters; at most ${MAX_LENGTH} are kept.`,
      );
  }
  const active = todos.filter(({ status }) => status === 'in_progress');
  if (active.length > 1)
    throw new ToolFailure(
      `${active.length} items are in progress: ${active.map(({ content }) => content).join('; ')}. At most one may be.`,
    );
}

function listed(todos: readonly Todo[]): ToolOutput {
  const text = todos.map(({ content, status }, index) => `${index + 1}. [${status}] ${content}`).join('\n');
  return textOutput(text === '' ? 'The list is empty.' : text, listDisplay(todos));
}

const SHOWN = { pending: 'pending', in_progress: 'active', completed: 'done' } as const;

function listDisplay(todos: readonly Todo[]): Display {
  return {
    kind: 'todo',
    items: todos.map(({ content, activeForm, status }) => ({
      text: status === 'in_progress' ? (activeForm ?? content) : content,
      state: SHOWN[status],
    })),
  };
}

/** From a call or from the tape, whose values somebody may have changed. */
function todosIn(value: unknown): readonly Todo[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    const { content, status, activeForm } = Object(each) as JsonObject;
    const known = STATUSES.find((name) => name === status);
    if (typeof content !== 'string' || known === undefined) return [];
    const active = typeof activeForm === 'string' &&
      activeForm.trim() !== '' && { activeForm: activeForm.trim() };
    return [{ content: content.trim(), status: known, ...active }];
  });
}
