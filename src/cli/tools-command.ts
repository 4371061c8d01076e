// `crab tools`: what a model can be given, and one tool in full. It asks the same extensions that a conversation asks.

import { CrabError, EXIT } from '../core/errors.ts';
import type { Tool } from '../core/tool.ts';
import { suggestions } from '../engine/route.ts';
import { allTools } from './all-tools.ts';
import type { Environment } from './home.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';
import { factsOf, firstSentence, type Safety, type ToolFacts } from './tool-facts.ts';

const HELP = `Usage: crab tools [NAME]

Lists the tools; with NAME, or another name of it, one tool in full.

  --json                  as JSON
`;

const FLAGS = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;

export async function toolsCommand(argv: readonly string[], env: Environment): Promise<number> {
  const { values, positionals } = subcommandArguments('tools', argv, FLAGS);
  const stdout = sinkOf(process.stdout, env);
  if (values.help === true) {
    await stdout.write(HELP);
    return EXIT.success;
  }
  const [name, ...more] = positionals;
  if (more.length > 0) throw subcommandUsage('tools', 'One tool at a time.');
  const tools = await allTools(env);
  if (name === undefined) {
    const all = await Promise.all(tools.map(factsOf));
    await stdout.write(values.json === true ? json(all) : listing(all));
    return EXIT.success;
  }
  const facts = await factsOf(named(tools, name));
  await stdout.write(values.json === true ? json(facts) : page(facts));
  return EXIT.success;
}

function named(tools: readonly Tool[], name: string): Tool {
  const namesOf = (tool: Tool) => [tool.name, ...(tool.aliases ?? [])];
  const tool =
    tools.find((each) => namesOf(each).includes(name)) ??
    tools.find((each) => namesOf(each).some((known) => known.toLowerCase() === name.toLowerCase()));
  if (tool !== undefined) return tool;
  const [near] = suggestions(name, new Set(tools.flatMap(namesOf)));
  const meant = tools.find((each) => near !== undefined && namesOf(each).includes(near))?.name;
  const hint = meant === undefined ? 'Run `crab tools` for the list.' : `Did you mean ${meant}?`;
  throw new CrabError('usage', `There is no tool ${name}.`, { hint });
}

function listing(all: readonly ToolFacts[]): string {
  const width = Math.max(0, ...all.map(({ name }) => name.length));
  const rows = (isDeferred: boolean) =>
    all
      .filter((each) => each.isDeferred === isDeferred)
      .map(({ name, source, description }) => {
        const from = source === 'builtin' ? '' : ` (${source})`;
        return `  ${name.padEnd(width)}  ${firstSentence(description)}${from}`;
      });
  return `${['Sent with every request:', ...rows(false), '', 'Found by the model when it looks for them:', ...rows(true)].join('\n')}\n`;
}

function page(facts: ToolFacts): string {
  const { name, aliases, source, isDeferred, description, guidelines, parameters, safety } = facts;
  const width = Math.max(0, ...parameters.map((each) => each.name.length));
  const types = Math.max(0, ...parameters.map((each) => each.type.length));
  const rows = parameters.map((each) => {
    const need = each.required ? 'required' : '';
    return `  ${each.name.padEnd(width)}  ${each.type.padEnd(types)}  ${need.padEnd(8)}  ${each.description}`.trimEnd();
  });
  const blocks = [
    [`${name}${aliases.length > 0 ? ` (also ${aliases.join(', ')})` : ''}`],
    [description],
    ...(guidelines.length > 0 ? [guidelines.map((line) => `- ${line}`)] : []),
    ['Parameters:', ...(rows.length > 0 ? rows : ['  none'])],
    [
      `Source: ${source}. ${isDeferred ? 'Found by the model when it looks for it.' : 'Sent with every request.'}`,
      safetyText(safety),
    ],
  ];
  return `${blocks.map((lines) => lines.join('\n')).join('\n\n')}\n`;
}

/** What a call does, as the end of a sentence about it. */
export const TOUCHES: Readonly<Record<Safety['access'], string>> = {
  none: 'touches nothing guarded',
  read: 'reads files',
  write: 'writes files',
  command: 'runs a command',
  network: 'reaches the network',
  external: 'calls a server that is not part of Crab',
  spawn: 'starts an agent',
  depends: 'touches what its input says',
};

function safetyText({ access, parallel, repeatable }: Safety): string {
  const beside = parallel ? 'runs beside others' : 'runs alone';
  const again = repeatable ? 'running it twice does no harm' : 'it is not run twice';
  return `A call ${TOUCHES[access]}; it ${beside}, and ${again}.`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
