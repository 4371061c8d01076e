// The commands over what the model has in sight: compact it, take that back, keep what matters of it, show what fills it.

import type { Effect } from '../core/command.ts';
import type { Command, ContextUse } from '../core/extension.ts';

const text = (lines: string): Effect => ({ kind: 'text', text: lines });

const compact: Command = {
  name: 'compact',
  aliases: [],
  description: 'Put a summary in the place of older messages; the tape keeps them',
  usage: '[what it should look at]',
  side: 'runtime',
  run: async (args, context) => {
    const end = await context.compact(args);
    if (end === undefined) return text('There is nothing to compact yet.');
    const { removedMessages, title = '', archiveName } = end;
    const kept = archiveName === undefined ? '' : ` It is in memory as ${archiveName}.`;
    const what = `${removedMessages} message${removedMessages === 1 ? '' : 's'}`;
    return text(`A summary takes the place of ${what}: ${title}.${kept}`);
  },
};

const uncompact: Command = {
  name: 'uncompact',
  aliases: [],
  description: 'Take the newest compaction back: the model sees again what it replaced',
  usage: '',
  side: 'runtime',
  run: async (_args, { control }) => {
    await control({ kind: 'uncompact' });
    return text('The newest compaction is taken back; its summary stays on the tape.');
  },
};

const learn: Command = {
  name: 'learn',
  aliases: ['memorize'],
  description: 'Have a model keep what of this conversation will matter in others, as notes of the project',
  usage: '[what it should look at]',
  side: 'runtime',
  run: async (args, context) => {
    const names = await context.learn(args);
    if (names.length === 0) return text('There is nothing new to remember.');
    return text(`Remembered: ${names.join(', ')}. \`crab memory show NAME\` shows one.`);
  },
};

const CONSOLIDATE = /^(?:(?<scope>project|user)\b)?\s*(?<asks>\?)?$/;

const consolidate: Command = {
  name: 'consolidate',
  aliases: [],
  description: 'Have a model merge notes that say the same; with ? it only tells which',
  usage: '[project|user] [?]',
  side: 'runtime',
  run: async (args, context) => {
    const { groups } = CONSOLIDATE.exec(args) ?? {};
    if (groups === undefined) return { kind: 'error', message: 'Say it so: ,consolidate user ?' };
    const scope = groups['scope'] === 'user' ? 'user' : 'project';
    const { merges, kept } = await context.consolidate({ scope, dryRun: groups['asks'] !== undefined });
    if (merges.length === 0) return text(`No notes of the ${scope} are to be merged.`);
    if (kept === undefined)
      return text(
        merges
          .map(({ name, from, content }) => `${name} in place of ${from.join(', ')}:\n\n${content}`)
          .join('\n\n'),
      );
    const rows = merges.map(({ name, from }) => `${name} in place of ${from.join(', ')}.`);
    const back = `\`crab memory import ${kept}${scope === 'user' ? ' --scope user' : ''}\` brings back what they were.`;
    return text([...rows, back].join('\n'));
  },
};

const context: Command = {
  name: 'context',
  aliases: [],
  description: 'Show what fills the context of the model',
  usage: '',
  side: 'runtime',
  run: async (_args, { contextUse }) => text(contextTable(await contextUse())),
};

function contextTable(use: ContextUse): string {
  const { model, window, tokens, isCounted, rows, reserve } = use;
  const of = window === undefined ? '' : ` of ${grouped(window)} (${percent(tokens, window)})`;
  const how = isCounted
    ? 'as the provider counted the last request; the parts are estimates'
    : 'by estimate: nothing was counted yet';
  const free = window === undefined ? undefined : Math.max(0, window - tokens);
  const kept = Math.min(reserve, free ?? 0);
  const lines: readonly (readonly [string, number])[] = [
    ...rows.map(({ kind, tokens: part }) => [kind, part] as const),
    ...(free === undefined ? [] : [['kept free', kept] as const, ['free', free - kept] as const]),
  ];
  const width = Math.max(0, ...lines.map(([kind]) => kind.length));
  const digits = Math.max(0, ...lines.map(([, part]) => grouped(part).length));
  const table = lines.map(([kind, part]) => {
    const share = window === undefined ? '' : `  ${percent(part, window).padStart(6)}`;
    return `  ${kind.padEnd(width)}  ${grouped(part).padStart(digits)}${share}`;
  });
  return [`${model ?? 'No model'}: ${grouped(tokens)} tokens${of}, ${how}.`, ...table].join('\n');
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ' ');
}

function percent(part: number, whole: number): string {
  return `${((part * 100) / whole).toFixed(1)} %`;
}

export const contextCommands: readonly Command[] = [compact, uncompact, learn, consolidate, context];
