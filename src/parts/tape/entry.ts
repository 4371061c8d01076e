// From a line's object to a header or an entry, and nothing in between: what is no entry is told apart here,
// so that nobody behind has to ask again. Entry types that we do not know pass, since the tree needs them.
// Versions 1 and 2 of pi's format are read as pi's own migrations read them (session-manager.ts of pi-mono).

import { CrabError } from '../../core/errors.ts';
import type { Message } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type Entry, TAPE_VERSION, type TapeHeader } from '../../core/tape.ts';
import { decodeLine, parseObject, splitMerged } from './line.ts';

/** What every line says of its session so far, so that a list of sessions needs no more than the last one. */
export interface Totals {
  readonly messages: number;
  readonly name?: string | undefined;
  /** As in `SessionMeta`. */
  readonly summary?: string | undefined;
}

export interface ReadHeader {
  readonly header: TapeHeader;
  readonly isIntact: boolean;
  /** What stands behind the header where the break after it was lost. */
  readonly merged: readonly Buffer[];
}

/**
 * Throws `session-newer` and `session-damaged`. A line whose checksum is wrong still counts when it reads as
 * a header, since all the rest of the session depends on it.
 */
export function readHeader(line: Buffer | undefined, path: string): ReadHeader {
  const intact = line && decodeLine(line);
  const whole = intact ?? parseObject(line?.toString() ?? '');
  const [first, ...behind] = whole === undefined && line !== undefined ? splitMerged(line) : [];
  const record = whole ?? (first === undefined ? undefined : decodeLine(first));
  return { header: headerOf(record, path), isIntact: intact !== undefined, merged: behind };
}

function headerOf(record: JsonObject | undefined, path: string): TapeHeader {
  if (record?.['type'] !== 'session' || typeof record['id'] !== 'string') {
    throw new CrabError('session-damaged', `${path} is not a session: its first line is no session header.`);
  }
  const version = record['version'] ?? 1;
  if (typeof version !== 'number' || !(version >= 1)) {
    throw new CrabError('session-damaged', `${path} has no valid version in its first line.`);
  }
  if (version > TAPE_VERSION) {
    throw new CrabError(
      'session-newer',
      `${path} is a session of version ${version}; this Crab reads up to version ${TAPE_VERSION}.`,
    );
  }
  const { crc: _, ...rest } = record;
  return {
    ...rest,
    type: 'session',
    version,
    id: record['id'],
    timestamp: textOr(record['timestamp'], ''),
    cwd: textOr(record['cwd'], ''),
  };
}

/** Where a line stands, for the entries of version 1, which have no ids of their own. */
export interface Place {
  readonly version: number;
  readonly line: number;
  /** The head of the tree before this line. */
  readonly head: string | null;
}

/** Undefined for what is no entry. */
export function entryOf(record: JsonObject, place: Place): Entry | undefined {
  const { session: _, ...fields } = place.version < TAPE_VERSION ? migrated(record, place) : record;
  const { type, id, parentId } = fields as JsonObject;
  if (typeof type !== 'string' || typeof id !== 'string') return undefined;
  if (parentId !== null && typeof parentId !== 'string') return undefined;
  return hasItsFields(type, fields) ? (fields as unknown as Entry) : undefined;
}

/** Only the fields that the tree itself reads; the rest is for whoever reads the branch. */
function hasItsFields(type: string, fields: JsonObject): boolean {
  if (type === 'message') return isMessage(fields['message']);
  if (type === 'label') return typeof fields['targetId'] === 'string';
  if (type === 'leaf') return fields['targetId'] === null || typeof fields['targetId'] === 'string';
  if (type === 'session_info') return fields['name'] === undefined || typeof fields['name'] === 'string';
  return true;
}

const ROLES_WITH_BLOCKS = new Set(['assistant', 'toolResult']);

export function isMessage(value: unknown): value is Message {
  if (typeof value !== 'object' || value === null) return false;
  const { role, content } = value as JsonObject;
  if (typeof role !== 'string') return false;
  if (ROLES_WITH_BLOCKS.has(role)) return Array.isArray(content);
  return role !== 'user' || typeof content === 'string' || Array.isArray(content);
}

function migrated(record: JsonObject, place: Place): JsonObject {
  let entry = record;
  if (place.version < 2 && entry['id'] === undefined) {
    entry = { ...entry, id: idOfLine(place.line), parentId: place.head };
    const kept = entry['firstKeptEntryIndex'];
    // It counts from the header, which is line 1.
    if (typeof kept === 'number') entry = { ...entry, firstKeptEntryId: idOfLine(kept + 1) };
  }
  const message = entry['message'] as JsonObject | undefined;
  if (message?.['role'] === 'hookMessage') entry = { ...entry, message: { ...message, role: 'custom' } };
  return entry;
}

/** Derived from its place, so that it is the same each time the file is opened. */
function idOfLine(line: number): string {
  return `line-${line}`;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise;
}
