// `crab session verify` and `repair`: what is wrong with the files of sessions, and what can be done about it.

import { CrabError, EXIT } from '../core/errors.ts';
import type { Repair, Verification } from '../core/tape.ts';
import { count } from '../faces/amounts.ts';
import { visibleLine } from '../faces/visible.ts';
import { locate, type SessionCall, wordsOf } from './session-call.ts';

export async function verifySessions(call: SessionCall): Promise<number> {
  const words = wordsOf(call, 'verify [SESSION...]', 0, Number.POSITIVE_INFINITY);
  const paths =
    words.length === 0
      ? await call.tapes.paths()
      : await Promise.all(words.map((text) => locate(call, text)));
  const all: Verification[] = [];
  for (const path of [...paths].sort()) {
    call.signal.throwIfAborted();
    const checked = await verified(call, path);
    all.push(checked);
    if (call.flags.json !== true && checked.faults > 0) await call.print(faultsText(checked));
  }
  const damaged = all.filter(({ faults }) => faults > 0).length;
  if (call.flags.json === true) await call.printJson(all);
  else await call.print(`${summary(all, damaged)}\n`);
  return damaged === 0 ? EXIT.success : EXIT.failure;
}

/** A file that cannot be read is a finding among others, so that one of them does not hide the rest. */
async function verified(call: SessionCall, path: string): Promise<Verification> {
  try {
    return await call.tapes.verify(path);
  } catch (error) {
    if (!(error instanceof CrabError)) throw error;
    const findings = [{ line: 0, fault: 'header', text: error.message } as const];
    return { path, bytes: 0, lines: 0, entries: 0, unsealed: 0, findings, faults: 1 };
  }
}

function faultsText({ path, findings, faults }: Verification): string {
  const lines = findings.map(({ text }) => `  ${visibleLine(text, 500)}`);
  const more = faults > findings.length ? [`  … and ${faults - findings.length} more`] : [];
  return [visibleLine(path, 1000), ...lines, ...more, ''].join('\n');
}

function summary(all: readonly Verification[], damaged: number): string {
  const entries = all.reduce((sum, each) => sum + each.entries, 0);
  const unsealed = all.reduce((sum, each) => sum + each.unsealed, 0);
  const without = unsealed === 0 ? '' : `; ${count(unsealed, 'line')} without a checksum`;
  const how = damaged === 0 ? 'all sound' : `${damaged} damaged; \`crab session repair SESSION\` mends one`;
  return `${count(all.length, 'session')}, ${count(entries, 'entry', 'entries')}: ${how}${without}.`;
}

export async function repairSession(call: SessionCall): Promise<number> {
  const [session] = wordsOf(call, 'repair SESSION', 1);
  const path = await locate(call, session);
  const repair = await call.tapes.repair(path, process.cwd());
  if (call.flags.json === true) await call.printJson({ path, ...repair });
  else await call.print(`${repairText(repair)}\n`);
  return EXIT.success;
}

function repairText({ did, kept, entries, lost }: Repair): string {
  const holds = `it holds ${count(entries, 'entry', 'entries')}`;
  if (did === 'nothing') return `The file is sound; ${holds}.`;
  if (did === 'tail') return `The half-written end was moved to ${kept}; ${holds}.`;
  const lines =
    lost.length === 0 ? '' : `; damaged: ${lost.length === 1 ? 'line' : 'lines'} ${lost.join(', ')}`;
  return `Written anew, ${holds}${lines}. What was there before is kept as ${kept}.`;
}
