// The commands that go about in the tree of a session. What they change is the conversation; a channel only shows it.

import type { Effect } from '../core/command.ts';
import type { Command, CommandContext, Control } from '../core/extension.ts';

const text = (lines: string): Effect => ({ kind: 'text', text: lines });

const fork: Command = {
  name: 'fork',
  aliases: [],
  description: 'Go on in a copy of this branch, or of it up to an entry; this session stays as it is',
  usage: '[entry]',
  side: 'runtime',
  run: (args, context) =>
    copyInto(context, { kind: 'fork', ...(args !== '' && { at: args }) }, 'Going on in a fork'),
};

const clone: Command = {
  name: 'clone',
  aliases: [],
  description: 'Go on in a copy of the whole session, every branch included',
  usage: '',
  side: 'runtime',
  run: (_args, context) => copyInto(context, { kind: 'fork', everything: true }, 'Going on in a copy'),
};

async function copyInto(context: CommandContext, control: Control, what: string): Promise<Effect> {
  const before = context.identity().session;
  await context.control(control);
  const { session } = context.identity();
  return { kind: 'session', session, text: `${what}, ${session}; the session before is ${before}.` };
}

const tree: Command = {
  name: 'tree',
  aliases: [],
  description: 'Show what was said, on every branch, with the ids that ,move, ,fork and ,label take',
  usage: '',
  side: 'runtime',
  run: async (_args, context) => {
    const rows = await context.tree();
    if (rows.length === 0) return text('Nothing was said yet.');
    const { drawTree } = await import('./draw-tree.ts');
    return text(drawTree(rows, MOST_TREE_ROWS));
  },
};

/** A terminal holds so many lines that one can still look back to. */
const MOST_TREE_ROWS = 200;

const label: Command = {
  name: 'label',
  aliases: [],
  description: 'Label the last message, or an entry that the tree shows',
  usage: '<label> [entry]',
  side: 'runtime',
  run: async (args, { control }) => {
    const [, name = '', target = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    if (name === '') return { kind: 'error', message: 'Say the label: ,label works' };
    await control({ kind: 'label', label: name === '-' ? '' : name, ...(target !== '' && { target }) });
    return text(name === '-' ? 'The label is taken away.' : `The label ${name} is set.`);
  },
};

const move: Command = {
  name: 'move',
  aliases: [],
  description: 'Go on from an earlier entry; what was said since stays in the tree, files are left alone',
  usage: '<entry> [summary, or ? for one by a model]',
  side: 'runtime',
  run: async (args, { control, summariseLeft }) => {
    const [, name = '', said = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    if (name === '') return { kind: 'error', message: 'Say where to: ,tree shows the entries' };
    const target = name === 'start' ? null : name;
    const [, focus] = /^\?\s*([\s\S]*)$/.exec(said) ?? [];
    const { summary, files } =
      focus === undefined
        ? { summary: said, files: undefined }
        : ((await summariseLeft(target, focus)) ?? { summary: '', files: undefined });
    await control({ kind: 'moveTo', target, summary, ...(files !== undefined && { files }) });
    const where = target === null ? 'The model starts from nothing.' : `The next line goes on from ${name}.`;
    return text(focus === undefined || summary === '' ? where : `${where} It is told:\n${summary}`);
  },
};

export const treeCommands: readonly Command[] = [fork, clone, tree, label, move];
