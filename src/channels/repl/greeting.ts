// The first and the last lines of a REPL: where one is, and how to come back.

import { DEFAULT_AGENT } from '../../core/agent.ts';
import type { OpenReply, OpenRequest } from '../../core/platform.ts';
import type { Paint } from '../../faces/paint.ts';
import { visibleLine } from '../../faces/visible.ts';

interface Greeted {
  readonly open: OpenRequest;
  readonly model?: string;
  readonly remote?: string;
  /** There where others may have it open. */
  readonly follow?: unknown;
}

export function greeting({ open, model, remote, follow }: Greeted, reply: OpenReply, paint: Paint): string {
  const { agent, mode } = open.declaration;
  const { session } = reply;
  const name = session.name === undefined ? '' : ` (${visibleLine(session.name)})`;
  const before = session.messages === 0 ? '' : `, ${session.messages} messages`;
  if (remote !== undefined)
    return [
      `${paint.bold('crab')}  at ${visibleLine(remote)}  ${visibleLine(session.cwd)}`,
      paint.dim('The files, settings and rules there hold; nothing of this folder goes along.'),
      paint.dim(
        `session ${session.id}${name}${before}; ,status for more, ,help for commands, Ctrl-D to leave`,
      ),
    ].join('\n');
  const who = reply.address.agent === DEFAULT_AGENT ? '' : `, agent ${visibleLine(reply.address.agent)}`;
  const facts = [
    `${paint.bold('crab')}  ${visibleLine(model ?? agent.model ?? 'default model')}  ${visibleLine(open.cwd)}`,
    paint.dim(
      `session ${session.id}${name}${before}${who}, mode ${mode}${follow === undefined ? '' : ', in the daemon'}; ,help for commands, Ctrl-D to leave`,
    ),
  ];
  return facts.join('\n');
}

/** Empty when there is nothing to come back to. */
export function farewell(session: string, isKept: boolean, hasFile: boolean, remote?: string): string {
  if (!isKept) return '';
  const where = remote === undefined ? '' : `--remote ${visibleLine(remote)} `;
  return hasFile ? `Go on with: crab ${where}--resume ${session}` : 'Nothing of this session was saved.';
}
