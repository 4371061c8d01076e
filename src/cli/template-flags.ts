// `--template NAME`: what the template says stands where the command line says nothing, as if it had been typed; what was said
// in it is forked.

import { DEFAULT_AGENT } from '../core/agent.ts';
import { type Arguments, conflict } from './arguments.ts';
import type { FlagName } from './flags.ts';
import type { Environment } from './home.ts';
import { findTemplate, templateTapes } from './templates.ts';

/** Throws `CrabError` (`usage`). */
export async function withTemplate(args: Arguments, env: Environment): Promise<Arguments> {
  for (const other of ['continue', 'resume', 'session', 'session-id'] as const)
    conflict(args, ['template', other]);
  const { path, reader, facts } = await findTemplate(templateTapes(env), args.value('template') ?? '');
  const { model, effort, mode, append = [] } = facts;
  const { agent = DEFAULT_AGENT } = reader.header;
  const hasTalk = reader.info().messages > 0;
  if (hasTalk) conflict(args, ['template', 'no-session']);
  const own: Partial<Record<FlagName, readonly string[]>> = {
    ...(hasTalk && { session: [path], fork: ['true'] }),
    ...(agent !== DEFAULT_AGENT && { agent: [agent] }),
    ...(model !== undefined && { model: [model] }),
    ...(effort !== undefined && { effort: [effort] }),
    ...(mode !== undefined && !args.has('dangerously-skip-permissions') && { 'permission-mode': [mode] }),
  };
  return {
    words: args.words,
    has: (name) => args.has(name) || own[name] !== undefined || (name === IN && append.length > 0),
    value: (name) => args.value(name) ?? own[name]?.at(-1),
    values(name) {
      if (name === IN) return [...append, ...args.values(name)];
      return args.has(name) ? args.values(name) : (own[name] ?? []);
    },
  };
}

/** What both say counts. */
const IN: FlagName = 'append-system-prompt';
