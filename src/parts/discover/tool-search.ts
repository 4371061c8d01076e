// The tool `tool_search`: finds tools that the model is not sent with every request, and has them sent from then on. What
// it finds is also in its result, so that the model can call a tool at once and need not guess its input.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type KnownTool, type Tool, type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';

const DEFAULT_RESULTS = 5;
const MAX_RESULTS = 20;

export const toolSearchTool: Tool = {
  name: 'tool_search',
  aliases: ['ToolSearch'],
  source: 'builtin',
  description:
    'Finds further tools and makes them callable. Words: "cron schedule"; a word that must be in the name: "+task update"; ' +
    'by name: "select:task_create,task_list".',
  input: {
    type: 'object',
    properties: {
      query: { type: 'string' },
      max_results: { type: 'integer', description: `Default ${DEFAULT_RESULTS}, at most ${MAX_RESULTS}` },
    },
    required: ['query'],
  },
  plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
  run,
  show: async (input) => ({
    kind: 'matches',
    title: String(input['query']),
    count: 0,
    truncated: false,
    lines: [],
  }),
};

async function run(input: JsonObject, { tools }: ToolContext): Promise<ToolOutput> {
  const query = String(input['query']).trim();
  if (query === '') throw new ToolFailure('The query is empty: say what the tool should do.');
  const all = tools.list();
  const selected = /^select:(?<names>.*)$/is.exec(query)?.groups?.['names'];
  if (selected !== undefined) return found(query, select(selected, all), false, tools);
  const wanted =
    typeof input['max_results'] === 'number' ? Math.trunc(input['max_results']) : DEFAULT_RESULTS;
  const limit = Math.min(MAX_RESULTS, Math.max(1, wanted));
  const { rankTools } = await import('./rank-tools.ts');
  // What the model is sent already it need not find.
  const ranked = rankTools(
    query,
    all.filter(({ isOffered }) => !isOffered),
  );
  return found(query, ranked.slice(0, limit), ranked.length > limit, tools);
}

function select(names: string, all: readonly KnownTool[]): readonly KnownTool[] {
  const wanted = names.split(/[\s,]+/).filter((name) => name !== '');
  const byName = new Map(
    all.flatMap((tool) => [tool.name, ...tool.aliases].map((name) => [name.toLowerCase(), tool] as const)),
  );
  const unknown = wanted.filter((name) => !byName.has(name.toLowerCase()));
  if (unknown.length > 0 || wanted.length === 0)
    throw new ToolFailure(
      `There is no tool ${unknown.join(', ') || '(no name was given)'}. The tools are: ${all.map(({ name }) => name).join(', ')}.`,
    );
  return wanted.flatMap((name) => byName.get(name.toLowerCase()) ?? []);
}

function found(
  query: string,
  hits: readonly KnownTool[],
  more: boolean,
  tools: ToolContext['tools'],
): ToolOutput {
  tools.offer(hits.map(({ name }) => name));
  const display = {
    kind: 'matches',
    title: query,
    count: hits.length,
    truncated: more,
    lines: hits.map(({ name }) => name),
  } as const;
  if (hits.length === 0) {
    const others = tools.list().filter(({ isOffered }) => !isOffered);
    const names = others.map(({ name }) => name).join(', ');
    const left = names === '' ? 'There are no tools but those you have.' : `Not shown to you yet: ${names}.`;
    return textOutput(`No other tool matches. ${left}`, display);
  }
  const text = hits.map(
    ({ name, description, input }) => `${name}: ${description}\n${JSON.stringify(input)}`,
  );
  return textOutput(`You can call these from here on:\n\n${text.join('\n\n')}`, display);
}
