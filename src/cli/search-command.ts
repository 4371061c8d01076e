// `crab search`: what was said in any session, for a person to find and to go on with.

import { homedir } from 'node:os';
import { CrabError, EXIT } from '../core/errors.ts';
import type { Sink } from '../core/host.ts';
import { MAX_HITS, MAX_WINDOW, type SearchFilters, SPOKEN_ROLES } from '../core/search.ts';
import { paintFor } from '../faces/paint.ts';
import { OpenSearch } from '../parts/search/open-search.ts';
import { type Environment, workingFolder } from './home.ts';
import { progressOn } from './progress.ts';
import { searchOptions } from './search.ts';
import { replyText } from './search-text.ts';
import { sessionNamed } from './session-named.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';

const DEFAULT_LIMIT = 10;

const HELP = `Usage: crab search WORDS

  Finds sessions by what was said in them, the best first, in all folders.

  --here             sessions of this folder and those below it; --all (the default) means every folder
  --agent NAME       of this agent
  --role ROLE        said by: user, assistant, or tool (calls and results)
  --since WHEN       2026-01-31, or 12h, 7d, 3w ago
  --until WHEN       the same
  --session SESSION  every hit in this session: its id or the beginning of one, or its name
  -C N               N messages before and after each hit
  --limit N          hits, 1 to ${MAX_HITS} (default ${DEFAULT_LIMIT})
  --page N           the next ones, from 1
  --json             as JSON

  --rebuild          make the index anew from the session files
  --check            what the index holds, and whether it is sound
`;

/** Somebody waits who asked for this and nothing else. */
const PATIENCE_MS = 10_000;

export async function searchCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values, positionals } = subcommandArguments('search', argv, FLAGS);
  const stdout = sinkOf(process.stdout, env);
  const stderr = sinkOf(process.stderr, env);
  if (values.help === true) {
    await stdout.write(HELP);
    return EXIT.success;
  }
  const stop = stopOnSignals(() => {});
  const search = new OpenSearch({ ...searchOptions(env), patienceMs: PATIENCE_MS });
  try {
    if (values.rebuild === true) return await rebuild(search, stdout, stderr, stop.signal);
    if (values.check === true) return await check(search, stdout);
    const query = positionals.join(' ');
    if (query.trim() === '') throw usage('`crab search` needs words.');
    const around = numberOf(values.context, '-C', 0, MAX_WINDOW - 1) ?? 0;
    const reply = await search.search(
      {
        query,
        before: around,
        after: around,
        limit: numberOf(values.limit, '--limit', 1, MAX_HITS) ?? DEFAULT_LIMIT,
        page: (numberOf(values.page, '--page', 1, 1_000_000) ?? 1) - 1,
        filters: await filtersOf(values, env),
      },
      stop.signal,
    );
    if (values.json === true) await stdout.write(`${JSON.stringify(reply, null, 2)}\n`);
    else {
      const paint = paintFor(stdout.colour);
      const options = { query, paint, here: workingFolder(), home: env.HOME || homedir() };
      await stdout.write(replyText(reply, options));
    }
    const { pending, unreadable = 0 } = reply;
    if (pending > unreadable)
      await stderr.write(
        `crab: ${pending - unreadable} sessions are not indexed yet, so there may be more; search again to go on\n`,
      );
    if (unreadable > 0)
      await stderr.write(
        `crab: there may be more: ${unreadable} sessions, or folders of them, cannot be read in ${searchOptions(env).sessions}\n`,
      );
    return EXIT.success;
  } finally {
    await search.close();
    stop.release();
  }
}

async function rebuild(search: OpenSearch, stdout: Sink, stderr: Sink, signal: AbortSignal): Promise<number> {
  const progress = progressOn(stderr);
  const { files, pending } = await search.rebuild(
    (left) => progress.tell(`${left} sessions to read`),
    signal,
  );
  await progress.over();
  signal.throwIfAborted();
  const left = pending > 0 ? `; ${pending} could not be read` : '';
  await stdout.write(`Indexed ${files - pending} of ${files} sessions${left}.\n`);
  return EXIT.success;
}

async function check(search: OpenSearch, stdout: Sink): Promise<number> {
  const { path, damage, sessions, messages, pending, bytes } = await search.check();
  const rows = [
    ['index', path],
    ['size', `${(bytes / 1024 / 1024).toFixed(1)} MB`],
    ['sessions', String(sessions)],
    ['messages', String(messages)],
    ['to read', pending === 0 ? 'nothing' : `${pending} sessions, with the next search`],
    ['state', damage === undefined ? 'sound' : `damaged: ${damage}`],
  ];
  await stdout.write(rows.map(([left = '', right]) => `${left.padEnd(9)} ${right}\n`).join(''));
  if (damage === undefined) return EXIT.success;
  throw new CrabError('storage-failed', `The index ${path} is damaged; the sessions themselves are not.`, {
    hint: 'Make it anew with `crab search --rebuild`.',
  });
}

type Values = ReturnType<typeof subcommandArguments<typeof FLAGS>>['values'];

async function filtersOf(values: Values, env: Environment): Promise<SearchFilters> {
  if (values.here === true && values.all === true) throw usage('--here and --all exclude each other.');
  const { agent, session, role: given } = values;
  const role = SPOKEN_ROLES.find((known) => known === given);
  if (given !== undefined && role === undefined)
    throw usage(`--role ${given} is not known.`, `Use one of ${SPOKEN_ROLES.join(', ')}.`);
  const since = whenOf(values.since, '--since', false);
  const until = whenOf(values.until, '--until', true);
  return {
    ...(agent !== undefined && { agent }),
    ...(session !== undefined && { session: await sessionNamed(session, env) }),
    ...(role !== undefined && { role }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
    ...(values.here === true && { cwd: workingFolder() }),
  };
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Milliseconds since the epoch. A day is one of the person's own time zone, and lasts to its end. */
function whenOf(text: string | undefined, flag: string, isEnd: boolean): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return Date.now() - Number(count) * (UNITS[unit] ?? 0);
  const time = Date.parse(DAY.test(text) ? `${text}T${isEnd ? '23:59:59.999' : '00:00'}` : text);
  if (Number.isNaN(time)) throw usage(`${flag} ${text} is no time.`, 'Write 2026-01-31, or 12h, 7d, 3w.');
  return time;
}

function numberOf(text: string | undefined, flag: string, least: number, most: number): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (/^\d{1,9}$/.test(text) && number >= least && number <= most) return number;
  throw usage(`${flag} ${text} is no number from ${least} to ${most}.`);
}

const FLAGS = {
  here: { type: 'boolean' },
  all: { type: 'boolean' },
  agent: { type: 'string' },
  role: { type: 'string' },
  since: { type: 'string' },
  until: { type: 'string' },
  session: { type: 'string' },
  context: { type: 'string', short: 'C' },
  limit: { type: 'string' },
  page: { type: 'string' },
  json: { type: 'boolean' },
  rebuild: { type: 'boolean' },
  check: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const usage = (message: string, hint?: string) => subcommandUsage('search', message, hint);
