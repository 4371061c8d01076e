// `crab session export`: a session in a form that others read, onto standard output or into a new file.

import { promises as fs } from 'node:fs';
import { resolve } from 'node:path';
import { CrabError, EXIT, errnoOf, messageOf } from '../core/errors.ts';
import type { Entry, TapeReader } from '../core/tape.ts';
import { exportClaude } from '../faces/export-claude.ts';
import { exportHead } from '../faces/export-head.ts';
import { exportHtml } from '../faces/export-html.ts';
import { exportMarkdown } from '../faces/export-markdown.ts';
import { exportPi } from '../faces/export-pi.ts';
import { type Redact, redactedEntry } from '../faces/redaction.ts';
import { type TranscriptItem, transcript } from '../faces/transcript.ts';
import { EntryTree } from '../parts/tape/tree.ts';
import { sessionLines } from '../parts/tape/write-session.ts';
import { locate, type SessionCall, usage, wordsOf } from './session-call.ts';

interface ExportSource {
  readonly reader: TapeReader;
  readonly redact: Redact;
  readonly edited: (entry: Entry) => Entry;
}

const FORMATS: Readonly<Record<string, (source: ExportSource) => Iterable<string | Buffer>>> = {
  html: (source) => exportHtml(exportHead(source.reader, source.redact), items(source)),
  markdown: (source) => exportMarkdown(exportHead(source.reader, source.redact), items(source)),
  jsonl: ({ reader, edited }) =>
    sessionLines({ header: reader.header, entries: mapped(reader.entries(), edited) }, new EntryTree()),
  pi: ({ reader, edited }) => exportPi(reader.header, mapped(reader.entries(), edited), reader.leafId),
  claude: exportClaude,
};

const BY_ENDING: Readonly<Record<string, string>> = {
  html: 'html',
  htm: 'html',
  md: 'markdown',
  jsonl: 'jsonl',
};

export async function exportSession(call: SessionCall): Promise<number> {
  const [session] = wordsOf(call, 'export [SESSION]', 0, 1);
  const { output } = call.flags;
  const ending = output === undefined ? undefined : /\.(\w+)$/.exec(output)?.[1]?.toLowerCase();
  const name = call.flags.format ?? BY_ENDING[ending ?? ''] ?? 'html';
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined)
    throw usage(`--format ${name} is not known.`, `Use one of ${Object.keys(FORMATS).join(', ')}.`);
  const reader = await call.tapes.read(await locate(call, session));
  for (const notice of reader.notices) await call.warn(notice);
  const redact = call.flags['with-secrets'] === true ? undefined : await redaction(call);
  const edited = (entry: Entry) => {
    call.signal.throwIfAborted();
    return redact === undefined ? entry : redactedEntry(entry, redact);
  };
  const pieces = format({ reader, edited, redact: redact ?? ((text) => text) });
  if (output === undefined) await printAll(call, pieces);
  else await writeNew(resolve(output), pieces);
  return EXIT.success;
}

async function printAll(call: SessionCall, pieces: Iterable<string | Buffer>): Promise<void> {
  for (const piece of pieces) {
    await call.print(piece.toString());
    // A pipe may take all of it without a pause, in which no signal would be heard.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The keys that this machine knows, and whatever looks like one: an export is made to be handed on (law 10). */
async function redaction({ env }: SessionCall): Promise<Redact> {
  const [{ createSecrets }, { maskShapes }, { keysIn }] = await Promise.all([
    import('../core/redact.ts'),
    import('../core/secret-shapes.ts'),
    import('../parts/process/environment.ts'),
  ]);
  const secrets = createSecrets();
  secrets.add(keysIn(env));
  const redact: Redact = (text) => maskShapes(secrets.redact(text));
  // Fields, models and tools have the same names in every entry.
  const names = new Map<string, string>();
  return (text) => {
    if (text.length > LONGEST_NAME) return redact(text);
    const known = names.get(text);
    if (known !== undefined) return known;
    const name = redact(text);
    if (names.size < MOST_NAMES) names.set(text, name);
    return name;
  };
}

const LONGEST_NAME = 40;
const MOST_NAMES = 10_000;

function* items({ reader, edited }: ExportSource): Generator<TranscriptItem> {
  yield* transcript(mapped(reader.branch(), edited));
}

function* mapped(entries: Iterable<Entry>, edited: (entry: Entry) => Entry): Generator<Entry> {
  for (const entry of entries) yield edited(entry);
}

/** A file that is there may be the only copy of something. What could not be finished, or was stopped, is taken away. */
async function writeNew(path: string, pieces: Iterable<string | Buffer>): Promise<void> {
  try {
    const file = await fs.open(path, 'wx', 0o600);
    try {
      for (const piece of pieces) await file.writeFile(piece);
    } catch (error) {
      await fs.unlink(path);
      throw error;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CrabError) throw error;
    const isThere = errnoOf(error) === 'EEXIST';
    const reason = isThere ? 'there is a file of that name' : messageOf(error);
    throw new CrabError('output-failed', `Cannot write ${path}: ${reason}.`, {
      cause: error,
      ...(isThere && { hint: 'Name a new one: an export overwrites nothing.' }),
    });
  }
}
