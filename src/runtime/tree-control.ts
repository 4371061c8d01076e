// The controls that go about in the tree of a session: copy it, go back in it, mark a place. Loaded when one is given.

import type { Address } from '../core/conversation.ts';
import { CrabError } from '../core/errors.ts';
import type { Control } from '../core/extension.ts';
import type { Tape, Tapes } from '../core/tape.ts';
import { clone, findEntry, fork, moveTo, setLabel } from '../parts/tape/branching.ts';

export type TreeControl = Extract<Control, { kind: 'fork' | 'moveTo' | 'label' }>;

export interface TreeContext {
  readonly tape: Tape;
  /** Where the sessions of the conversation are kept. */
  readonly tapes: Tapes;
  readonly address: Address;
  readonly cwd: string;
}

/** Durable when it resolves. Returns the session to go on in, the same or a new one. */
export async function controlTree(control: TreeControl, context: TreeContext): Promise<Tape> {
  if (control.kind === 'fork') return copied(control, context);
  const { tape } = context;
  if (control.kind === 'moveTo') {
    const target = control.target === null ? null : findEntry(tape, control.target);
    await moveTo(tape, target, control.summary, control.files).synced;
  } else {
    const target = control.target === undefined ? lastMessage(tape) : findEntry(tape, control.target);
    await setLabel(tape, target, control.label).synced;
  }
  return tape;
}

async function copied(
  { at, everything }: TreeControl & { kind: 'fork' },
  context: TreeContext,
): Promise<Tape> {
  const { tape, tapes, address, cwd } = context;
  if (tape.leafId === null)
    throw new CrabError('usage', 'There is nothing to copy: no branch of the session ends here.');
  const options = { agent: address.agent, sender: () => address.sender, cwd };
  // A copy must not have what its source may still lose.
  await tape.settled();
  if (everything === true) return clone(tapes, tape, options);
  return fork(tapes, tape, { ...options, ...(at !== undefined && { at: findEntry(tape, at) }) });
}

function lastMessage(tape: Tape): string {
  for (const { id, type } of tape.ancestry()) if (type === 'message') return id;
  throw new CrabError('entry-unknown', 'Nothing was said yet that could be labelled.');
}
