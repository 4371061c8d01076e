// The model's way to earlier sessions. It looks in those of its own agent, and not in the one that it is in, which it sees.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import {
  type SearchFilters,
  type SearchReply,
  type SessionHit,
  type SessionSearch,
  SPOKEN_ROLES,
  type WindowItem,
} from '../../core/search.ts';
import { type CallPlan, type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { timeOf } from './entry-text.ts';

const HITS = 5;
const AROUND = 4;
/** Characters of a message that was not itself found. */
const MAX_AROUND = 240;

export function createSearchTool(search: SessionSearch): Tool {
  return {
    name: 'search_sessions',
    source: 'builtin',
    isDeferred: true,
    description: 'Search what was said in earlier sessions, by words; shows the messages around each hit.',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        context_before: { type: 'integer', description: `Default ${AROUND}` },
        context_after: { type: 'integer', description: `Default ${AROUND}` },
        filters: {
          type: 'object',
          properties: {
            cwd: { type: 'string', description: 'This folder and below' },
            role: { type: 'string', enum: SPOKEN_ROLES },
            since: { type: 'string', description: 'ISO date' },
            until: { type: 'string' },
            session: { type: 'string', description: 'Id: every hit in it' },
            page: { type: 'integer', description: 'From 0' },
          },
        },
      },
      required: ['query'],
    },
    plan: async (): Promise<CallPlan> => ({ access: { kind: 'none' }, parallel: true, repeatable: true }),
    run: (input, context) => run(search, input, context),
    show: async (input) => ({
      kind: 'matches',
      title: queryIn(input),
      count: 0,
      truncated: false,
      lines: [],
    }),
  };
}

async function run(
  search: SessionSearch,
  input: JsonObject,
  { identity, signal }: ToolContext,
): Promise<ToolOutput> {
  const query = queryIn(input);
  if (query === '') throw new ToolFailure('The query is empty: name words that were said.');
  const { page, ...filters } = filtersIn(input['filters']);
  const reply = await search.search(
    {
      query,
      before: numberIn(input['context_before']) ?? AROUND,
      after: numberIn(input['context_after']) ?? AROUND,
      limit: HITS,
      page,
      filters: { ...filters, agent: identity.agent, exceptSession: identity.session },
    },
    signal,
  );
  const display = {
    kind: 'matches',
    title: query,
    count: reply.hits.length,
    truncated: reply.more,
    lines: reply.hits.map(({ session_id, meta }) => `${session_id} ${meta.title}`.trimEnd()),
  } as const;
  return textOutput(textOf(reply, page), display);
}

function textOf({ hits, more, ignored, pending, unreadable = 0 }: SearchReply, page: number): string {
  const notes = [
    ...(hits.length === 0 ? ['[Nothing was said about that.]'] : []),
    ...(more ? [`[More hits: page ${page + 1}.]`] : []),
    ...(ignored.length > 0 ? [`[Too common to look for: ${ignored.slice(0, 10).join(', ')}.]`] : []),
    ...(pending > unreadable
      ? [`[${pending - unreadable} sessions are not indexed yet; search again to look in them, too.]`]
      : []),
    ...(unreadable > 0 ? [`[${unreadable} sessions, or folders of them, cannot be read.]`] : []),
  ];
  return [...hits.map(hitText), ...notes].join('\n\n');
}

function hitText({ session_id, msg_idx, meta, window }: SessionHit): string {
  const day = new Date(meta.updated_at).toISOString().slice(0, 10);
  const title = meta.title === '' ? '' : `: ${meta.title.slice(0, MAX_AROUND).toWellFormed()}`;
  const head = `## ${session_id} (${day}, ${meta.cwd}, ${meta.message_count} messages)${title}`;
  return [head, ...window.map((item) => itemText(item, item.msg_idx === msg_idx))].join('\n');
}

function itemText({ role, msg_idx, snippet, truncated, tool_name }: WindowItem, isHit: boolean): string {
  const isShort = isHit || snippet.length <= MAX_AROUND;
  const text = isShort ? snippet : snippet.slice(0, MAX_AROUND).toWellFormed();
  const who = tool_name === undefined ? role : `${role} ${tool_name}`;
  return `[${msg_idx}]${isHit ? ' >' : ''} ${who}: ${text}${truncated || !isShort ? '…' : ''}`;
}

function filtersIn(value: unknown): SearchFilters & { readonly page: number } {
  const given = (typeof value === 'object' && value !== null ? value : {}) as JsonObject;
  const role = SPOKEN_ROLES.find((known) => known === given['role']);
  const since = dateIn(given, 'since');
  const until = dateIn(given, 'until');
  const { cwd, session } = given;
  return {
    page: Math.max(0, numberIn(given['page']) ?? 0),
    ...(typeof cwd === 'string' && cwd !== '' && { cwd }),
    ...(typeof session === 'string' && session !== '' && { session }),
    ...(role !== undefined && { role }),
    ...(since !== undefined && { since }),
    ...(until !== undefined && { until }),
  };
}

function dateIn(given: JsonObject, name: string): number | undefined {
  const value = given[name];
  if (value === undefined || value === '') return undefined;
  const time = timeOf(value);
  if (time === undefined) throw new ToolFailure(`${name} is no ISO date: ${JSON.stringify(value)}.`);
  return time;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? Math.trunc(value) : undefined;
}

function queryIn(input: JsonObject): string {
  const { query } = input;
  return typeof query === 'string' ? query.trim() : '';
}
