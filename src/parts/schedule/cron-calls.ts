// What the tools for the schedule do. They change it and fire nothing; each result says whether something reads the
// schedule, so that nobody counts on what will not come.

import { CrabError, ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { type CronEntry, type NewCron, nextRun } from './cron-entry.ts';
import type { CronStore } from './cron-store.ts';
import type { Crons } from './cron-tools.ts';

const UNREAD =
  'No service is running that fires the schedule, so nothing happens at that time until one reads the file.';

export async function createCron(crons: Crons, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  return mended(create(await crons.open(), input, context));
}

export async function listCrons(crons: Crons, now: Date): Promise<ToolOutput> {
  return mended(list(await crons.open(), now));
}

export async function deleteCron(crons: Crons, id: number): Promise<ToolOutput> {
  return mended(remove(await crons.open(), id));
}

async function create(store: CronStore, input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const { identity, clock } = context;
  const text = (key: string) => (typeof input[key] === 'string' ? input[key].trim() : undefined);
  const given = {
    prompt: text('prompt'),
    skill: text('skill')?.replace(/^\//, ''),
    quietStart: text('quiet_start'),
    quietEnd: text('quiet_end'),
    tz: text('timezone'),
  };
  const entry: NewCron = {
    schedule: text('schedule') ?? '',
    agent: identity.agent,
    sender: 'cron',
    cwd: identity.cwd,
    once: input['once'] === true,
    ...(Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as Partial<NewCron>),
  };
  const made = await store.add(entry);
  const next = await nextRun(made, new Date(clock.now()));
  return textOutput(`Entry ${made.id} is in ${store.path}; its next time is ${timeOf(next)}. ${UNREAD}`);
}

async function list(store: CronStore, now: Date): Promise<ToolOutput> {
  const entries = await store.list();
  if (entries.length === 0) return textOutput('Nothing is scheduled.');
  const rows = await Promise.all(entries.map((entry) => rowOf(entry, now)));
  const columns = ['id', 'schedule', 'next', 'what'];
  const text = [...rows.map((row) => row.join('  ')), UNREAD].join('\n');
  return textOutput(text, { kind: 'table', columns, rows });
}

async function rowOf(entry: CronEntry, now: Date): Promise<readonly string[]> {
  const next = await nextRun(entry, now).then(timeOf, () => 'cannot be read');
  const what = (entry.prompt ?? `/${entry.skill ?? ''}`).replace(/\s+/g, ' ').slice(0, 200).toWellFormed();
  return [String(entry.id), `${entry.schedule}${entry.once ? ' (once)' : ''}`, next, what];
}

async function remove(store: CronStore, id: number): Promise<ToolOutput> {
  const removed = await store.remove(id);
  if (removed === undefined) {
    const ids = (await store.list()).map((entry) => entry.id);
    throw new ToolFailure(
      `There is no entry ${id}. ${ids.length === 0 ? 'There are none.' : `There are: ${ids.join(', ')}.`}`,
    );
  }
  return textOutput(`Entry ${id} is taken out: ${removed.prompt ?? `/${removed.skill}`}`);
}

function timeOf(at: Date | undefined): string {
  return at === undefined ? 'never' : at.toISOString().replace('.000Z', 'Z');
}

/** A file that a person broke is told as it is; what to do about it is theirs. */
async function mended<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CrabError) throw new ToolFailure(`${error.message} ${error.hint}`, { cause: error });
    throw error;
  }
}
