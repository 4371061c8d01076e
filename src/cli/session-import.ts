// `crab session import` and `crab import`: sessions of other programs, and copies of our own, as new sessions here. What
// a file is shows in its lines. Files are only read, and one that was imported before is passed over.

import { promises as fs } from 'node:fs';
import { join, resolve } from 'node:path';
import { DEFAULT_AGENT } from '../core/agent.ts';
import { CrabError, EXIT, errnoOf, messageOf } from '../core/errors.ts';
import { createIds } from '../core/ids.ts';
import type { JsonObject } from '../core/schema.ts';
import type { Origin, TapeCopy } from '../core/tape.ts';
import { count } from '../faces/amounts.ts';
import { visibleLine } from '../faces/visible.ts';
import { detect, IMPORT_KINDS, IMPORTERS, type ImportKind, LINES_TO_TELL } from '../parts/import/detect.ts';
import { parseObject } from '../parts/tape/line.ts';
import { type Line, readLines } from '../parts/tape/read-lines.ts';
import { storageError } from '../parts/tape/sync-fs.ts';
import { type SessionCall, usage, wordsOf } from './session-call.ts';

const HEAD_BYTES = 1024 * 1024;

interface Found {
  readonly path: string;
  /** A person named the file itself, so it must be a session. */
  readonly isNamed: boolean;
}

interface Outcome {
  readonly path: string;
  readonly kind?: string;
  readonly id?: string;
  readonly messages?: number;
  /** Why there is no session of it. */
  readonly passedOver?: string;
  readonly isFailure?: boolean;
}

export async function importSessions(call: SessionCall): Promise<number> {
  const words = wordsOf(call, 'import FILE|DIR...', 1, Number.POSITIVE_INFINITY);
  const from = kindOf(call.flags.from);
  const known = new Map(
    (await call.tapes.list()).flatMap(({ id, origin }) => (origin ? [[keyOf(origin), id]] : [])),
  );
  const outcomes: Outcome[] = [];
  for (const word of words) {
    for await (const found of filesFor(resolve(word))) {
      call.signal.throwIfAborted();
      const outcome = await importOne(call, found, from, known).catch((error: unknown) =>
        failed(found.path, error),
      );
      outcomes.push(outcome);
      if (call.flags.json !== true) await call.print(`${lineOf(outcome)}\n`);
    }
  }
  if (call.flags.json === true) await call.printJson(outcomes);
  else if (outcomes.length !== 1) await call.print(`${summaryOf(outcomes)}\n`);
  return outcomes.some(({ isFailure }) => isFailure === true) ? EXIT.failure : EXIT.success;
}

function kindOf(given: string | undefined): ImportKind | undefined {
  if (given === undefined) return undefined;
  const kind = IMPORT_KINDS.find((known) => known === given);
  if (kind !== undefined) return kind;
  throw usage(`--from ${given} is not known.`, `Use one of ${IMPORT_KINDS.join(', ')}.`);
}

/** Of a folder, what may be a session by its name. */
async function* filesFor(path: string): AsyncGenerator<Found> {
  const info = await fs.stat(path).catch((error: unknown) => {
    const reason = errnoOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error);
    throw new CrabError('session-unknown', `Cannot import ${path}: ${reason}.`);
  });
  if (info.isFile()) {
    yield { path, isNamed: true };
    return;
  }
  if (!info.isDirectory())
    throw new CrabError('session-unknown', `Cannot import ${path}: it is neither a file nor a folder.`);
  const entries = await fs.readdir(path, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    throw storageError(error, `list ${path}`);
  });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of paths.filter((each) => each.endsWith('.jsonl')).sort())
    yield { path: file, isNamed: false };
}

async function detectFile(path: string): Promise<ImportKind | undefined> {
  const file = await fs.open(path, 'r');
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const text = withoutMark(buffer.toString('utf8', 0, bytesRead));
    const lines = text.split('\n', LINES_TO_TELL).map(parseObject);
    return detect(lines.filter((line) => line !== undefined));
  } finally {
    await file.close();
  }
}

async function importOne(
  call: SessionCall,
  { path, isNamed }: Found,
  from: ImportKind | undefined,
  known: Map<string, string>,
): Promise<Outcome> {
  const kind = from ?? (await detectFile(path));
  const unknown = 'it is no session that Crab knows; --from says what it is';
  if (kind === undefined) return { path, passedOver: unknown, isFailure: isNamed };
  const { origin, ...copy } = await readCopy(call, path, kind);
  const earlier = known.get(keyOf(origin));
  if (earlier !== undefined)
    return { path, kind: origin.kind, passedOver: `it was imported before, as ${earlier}` };
  const began = Date.parse(copy.timestamp ?? '');
  const newId = createIds({ now: () => (Number.isNaN(began) ? Date.now() : began), random: Math.random });
  const tape = await call.tapes.copy({ ...copy, origin, id: newId() });
  const { id, messages } = tape.info();
  await tape.close();
  known.set(keyOf(origin), id);
  return { path, kind: origin.kind, id, messages };
}

type ReadCopy = Omit<TapeCopy, 'origin'> & { readonly origin: Origin };

async function readCopy(call: SessionCall, path: string, kind: ImportKind): Promise<ReadCopy> {
  const common = { agent: DEFAULT_AGENT, sender: (id: string) => `cli:${id}` };
  if (kind === 'tape') {
    const reader = await call.tapes.read(path);
    for (const notice of reader.notices) await call.warn(notice);
    const { id, agent, cwd, timestamp } = reader.header;
    const origin = { kind: agent === undefined ? 'pi' : 'crab', id, path };
    return { ...common, cwd: cwd || process.cwd(), timestamp, entries: reader.entries(), origin };
  }
  const lines = await objectsIn(call, path);
  const newId = createIds({ now: () => Date.now(), random: Math.random });
  const imported = IMPORTERS[kind](lines, { newId, now: new Date().toISOString() });
  if (!imported.entries.some(({ type }) => type === 'message'))
    throw new CrabError('session-damaged', `${path} holds no message.`);
  const { id, cwd = process.cwd(), name, timestamp, entries } = imported;
  return {
    ...common,
    cwd,
    ...(name !== undefined && { name }),
    ...(timestamp !== undefined && { timestamp }),
    entries,
    origin: { kind, ...(id !== undefined && { id }), path },
  };
}

/** Other programs need not end the last line. What is no JSON object stays behind, and the person is told. */
async function objectsIn(call: SessionCall, path: string): Promise<readonly JsonObject[]> {
  const lines: JsonObject[] = [];
  let unread = 0;
  let first = 0;
  const take = ({ bytes, number }: Line) => {
    const text = bytes === undefined ? undefined : withoutMark(bytes.toString());
    if (text?.trim() === '') return;
    const line = text === undefined ? undefined : parseObject(text);
    if (line !== undefined) lines.push(line);
    else if (unread++ === 0) first = number;
  };
  await readLines(path, take, { withRest: true });
  if (unread > 0)
    await call.warn(
      `${path}: ${count(unread, 'line')}, from line ${first} on, cannot be read and ${unread === 1 ? 'stays' : 'stay'} behind.`,
    );
  return lines;
}

/** Some editors put a byte order mark in front of a text. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** The same session may lie in several places. */
function keyOf({ kind, id, path }: Origin): string {
  return `${kind}\n${id ?? path}`;
}

function failed(path: string, error: unknown): Outcome {
  if (error instanceof CrabError && error.code.startsWith('storage')) throw error;
  return { path, passedOver: messageOf(error), isFailure: true };
}

function lineOf({ path, kind, id, messages = 0, passedOver }: Outcome): string {
  if (id !== undefined) return `${id}  ${kind}  ${count(messages, 'message')}  ${visibleLine(path, 500)}`;
  return `passed over  ${visibleLine(path, 500)}: ${visibleLine(passedOver ?? '', 500)}`;
}

function summaryOf(outcomes: readonly Outcome[]): string {
  const imported = outcomes.filter(({ id }) => id !== undefined).length;
  return `Imported ${count(imported, 'session')}; passed over ${count(outcomes.length - imported, 'file')}.`;
}
