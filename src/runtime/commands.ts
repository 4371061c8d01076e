// The commands that every channel has: answered at once, without a model. One list serves `/x` and `,x`.

import type { CommandInfo, Effect } from '../core/command.ts';
import { messageOf } from '../core/errors.ts';
import type { Command, CommandContext, Extension } from '../core/extension.ts';
import type { RateLimit } from '../core/model.ts';
import { PERMISSION_MODES } from '../core/permission.ts';
import { cleanTitle } from '../engine/title.ts';
import { contextCommands } from './context-commands.ts';
import { EFFORTS } from './history.ts';
import { permissionCommands } from './permission-commands.ts';
import { treeCommands } from './tree-commands.ts';

const text = (lines: string): Effect => ({ kind: 'text', text: lines });

const help: Command = {
  name: 'help',
  aliases: ['?'],
  description: 'Show the commands',
  usage: '[command]',
  side: 'runtime',
  run: async (args, { commands }) => {
    if (args === '') return text(commandList(commands));
    const wanted = args.replace(/^[,/]/, '');
    const found = commands.find(({ name, aliases }) => name === wanted || aliases.includes(wanted));
    if (found === undefined) return { kind: 'error', message: `There is no command ${wanted}.` };
    const also =
      found.aliases.length > 0 ? `\nAlso: ${found.aliases.map((alias) => `,${alias}`).join(' ')}` : '';
    const heading = `,${found.name} ${found.usage}`.trimEnd();
    return text(`${heading}\n${found.description}.${also}`);
  },
};

function commandList(commands: readonly CommandInfo[]): string {
  const rows = commands.map(({ name, usage, description }) => [`,${name} ${usage}`.trimEnd(), description]);
  const width = Math.max(...rows.map(([left = '']) => left.length));
  return [
    'Commands (each works with , and with / in front):',
    ...rows.map(([left = '', right]) => `  ${left.padEnd(width)}  ${right}`),
    '',
    'Any other line that begins with , runs in the shell: ,git status',
    'A shell line that fails is handed to the model. !cmd always runs in the shell and keeps the output for the',
    'model; !!cmd keeps nothing. Everything else goes to the model.',
  ].join('\n');
}

const tools: Command = {
  name: 'tools',
  aliases: [],
  description: 'List the tools that the model may use',
  usage: '',
  side: 'runtime',
  run: async (_args, context) => {
    const width = Math.max(0, ...context.tools.map((tool) => tool.name.length));
    const rows = (isOffered: boolean, heading: string) => {
      const listed = context.tools.filter((tool) => tool.isOffered === isOffered);
      const lines = listed.map((tool) => `  ${tool.name.padEnd(width)}  ${firstSentence(tool.description)}`);
      return lines.length === 0 ? [] : [heading, ...lines];
    };
    const lines = [...rows(true, 'Tools:'), ...rows(false, 'Found when they are looked for:')];
    return text(lines.length === 0 ? 'No tools are offered here.' : lines.join('\n'));
  },
};

function firstSentence(description: string): string {
  return /^[\s\S]*?[.](?=\s|$)/.exec(description)?.[0] ?? description;
}

const handoff: Command = {
  name: 'handoff',
  aliases: ['anchor'],
  description: 'Start a fresh view for the model; what came before stays on the tape',
  usage: '[name] [summary]',
  side: 'runtime',
  run: async (args, { control }) => {
    const [, name = '', summary = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    await control({ kind: 'anchor', name: name === '' ? 'handoff' : name, summary });
    return text(`Anchor ${name === '' ? 'handoff' : name} is set; the model starts from here.`);
  },
};

const fresh: Command = {
  name: 'new',
  aliases: ['clear'],
  description: 'Start a new session; this one stays',
  usage: '',
  side: 'runtime',
  run: async (_args, context) => {
    const before = context.identity().session;
    await context.control({ kind: 'newSession' });
    const message = `A new session begins; the one before is ${before}.`;
    return { kind: 'session', session: context.identity().session, text: message };
  },
};

const rename: Command = {
  name: 'name',
  aliases: ['rename'],
  description: 'Name the session',
  usage: '<name>',
  side: 'runtime',
  run: async (args, { control }) => {
    if (args === '') return { kind: 'error', message: 'Say the name: ,name fix the parser' };
    await control({ kind: 'setName', name: args });
    return text(`The session is called ${args}.`);
  },
};

const title: Command = {
  name: 'title',
  aliases: [],
  description: 'Give the session a title; without one, a model makes it from what was said',
  usage: '[title]',
  side: 'runtime',
  run: async (args, context) => {
    const given = args === '' ? await context.title() : cleanTitle(args);
    if (given === '') return { kind: 'error', message: 'There are no letters in that title.' };
    await context.control({ kind: 'setName', name: given });
    return text(given);
  },
};

const model: Command = {
  name: 'model',
  aliases: [],
  description: 'Show or change the model',
  usage: '[provider/id]',
  side: 'runtime',
  run: async (args, context) => {
    if (args !== '') await context.control({ kind: 'setModel', model: args });
    return text(`The model is ${await context.model()}.`);
  },
};

const effort: Command = {
  name: 'effort',
  aliases: ['thinking'],
  description: `Show or change how long the model may think: ${EFFORTS.join(', ')}`,
  usage: '[level]',
  side: 'runtime',
  run: async (args, context) => {
    if (args !== '') await context.control({ kind: 'setEffort', effort: args });
    return text(`The effort is ${context.effort() ?? 'as the model likes'}.`);
  },
};

const FAST_WORDS: Readonly<Record<string, boolean>> = { on: true, off: false };

const fast: Command = {
  name: 'fast',
  aliases: [],
  description: 'Answer sooner for more money, where the provider sells that; again to end it',
  usage: '[on|off]',
  side: 'runtime',
  run: async (args, context) => {
    const wanted = args === '' ? !context.fast() : FAST_WORDS[args];
    if (wanted === undefined) return { kind: 'error', message: `${args} is neither on nor off.` };
    await context.control({ kind: 'setFast', fast: wanted });
    return text(`Fast answers are ${wanted ? 'on' : 'off'}.`);
  },
};

const usage: Command = {
  name: 'usage',
  aliases: ['cost', 'stats'],
  description: 'Show what this session used and cost, and what its budgets have left',
  usage: '',
  side: 'runtime',
  run: async (_args, context) => {
    const { budgetLines, usageTable } = await import('../parts/usage/table.ts');
    const { models, budgets } = await context.usage();
    const table =
      models.length === 0 ? ['No request was sent in this session.'] : usageTable('model', models);
    return text([...table, ...budgetLines(budgets)].join('\n'));
  },
};

const mode: Command = {
  name: 'mode',
  aliases: ['permission-mode'],
  description: `Show or change the permission mode: ${PERMISSION_MODES.join(', ')}`,
  usage: '[mode]',
  side: 'runtime',
  run: async (args, context) => {
    if (args !== '') await context.control({ kind: 'setMode', mode: args });
    return text(`The permission mode is ${context.identity().mode}.`);
  },
};

const status: Command = {
  name: 'status',
  aliases: ['session'],
  description: 'Show the session, folder, model and mode',
  usage: '',
  side: 'runtime',
  run: async (_args, context) => {
    const { session, cwd, mode: permissionMode, agent, sender } = context.identity();
    const info = context.session();
    const rows = [
      ['session', info.name === undefined ? session : `${session} (${info.name})`],
      ['file', info.path ?? 'none: kept in memory'],
      ['folder', cwd],
      ['model', await modelOrReason(context)],
      ['mode', permissionMode],
      ['agent', `${agent}, speaking with ${sender}`],
      ['messages', String(info.messages)],
      ...limitRows(await context.rateLimit()),
    ];
    return text(rows.map(([left = '', right]) => `${left.padEnd(9)} ${right}`).join('\n'));
  },
};

/** What the provider last said of its limits. */
function limitRows(limit: RateLimit | undefined): readonly (readonly [string, string])[] {
  if (limit === undefined) return [];
  const { remainingRequests, remainingTokens, resetAt } = limit;
  const left = [
    ...(remainingRequests === undefined ? [] : [`${remainingRequests} requests`]),
    ...(remainingTokens === undefined ? [] : [`${remainingTokens} tokens`]),
  ];
  if (left.length === 0) return [];
  const until = resetAt === undefined ? '' : ` until ${new Date(resetAt).toISOString().slice(11, 19)} UTC`;
  return [['limit', `${left.join(' and ')} left${until}`]];
}

async function modelOrReason(context: CommandContext): Promise<string> {
  try {
    return await context.model();
  } catch (error) {
    return `none (${messageOf(error)})`;
  }
}

export const builtinCommands: Extension = {
  name: 'commands',
  commands: async () => [
    help,
    tools,
    handoff,
    fresh,
    ...treeCommands,
    rename,
    title,
    model,
    effort,
    fast,
    mode,
    ...permissionCommands,
    status,
    usage,
    ...contextCommands,
  ],
};
