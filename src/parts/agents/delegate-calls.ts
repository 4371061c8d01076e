// What the tool `delegate` does: gives the tasks away, and waits for their ends or tells how to look after them.

import { ToolFailure } from '../../core/errors.ts';
import type { Event, RunEnd } from '../../core/event.ts';
import type { Job } from '../../core/job.ts';
import { messageText } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Subrun, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { agentOf, type Task, tasksOf } from './delegated-tasks.ts';

/** What a model needs when something runs behind the conversation. */
const JOB_TOOLS = ['task_output', 'task_stop'];

export function delegate(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  return input['background'] === true ? runBehind(input, context) : runAndWait(input, context);
}

interface Done {
  readonly task: Task;
  /** Absent when it could not begin. */
  readonly end?: RunEnd;
  readonly failure?: string;
}

async function runAndWait(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const agent = agentOf(input);
  const tasks = tasksOf(input);
  const done = await Promise.all(tasks.map((task) => carriedOut(agent, task, context)));
  const all = done.map((one) => (tasks.length === 1 ? resultOf(one) : wrapped(one)));
  const failed = done.filter(({ end }) => end?.outcome !== 'done').length;
  const output = textOutput(all.join('\n\n'), {
    kind: 'subrun',
    agent,
    task: tasks.map(({ title }) => title).join('; '),
    doing: failed === 0 ? 'done' : `${failed} of ${tasks.length} failed`,
  });
  return { ...output, isError: failed === tasks.length };
}

async function carriedOut(agent: string, task: Task, context: ToolContext): Promise<Done> {
  try {
    let end: RunEnd | undefined;
    for await (const events of context.run(subrunOf(agent, task, false), context.signal))
      for (const event of events) {
        if (event.type === 'runEnd') end = event;
        const doing = doingOf(event);
        if (doing !== undefined) context.progress({ kind: 'subrun', agent, task: task.title, doing });
      }
    return { task, ...(end !== undefined && { end }) };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { task, failure: error.message };
  }
}

function subrunOf(agent: string, { prompt, title, cwd }: Task, isBackground: boolean): Subrun {
  return { agent, prompt, title, ...(cwd !== undefined && { cwd }), isBackground };
}

function doingOf(event: Event): string | undefined {
  if (event.type === 'toolStart') return event.name;
  return event.type === 'turnStart' ? 'thinking' : undefined;
}

function resultOf({ end, failure }: Done): string {
  if (failure !== undefined) return failure;
  if (end === undefined) return 'It ended without a word.';
  const said = end.text.trim();
  if (end.outcome === 'done') return said === '' ? 'It is done, and said nothing.' : said;
  const why = `It did not finish (${end.outcome})${end.error === undefined ? '' : `: ${end.error.message}`}`;
  return said === '' ? why : `${why}\nThe last that it said:\n${said}`;
}

function wrapped(done: Done): string {
  return `<result task=${JSON.stringify(done.task.title)}>\n${resultOf(done)}\n</result>`;
}

async function runBehind(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const agent = agentOf(input);
  const jobs: Job[] = [];
  for (const task of tasksOf(input)) jobs.push(await startBehind(agent, task, context));
  context.tools.offer(JOB_TOOLS);
  const lines = jobs.map(
    ({ id, title, outputPath }) => `${id}: ${title} (what it says goes to ${outputPath})`,
  );
  return textOutput(
    `Begun in the background:\n${lines.join('\n')}\nYou will be told when they end; task_output reads what came of them.`,
    { kind: 'subrun', agent, task: jobs.map(({ title }) => title).join('; '), doing: 'in the background' },
  );
}

/** Resolves when it has begun. Rejects with `ToolFailure` when it cannot: then there is no news of it. */
async function startBehind(agent: string, task: Task, context: ToolContext): Promise<Job> {
  const { promise: begun, resolve, reject } = Promise.withResolvers<void>();
  begun.catch(() => {});
  const job = await context.jobs.start({
    kind: 'agent',
    title: `${agent}: ${task.title}`,
    run: async (output, signal) => {
      try {
        await written(context.run(subrunOf(agent, task, true), signal), output, resolve);
        return {};
      } catch (error) {
        reject(error);
        throw error;
      }
    },
  });
  try {
    await begun;
  } catch (error) {
    context.jobs.seen(job.id);
    throw error;
  }
  return job;
}

/** Rejects when the task came to nothing. */
async function written(
  running: AsyncIterable<readonly Event[]>,
  output: (text: string) => Promise<void>,
  begun: () => void,
): Promise<void> {
  for await (const events of running) {
    begun();
    for (const event of events) {
      if (event.type === 'toolStart') await output(`[${event.name}]\n`);
      if (event.type === 'messageEnd') {
        const text = messageText(event.message).trim();
        if (text !== '') await output(`${text}\n`);
      }
      if (event.type === 'runEnd' && event.outcome !== 'done')
        throw new ToolFailure(event.error?.message ?? `The task ended: ${event.outcome}.`);
    }
  }
}
