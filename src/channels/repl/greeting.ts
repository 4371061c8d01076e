// The first and the last lines of a REPL: where one is, and how to come back.

import type { OpenReply, OpenRequest } from '../../core/platform.ts';
import type { Paint } from '../../faces/paint.ts';
import { visibleLine } from '../../faces/visible.ts';

interface Greeted {
  readonly open: OpenRequest;
  readonly model?: string;
}

export function greeting({ open, model }: Greeted, reply: OpenReply, paint: Paint): string {
  const { agent, mode } = open.declaration;
  const { session } = reply;
  const name = session.name === undefined ? '' : ` (${visibleLine(session.name)})`;
  const before = session.messages === 0 ? '' : `, ${session.messages} messages`;
  const facts = [
    `${paint.bold('crab')}  ${visibleLine(model ?? agent.model ?? 'default model')}  ${visibleLine(open.cwd)}`,
    paint.dim(`session ${session.id}${name}${before}, mode ${mode}; ,help for commands, Ctrl-D to leave`),
  ];
  return facts.join('\n');
}

/** Empty when there is nothing to come back to. */
export function farewell(session: string, isKept: boolean, hasFile: boolean): string {
  if (!isKept) return '';
  return hasFile ? `Go on with: crab --resume ${session}` : 'Nothing of this session was saved.';
}
