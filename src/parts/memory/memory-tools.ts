// The three tools over memory. Nothing is remembered or recalled behind anybody's back: what is not called does not happen.
// Where a name could mean several, the session's own is nearest, then the project's, the team's, the person's.

import { ToolFailure } from '../../core/errors.ts';
import type { Memory, MemoryEntry, MemoryOperation } from '../../core/memory.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type CallPlan, type Tool, type ToolContext, textOutput } from '../../core/tool.ts';
import type { MemoryRanking } from './ranking.ts';
import { recallTool } from './recall-tool.ts';
import { MEMORY_SCOPES, type Memories, type MemoryScope, mended, scopesFor, textOf } from './scopes.ts';

const SCOPE = {
  type: 'string',
  enum: MEMORY_SCOPES,
  description:
    'project (default): for this folder; user: for all of them; session: for this conversation alone; team: a file in the repository, for everybody who works on it',
} as const;

export function createMemoryTools(memories: Memories, ranking: MemoryRanking = 'words'): readonly Tool[] {
  return [rememberTool(memories), forgetTool(memories), recallTool(memories, ranking)];
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
    plan: changesOf(memories),
    async run(input, context) {
      const { remembered } = context;
      const memory = memoryOf(memories, scopeOf(input) ?? 'project', context);
      const [name, content] = [textOf(input, 'name'), textOf(input, 'content')];
      if (content === '') throw new ToolFailure('A memory needs a text; `forget` drops one.');
      const aliases = Array.isArray(input['aliases']) ? input['aliases'].map(String) : undefined;
      const given = aliases !== undefined && { aliases: aliases.filter((alias) => alias !== name) };
      const old = await memory.find(name);
      if (old?.kind === 'archive')
        throw new ToolFailure(`${name} is an archive of a conversation; choose another name.`);
      const operations: readonly MemoryOperation[] =
        old === undefined
          ? [{ type: 'add', kind: 'note', name, content, ...given }]
          : replacing(old, { type: 'update', name, content, ...given });
      await mended(memory.apply(...operations));
      remembered({ type: 'memorySaved', name });
      return textOutput(
        old === undefined ? `Remembered ${name}.` : `Replaced what was remembered as ${old.name}.`,
      );
    },
    show: async (input) => ({ kind: 'markdown', text: `remember ${textOf(input, 'name')}` }),
  };
}

/** Its name is the one that was chosen last, and the one before finds it still. */
function replacing(
  { name: before }: MemoryEntry,
  update: Extract<MemoryOperation, { type: 'update' }>,
): readonly MemoryOperation[] {
  const { name } = update;
  if (before === name) return [update];
  return [{ type: 'rename', name: before, to: name }, update, { type: 'alias', name, aliases: [before] }];
}

function forgetTool(memories: Memories): Tool {
  return {
    name: 'forget',
    source: 'builtin',
    isDeferred: true,
    description: 'Drop a memory, by its name or an alias.',
    input: {
      type: 'object',
      properties: { name: { type: 'string' }, scope: SCOPE },
      required: ['name'],
    },
    plan: changesOf(memories),
    async run(input, context) {
      const name = textOf(input, 'name');
      const given = scopeOf(input);
      // What all share goes only where it is named.
      const own = scopesFor(memories, context).filter((scope) => scope !== 'team');
      const scopes = given === undefined ? own : [given];
      for (const scope of scopes) {
        const memory = memoryOf(memories, scope, context);
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

/** A note for the team is a file that others get with the repository, so that rules and questions are those of a write. */
const changesOf =
  (memories: Memories): Tool['plan'] =>
  async (input, cwd): Promise<CallPlan> => {
    const folder = scopeOf(input) === 'team' ? memories.teamFolder(cwd) : undefined;
    return {
      access: folder === undefined ? { kind: 'none' } : { kind: 'write', paths: [folder] },
      parallel: false,
      repeatable: false,
    };
  };

function memoryOf(memories: Memories, scope: MemoryScope, context: ToolContext): Memory {
  const { identity } = context;
  if (scopesFor(memories, context).includes(scope)) return memories.of(scope, identity);
  if (scope === 'session') throw new ToolFailure('This session is not kept, so nothing can be kept for it.');
  throw new ToolFailure(
    memories.teamFolder(identity.cwd) === undefined
      ? `${identity.cwd} is no project whose people could share a memory.`
      : 'The person does not trust this project, so its shared memory is neither read nor written; `crab trust` changes that.',
  );
}

function scopeOf(input: JsonObject): MemoryScope | undefined {
  return MEMORY_SCOPES.find((scope) => scope === input['scope']);
}
