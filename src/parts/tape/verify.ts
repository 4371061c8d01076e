// Looks at every line of a session's file as strictly as can be: opening one is made to get over damage, and this is made
// to find it. Lines are read whole, and what hangs together by ids is followed.

import { CrabError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Entry, TapeFault, TapeFinding, Verification } from '../../core/tape.ts';
import { entryOf, readHeader } from './entry.ts';
import { decodeLine, sealOf } from './line.ts';
import { type Line, MAX_LINE_BYTES, readLines } from './read-lines.ts';
import { storageError } from './sync-fs.ts';

const MOST_FINDINGS = 100;

/** `isWritten`: a process has the file open, so its last line may be on its way. */
export async function verifySession(path: string, isWritten: boolean): Promise<Verification> {
  const checking = new Checking(path);
  let bytes: number;
  try {
    bytes = await readLines(path, (line) => checking.take(line));
  } catch (error) {
    throw storageError(error, `read ${path}`);
  }
  return checking.finish(bytes, isWritten);
}

type Fault = readonly [TapeFault, string];

const BROKEN: Fault = ['checksum', 'is not what its checksum says'];

class Checking {
  readonly #path: string;
  readonly #findings: TapeFinding[] = [];
  readonly #ids = new Set<string>();
  #faults = 0;
  #lines = 0;
  #unsealed = 0;
  #end = 0;
  #version = 3;
  #head: string | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  take(line: Line): void {
    this.#lines = line.number;
    this.#end = line.end;
    const fault = this.#faultIn(line);
    if (fault !== undefined) this.#find(line.number, ...fault);
  }

  #faultIn({ bytes, number }: Line): Fault | undefined {
    if (bytes === undefined) return ['too-long', `has more than ${MAX_LINE_BYTES} bytes`];
    if (number === 1) return this.#takeHeader(bytes);
    if (bytes.length === 0) return undefined;
    const seal = sealOf(bytes);
    if (seal === 'broken') return BROKEN;
    if (seal === 'none') this.#unsealed++;
    const record = decodeLine(bytes);
    return record === undefined ? ['no-json', 'is no JSON object'] : this.#takeEntry(record, number);
  }

  finish(bytes: number, isWritten: boolean): Verification {
    if (this.#lines === 0)
      this.#find(1, 'header', bytes === 0 ? 'is missing: the file is empty' : 'has no end');
    const torn = bytes - this.#end;
    if (torn > 0 && this.#lines > 0 && !isWritten)
      this.#find(this.#lines + 1, 'torn', `has no end: ${torn} bytes were left half-written`);
    return {
      path: this.#path,
      bytes,
      lines: this.#lines,
      entries: this.#ids.size,
      unsealed: this.#unsealed,
      findings: this.#findings,
      faults: this.#faults,
    };
  }

  #takeHeader(bytes: Buffer): Fault | undefined {
    if (sealOf(bytes) === 'none') this.#unsealed++;
    try {
      const { header, isIntact } = readHeader(bytes, this.#path);
      this.#version = header.version;
      return isIntact ? undefined : BROKEN;
    } catch (error) {
      if (!(error instanceof CrabError)) throw error;
      if (error.code === 'session-newer') return ['header', 'is of a newer version than this Crab reads'];
      const record = decodeLine(bytes);
      if (record !== undefined && record['type'] !== 'session') this.#takeEntry(record, 1);
      return ['header', 'is no session header'];
    }
  }

  #takeEntry(record: JsonObject, number: number): Fault | undefined {
    const entry = entryOf(record, { version: this.#version, line: number, head: this.#head });
    if (entry === undefined) return ['no-entry', 'lacks what an entry has'];
    if (this.#ids.has(entry.id)) return ['duplicate', `has the id ${entry.id} of an earlier line`];
    const fault = this.#lostReference(entry);
    this.#ids.add(entry.id);
    this.#head = entry.type === 'leaf' ? entry.targetId : entry.id;
    return fault;
  }

  #lostReference(entry: Entry): Fault | undefined {
    const { parentId } = entry;
    if (parentId !== null && !this.#ids.has(parentId))
      return ['parent', `hangs from ${parentId}, which is not before it`];
    if (entry.type === 'leaf' && entry.targetId !== null && !this.#ids.has(entry.targetId))
      return ['target', `leads to ${entry.targetId}, which is not before it`];
    return undefined;
  }

  #find(line: number, fault: TapeFault, what: string): void {
    this.#faults++;
    if (this.#findings.length < MOST_FINDINGS)
      this.#findings.push({ line, fault, text: `Line ${line} ${what}.` });
  }
}
