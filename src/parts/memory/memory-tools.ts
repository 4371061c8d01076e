// The three tools over memory. Nothing is remembered or recalled behind anybody's back: what is not called does not happen.
// Where a name could mean a memory of the project and one of the person, the project's is nearer.

import { CrabError, ToolFailure } from '../../core/errors.ts';
import type { Memory, MemoryEntry, MemoryHit } from '../../core/memory.ts';
import type { JsonObject } from '../../core/schema.ts';
import {
  type CallPlan,
  type Identity,
  type Tool,
  type ToolContext,
  type ToolOutput,
  textOutput,
} from '../../core/tool.ts';

export const MEMORY_SCOPES = ['project', 'user'] as const;

export type MemoryScope = (typeof MEMORY_SCOPES)[number];

/** The memory of an agent in a scope; the same object for the same file. */
export type Memories = (scope: MemoryScope, identity: Pick<Identity, 'agent' | 'cwd'>) => Memory;

const DEFAULT_HITS = 5;
const MAX_HITS = 20;
/** Characters of one entry that a search shows. */
const EXCERPT_LENGTH = 2000;

const SCOPE = {
  type: 'string',
  enum: MEMORY_SCOPES,
  description: 'project (default): for this folder; user: for all of them',
} as const;

export function createMemoryTools(memories: Memories): readonly Tool[] {
  return [rememberTool(memories), forgetTool(memories), recallTool(memories)];
}

function rememberTool(memories: Memories): Tool {
  return {
    name: 'remember',
    source: 'builtin',
    description:
      'Keep a fact for later conversations: a preference, a decision and its reason, how something is done here. Replaces the memory of that name.',
    input: {
      type: 'object',
      properties: {
        name: { type: 'string', description: 'Short and telling' },
        content: { type: 'string', description: 'Markdown' },
        aliases: {
          type: 'array',
          items: { type: 'string' },
          description: 'Other words somebody may look for',
        },
        scope: SCOPE,
      },
      required: ['name', 'content'],
    },
    guidelines: [
      'Remember what will matter in another conversation and cannot be read from the files; never secrets.',
    ],
    plan: changes,
    async run(input, { identity }) {
      const memory = memories(scopeOf(input) ?? 'project', identity);
      const [name, content] = [textOf(input, 'name'), textOf(input, 'content')];
      const aliases = Array.isArray(input['aliases']) ? input['aliases'].map(String) : undefined;
      const given = aliases !== undefined && { aliases };
      const old = await memory.find(name);
      if (old?.kind === 'archive')
        throw new ToolFailure(`${name} is an archive of a conversation; choose another name.`);
      const operation =
        old === undefined
          ? ({ type: 'add', kind: 'note', name, content, ...given } as const)
          : ({ type: 'update', name, content, ...given } as const);
      await mended(memory.apply(operation));
      return textOutput(
        old === undefined ? `Remembered ${name}.` : `Replaced what was remembered as ${old.name}.`,
      );
    },
    show: async (input) => ({ kind: 'markdown', text: `remember ${textOf(input, 'name')}` }),
  };
}

function forgetTool(memories: Memories): Tool {
  return {
    name: 'forget',
    source: 'builtin',
    description: 'Drop a memory, by its name or an alias.',
    input: {
      type: 'object',
      properties: { name: { type: 'string' }, scope: SCOPE },
      required: ['name'],
    },
    plan: changes,
    async run(input, { identity }) {
      const name = textOf(input, 'name');
      const given = scopeOf(input);
      for (const scope of given === undefined ? MEMORY_SCOPES : [given]) {
        const memory = memories(scope, identity);
        const entry = await memory.find(name);
        if (entry === undefined) continue;
        if (entry.kind === 'archive')
          throw new ToolFailure(`${name} is an archive of a conversation, which only a person may remove.`);
        await mended(memory.apply({ type: 'remove', name: entry.name }));
        return textOutput(`Forgot ${entry.name}.`);
      }
      throw new ToolFailure(`Nothing is remembered as ${JSON.stringify(name)}.`);
    },
    show: async (input) => ({ kind: 'markdown', text: `forget ${textOf(input, 'name')}` }),
  };
}

function recallTool(memories: Memories): Tool {
  return {
    name: 'recall',
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
    run: (input, context) => recall(memories, input, context),
    show: async (input) => ({
      kind: 'matches',
      title: textOf(input, 'query'),
      count: 0,
      truncated: false,
      lines: [],
    }),
  };
}

async function recall(memories: Memories, input: JsonObject, { identity }: ToolContext): Promise<ToolOutput> {
  const query = textOf(input, 'query');
  const wanted = typeof input['limit'] === 'number' ? Math.trunc(input['limit']) : DEFAULT_HITS;
  const limit = Math.min(MAX_HITS, Math.max(1, wanted));
  const found: (MemoryHit & { readonly scope: MemoryScope })[] = [];
  for (const scope of MEMORY_SCOPES)
    for (const hit of await mended(memories(scope, identity).search(query, limit)))
      found.push({ ...hit, scope });
  const best = found.sort((a, b) => b.score - a.score).slice(0, limit);
  const text = best.map(({ entry, scope }) => shown(entry, scope)).join('\n\n');
  const display = {
    kind: 'matches',
    title: query,
    count: best.length,
    truncated: false,
    lines: best.map(({ entry }) => entry.name),
  } as const;
  return textOutput(text === '' ? '[Nothing is remembered about that.]' : text, display);
}

function shown({ name, aliases, content, kind, createdAt }: MemoryEntry, scope: MemoryScope): string {
  const day = new Date(Number(createdAt) * 1000).toISOString().slice(0, 10);
  const facts = [scope, ...(kind === 'archive' ? ['archive'] : []), day].join(', ');
  const also = aliases.length > 0 ? `\nAlso: ${aliases.join(', ')}` : '';
  const cut = content.length > EXCERPT_LENGTH;
  const text = cut
    ? `${content.slice(0, EXCERPT_LENGTH).toWellFormed()}…\n[${content.length} characters]`
    : content;
  return `## ${name} (${facts})${also}\n${text}`;
}

const changes = async (): Promise<CallPlan> => ({
  access: { kind: 'none' },
  parallel: false,
  repeatable: false,
});

/** What the model can put right is told to it; a disk that fails is not its affair. */
async function mended<T>(promise: Promise<T>): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof CrabError) throw new ToolFailure(`${error.message} ${error.hint}`, { cause: error });
    throw error;
  }
}

function scopeOf(input: JsonObject): MemoryScope | undefined {
  return MEMORY_SCOPES.find((scope) => scope === input['scope']);
}

function textOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value.trim() : '';
}
