// Everything that the extensions of a conversation contribute, gathered once when it opens: tools by every name they
// answer to, commands likewise, and what the model is shown of the tools. Two that claim one name are an error.

import type { Declaration } from '../core/agent.ts';
import type { CommandInfo } from '../core/command.ts';
import { CrabError } from '../core/errors.ts';
import type { Command, Extension } from '../core/extension.ts';
import type { Tool } from '../core/tool.ts';
import { suggestions } from '../engine/route.ts';
import { plainName } from '../engine/tool-name.ts';
import { peersOf } from './peers.ts';
import { mistypedRules } from './rule-names.ts';
import { agentsBlock, isInScope, namesOf, scopeBlock, unknownTools } from './scope.ts';

export interface Catalogue {
  /** What the person should know of it. */
  readonly notices: readonly string[];
  readonly extensions: readonly Extension[];
  /** In the order that the model sees them. */
  readonly tools: readonly Tool[];
  readonly toolsByName: ReadonlyMap<string, Tool>;
  /** Those that the model is sent from the beginning: a deferred one is, when the person chose it by name. */
  readonly shown: readonly Tool[];
  readonly commands: readonly CommandInfo[];
  readonly runtimeCommands: ReadonlyMap<string, Command>;
  readonly commandNames: ReadonlySet<string>;
  readonly promptParts: readonly string[];
  /** Every name of a tool that there is and that the agent has no grant for. */
  readonly outOfScope: ReadonlySet<string>;
}

export async function gather(
  extensions: readonly Extension[],
  declaration: Declaration,
  channelCommands: readonly CommandInfo[],
): Promise<Catalogue> {
  const all: Tool[] = [];
  const commands: Command[] = [];
  const promptParts: string[] = [];
  for (const extension of extensions) {
    all.push(...((await extension.tools?.()) ?? []));
    commands.push(...((await extension.commands?.()) ?? []));
    const part = await extension.prompt?.();
    if (part !== undefined) promptParts.push(part);
  }
  const { kept, refused } = withoutNamesakes(all);
  requireTools(declaration, kept);
  const notices = [
    ...refused,
    ...mistypedRules(declaration.rules, kept),
    ...mistypedTools(declaration, kept),
    ...mistypedOmissions(declaration, kept),
  ];
  const tools = kept.filter((tool) => isInScope(tool, declaration));
  const useful = tools.filter(({ asksPerson }) => asksPerson !== true || declaration.canAsk);
  const shown = useful.filter((tool) => tool.isDeferred !== true || declaration.agent.tools !== undefined);
  const hidden = useful.filter((tool) => !shown.includes(tool));
  const listed = [...commands, ...channelCommands];
  return {
    extensions,
    notices,
    tools,
    toolsByName: byName(tools, 'tool'),
    shown,
    commands: listed.map(({ name, aliases, description, usage, side }) => ({
      name,
      aliases,
      description,
      usage,
      side,
    })),
    runtimeCommands: byName(commands, 'command'),
    commandNames: new Set(byName<CommandInfo>(listed, 'command').keys()),
    promptParts: [
      ...promptParts,
      ...(hidden.length === 0 ? [] : [furtherTools(hidden)]),
      scopeBlock(declaration.agent, tools),
      tools.some(({ listsAgents }) => listsAgents === true) ? agentsBlock(peersOf(declaration)) : '',
    ].filter((part) => part !== ''),
    outOfScope: new Set(kept.filter((tool) => !tools.includes(tool)).flatMap(namesOf)),
  };
}

/** Nothing that came from elsewhere takes the name of a tool that is there, not even in other letters. */
function withoutNamesakes(all: readonly Tool[]): {
  readonly kept: readonly Tool[];
  readonly refused: readonly string[];
} {
  const own = all.filter(({ source }) => source === 'builtin');
  const guarded = new Set(own.flatMap(namesOf).map(plainName));
  const taken = new Set<string>();
  const kept = [...own];
  const refused: string[] = [];
  for (const tool of all) {
    if (tool.source === 'builtin') continue;
    const names = namesOf(tool);
    const same = names.find((name) => taken.has(name) || guarded.has(plainName(name)));
    if (same === undefined) {
      kept.push(tool);
      for (const name of names) taken.add(name);
    } else refused.push(`The tool ${tool.name} was left out: there is one that answers to ${same}.`);
  }
  return { kept, refused };
}

/** Names cost little, and a model that has read one knows that it can look for the tool. */
/** So many whose names begin with the same word are listed by it. */
const FAMILY = 8;

function furtherTools(tools: readonly Tool[]): string {
  const families = Map.groupBy(tools, ({ name }) => name.slice(0, name.indexOf('_') + 1));
  const names = tools.map(({ name }) => {
    const word = name.slice(0, name.indexOf('_') + 1);
    return word !== '' && (families.get(word)?.length ?? 0) >= FAMILY ? `${word}*` : name;
  });
  return `There are further tools that you must look for before you call them: ${[...new Set(names)].join(', ')}.`;
}

/** A mistyped name would leave the model without the tool that somebody meant. */
function requireTools({ onlyTools = [] }: Declaration, tools: readonly Tool[]): void {
  const names = new Set(tools.flatMap(namesOf));
  for (const name of onlyTools) {
    if (names.has(name) || name.includes('*')) continue;
    const near = suggestions(name, names);
    const hint = near.length > 0 ? `Did you mean ${near[0]}?` : '`crab tools` lists them.';
    throw new CrabError('usage', `There is no tool ${name}.`, { hint });
  }
}

/** A definition may come from elsewhere, and name what is only there: the agent does without. */
function mistypedTools({ agent, onlyTools = [] }: Declaration, tools: readonly Tool[]): readonly string[] {
  return unknownTools(agent, tools)
    .filter((name) => !onlyTools.includes(name))
    .map((name) => {
      const what = `The agent ${agent.name} names a tool that there is not here: ${name}.`;
      return `${what}${nearest(name, tools)}`;
    });
}

/** A name that takes nothing away may be that of a tool which is there elsewhere, or leave one in that nobody wants. */
function mistypedOmissions({ withoutTools }: Declaration, tools: readonly Tool[]): readonly string[] {
  const names = new Set(tools.flatMap(namesOf));
  return withoutTools
    .filter((name) => !name.includes('*') && !names.has(name))
    .map((name) => `There is no tool ${name} here that could be left out.${nearest(name, tools)}`);
}

/** A sentence to add to what is said of a name that no tool has; empty where none is like it. */
function nearest(name: string, tools: readonly Tool[]): string {
  const [near] = suggestions(name, new Set(tools.flatMap(namesOf)));
  return near === undefined ? '' : ` Did you mean ${near}?`;
}

function byName<Named extends { readonly name: string; readonly aliases?: readonly string[] }>(
  all: readonly Named[],
  what: string,
): ReadonlyMap<string, Named> {
  const found = new Map<string, Named>();
  for (const each of all)
    for (const name of [each.name, ...(each.aliases ?? [])]) {
      if (found.has(name)) throw new CrabError('internal', `Two ${what}s are called ${name}.`);
      found.set(name, each);
    }
  return found;
}
