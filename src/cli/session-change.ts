// `crab session fork`, `clone`, `label`, `move`, `rename`, `delete` and `restore`. What a session holds is only ever
// added to, under its lock; a deleted one is moved and nothing more.

import { EXIT } from '../core/errors.ts';
import type { Appended, Tape } from '../core/tape.ts';
import { visibleLine } from '../faces/visible.ts';
import { clone, findEntry, fork, moveTo, setLabel } from '../parts/tape/branching.ts';
import { locate, type SessionCall, usage, wordsOf } from './session-call.ts';

export async function forkSession(call: SessionCall): Promise<number> {
  const [session, entry] = wordsOf(call, 'fork SESSION [ENTRY]', 1, 2);
  const source = await call.tapes.read(await locate(call, session));
  const at = entry === undefined ? {} : { at: findEntry(source, entry) };
  return told(call, await fork(call.tapes, source, { ...at, ...nameOf(call) }));
}

export async function cloneSession(call: SessionCall): Promise<number> {
  const [session] = wordsOf(call, 'clone SESSION', 1);
  const source = await call.tapes.read(await locate(call, session));
  return told(call, await clone(call.tapes, source, nameOf(call)));
}

export async function labelEntry(call: SessionCall): Promise<number> {
  const [session, entry = '', label = ''] = wordsOf(call, 'label SESSION ENTRY LABEL', 3);
  return changed(call, session, (tape) => setLabel(tape, findEntry(tape, entry), label === '-' ? '' : label));
}

export async function moveSession(call: SessionCall): Promise<number> {
  const [session, entry = ''] = wordsOf(call, 'move SESSION ENTRY', 2);
  return changed(call, session, (tape) =>
    moveTo(tape, entry === 'start' ? null : findEntry(tape, entry), call.flags.summary),
  );
}

export async function renameSession(call: SessionCall): Promise<number> {
  const [session, name = ''] = wordsOf(call, 'rename SESSION NAME', 2);
  if (name.trim() === '') throw usage('A session cannot be called nothing.');
  return changed(call, session, (tape) => tape.append([{ type: 'session_info', name }]));
}

export async function deleteSessions(call: SessionCall): Promise<number> {
  const words = wordsOf(call, 'delete SESSION...', 1, Number.POSITIVE_INFINITY);
  for (const path of await Promise.all(words.map((text) => locate(call, text)))) {
    const { id, name } = await call.tapes.meta(path);
    await call.tapes.discard(path);
    const title = name === undefined ? '' : ` (${visibleLine(name)})`;
    await call.print(`Deleted ${id}${title}; \`crab session restore ${id}\` brings it back.\n`);
  }
  return EXIT.success;
}

export async function restoreSessions(call: SessionCall): Promise<number> {
  const words = wordsOf(call, 'restore SESSION...', 1, Number.POSITIVE_INFINITY);
  for (const path of await Promise.all(words.map((text) => locate(call, text, { discarded: true })))) {
    await call.print(`Restored ${await call.tapes.restore(path)}\n`);
  }
  return EXIT.success;
}

async function changed(
  call: SessionCall,
  session: string | undefined,
  change: (tape: Tape) => Appended,
): Promise<number> {
  const tape = await call.tapes.open(await locate(call, session));
  try {
    for (const notice of tape.notices) await call.warn(notice);
    await change(tape).synced;
  } finally {
    await tape.close();
  }
  return EXIT.success;
}

async function told(call: SessionCall, tape: Tape): Promise<number> {
  const { id, path = '', messages } = tape.info();
  await tape.close();
  if (call.flags.json === true) await call.printJson({ id, path, messages });
  else await call.print(`${id}\n`);
  return EXIT.success;
}

function nameOf({ flags }: SessionCall): { readonly name?: string } {
  return flags.name === undefined ? {} : { name: flags.name };
}
