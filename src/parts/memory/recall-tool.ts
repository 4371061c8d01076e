// The tool `recall`: what was remembered, by words. What it shows is bounded, says which memory it comes from and how old it
// is: a note is what was so when it was written.

import type { MemoryEntry } from '../../core/memory.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type CallPlan, type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import {
  ageInDays,
  byAge,
  byModel,
  type MemoryRanker,
  type MemoryRanking,
  type ScopedHit,
} from './ranking.ts';
import { type Memories, type MemoryScope, mended, scopesFor, textOf } from './scopes.ts';

const DEFAULT_HITS = 5;
const MAX_HITS = 20;
/** Characters of one entry that a search shows. */
const EXCERPT_LENGTH = 2000;
/** Days after which a note is shown with a warning. */
const STALE_DAYS = 30;

export function recallTool(memories: Memories, ranking: MemoryRanking): Tool {
  return {
    name: 'recall',
    aliases: ['search_memory'],
    source: 'builtin',
    description: 'Search what was remembered and the summaries of earlier conversations, by words.',
    input: {
      type: 'object',
      properties: {
        query: { type: 'string' },
        limit: { type: 'integer', description: `Default ${DEFAULT_HITS}, at most ${MAX_HITS}` },
      },
      required: ['query'],
    },
    guidelines: ['Recall before asking for something that may have been said in an earlier conversation.'],
    plan: async (): Promise<CallPlan> => ({ access: { kind: 'none' }, parallel: true, repeatable: true }),
    run: (input, context) => recall(memories, ranking, input, context),
    show: async (input) => ({
      kind: 'matches',
      title: textOf(input, 'query'),
      count: 0,
      truncated: false,
      lines: [],
    }),
  };
}

async function recall(
  memories: Memories,
  ranking: MemoryRanking,
  input: JsonObject,
  context: ToolContext,
): Promise<ToolOutput> {
  const { identity, remembered, clock } = context;
  const query = textOf(input, 'query');
  const wanted = typeof input['limit'] === 'number' ? Math.trunc(input['limit']) : DEFAULT_HITS;
  const limit = Math.min(MAX_HITS, Math.max(1, wanted));
  const found: ScopedHit[] = [];
  const faults: string[] = [];
  for (const scope of scopesFor(memories, context)) {
    const memory = memories.of(scope, identity);
    const most = ranking === 'words' ? limit : MAX_HITS;
    for (const hit of await mended(memory.search(query, most))) found.push({ ...hit, scope });
    faults.push(...((await memory.faults?.()) ?? []));
  }
  const now = clock.now();
  const hits = found.sort((a, b) => b.score - a.score).slice(0, MAX_HITS);
  const best = (await rankerOf(ranking, context)({ query, hits, now })).slice(0, limit);
  if (best.length > 0) remembered({ type: 'memoryLoaded', count: best.length });
  const shown = best.map(({ entry, scope }) => shownEntry(entry, scope, now));
  const text = [...shown, ...faults.map((fault) => `[${fault}]`)].join('\n\n');
  const display = {
    kind: 'matches',
    title: query,
    count: best.length,
    truncated: false,
    lines: best.map(({ entry }) => entry.name),
  } as const;
  return textOutput(text === '' ? '[Nothing is remembered about that.]' : text, display);
}

function rankerOf(ranking: MemoryRanking, { consult }: ToolContext): MemoryRanker {
  if (ranking === 'age') return byAge;
  return ranking === 'model' && consult !== undefined ? byModel(consult) : async ({ hits }) => hits;
}

function shownEntry(entry: MemoryEntry, scope: MemoryScope, now: number): string {
  const { name, aliases, content, kind, createdAt } = entry;
  const day = new Date(Number(createdAt) * 1000).toISOString().slice(0, 10);
  const days = ageInDays(entry, now);
  const age = days === 0 ? [] : [days === 1 ? '1 day old' : `${days} days old`];
  const facts = [scope, ...(kind === 'archive' ? ['archive'] : []), day, ...age].join(', ');
  const also = aliases.length > 0 ? `\nAlso: ${aliases.join(', ')}` : '';
  const stale = days > STALE_DAYS ? '\n[Old: check that it still holds before you rely on it.]' : '';
  const cut = content.length > EXCERPT_LENGTH;
  const text = cut
    ? `${content.slice(0, EXCERPT_LENGTH).toWellFormed()}…\n[${content.length} characters]`
    : content;
  return `## ${name} (${facts})${also}${stale}\n${text}`;
}
