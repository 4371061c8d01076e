// `permissions`, `add-dir` and `trust`: what is allowed in this conversation, to see and to change. A rule that is typed
// here holds for the session and its continuation; for good it belongs into the settings.

import type { Effect } from '../core/command.ts';
import type { Command } from '../core/extension.ts';
import type { Decision } from '../core/permission.ts';

const text = (lines: string): Effect => ({ kind: 'text', text: lines });
const failure = (message: string): Effect => ({ kind: 'error', message });

const DECISIONS = ['deny', 'ask', 'allow'] as const satisfies readonly Decision[];

const permissions: Command = {
  name: 'permissions',
  aliases: ['allowed-tools'],
  description: 'Show the permission rules of this conversation, or add one for this session',
  usage: '[allow|ask|deny rule]',
  side: 'runtime',
  run: async (args, context) => {
    const [, word = '', rule = ''] = /^(\S*)\s*([\s\S]*)$/.exec(args) ?? [];
    if (word === '') return text(await listed(context));
    const decision = DECISIONS.find((known) => known === word);
    if (decision === undefined || rule === '')
      return failure(
        'The form is ,permissions [allow|ask|deny rule], as in ,permissions deny Bash(git push *)',
      );
    await context.control({ kind: 'addRule', decision, rule });
    return text(`For this session: ${decision} ${rule}`);
  },
};

async function listed({ permissions: read, identity }: Parameters<Command['run']>[1]): Promise<string> {
  const { rules, directories } = read();
  const ordered = DECISIONS.flatMap((decision) => rules.filter((rule) => rule.decision === decision));
  const width = Math.min(60, Math.max(0, ...ordered.map((rule) => rule.text.length)));
  return [
    `mode   ${identity().mode}`,
    ...directories.map((path) => `folder ${path}`),
    ...ordered.map((rule) => `${rule.decision.padEnd(6)} ${rule.text.padEnd(width)}  ${rule.source}`),
    ...(ordered.length === 0 ? ['There are no rules: the mode decides.'] : []),
  ].join('\n');
}

const addDirectory: Command = {
  name: 'add-dir',
  aliases: [],
  description: 'Treat another folder like the working directory, in this session',
  usage: '<folder>',
  side: 'runtime',
  run: async (args, { control, identity }) => {
    if (args === '') return failure('Say the folder: ,add-dir ../library');
    const isAbsolute = /^(?:[/\\]|[A-Za-z]:[/\\])/.test(args);
    await control({ kind: 'addDirectory', path: isAbsolute ? args : `${identity().cwd}/${args}` });
    return text(`${args} counts as the workspace.`);
  },
};

const ANSWERS: Readonly<Record<string, boolean>> = {
  yes: true,
  y: true,
  on: true,
  no: false,
  n: false,
  off: false,
};

const trust: Command = {
  name: 'trust',
  aliases: [],
  description: "Show or decide whether this project's own settings are obeyed",
  usage: '[yes|no]',
  side: 'runtime',
  run: async (args, context) => {
    const decision = args === '' ? undefined : ANSWERS[args.toLowerCase()];
    if (args !== '' && decision === undefined) return failure('The form is ,trust [yes|no].');
    const state = await context.trust(decision);
    if (state === undefined) return failure('Projects are not trusted one by one here.');
    const { root, trusted } = state;
    const is = trusted === undefined ? 'was never decided on' : trusted ? 'is trusted' : 'is not trusted';
    const when = decision === undefined ? '' : ' It counts from the next start of Crab on.';
    return text(`${root} ${is}.${when}`);
  },
};

export const permissionCommands: readonly Command[] = [permissions, addDirectory, trust];
