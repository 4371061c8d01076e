// What every request to a model cost, as lines of JSON in one file for each day. Each line is one write to a file that
// is only appended to, so that any number of processes may share it. A line is written a moment after its request, when
// the next one is on its way; a ledger that cannot be written costs nobody a run. Files are kept for good: a thousand
// requests are about 300 KB.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { AppendedFile } from './appended-file.ts';
import { dayOf } from './day.ts';
import { type Position, readRecords } from './read-records.ts';
import { spentBy, type UsageRecord } from './record.ts';

export interface Ledger {
  /** Never throws. The line is on disk after `flush`, or a moment later. */
  record(record: UsageRecord): void;
  /** Writes what waits. Never throws. */
  flush(): void;
  /** Why lines could not be written, told once. */
  complaint(): string | undefined;
  /** US dollars since midnight, by all processes. Throws `CrabError` (`storage-failed`) when it cannot be known. */
  spentToday(sender: string): { readonly allUsd: number; readonly senderUsd: number };
  /** Every record since the day of that moment, oldest day first. Throws as above. */
  records(since: number, position?: Position): Iterable<UsageRecord>;
}

export interface LedgerOptions {
  /** Need not exist. */
  readonly folder: string;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** What has been read of the file of one day. */
interface Tally {
  readonly day: string;
  readonly position: Position;
  allUsd: number;
  /** Only those that somebody asked about. */
  readonly senders: Map<string, number>;
}

const FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;

export function createLedger({ folder, now }: LedgerOptions): Ledger {
  let waiting: UsageRecord[] = [];
  /** Records that could not be written: they count all the same. */
  const unwritten: UsageRecord[] = [];
  let complaint: string | undefined;
  let complained = false;
  const file = new AppendedFile();
  let tally: Tally | undefined;

  const pathOf = (day: string) => join(folder, `${day}.jsonl`);

  function flush(): void {
    if (waiting.length === 0) return;
    const records = waiting;
    waiting = [];
    try {
      file.append(pathOf(dayOf(now())), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    } catch (error) {
      if (unwritten.length < MOST_UNWRITTEN) unwritten.push(...records);
      if (!complained) complaint = `What requests cost could not be written down: ${messageOf(error)}.`;
      complained = true;
    }
  }

  function tallyFor(day: string, sender: string): Tally {
    if (tally?.day === day && tally.senders.has(sender)) return tally;
    const senders = new Map([...(tally?.senders.keys() ?? []), sender].map((each) => [each, 0]));
    tally = { day, position: { offset: 0, skipped: 0 }, allUsd: 0, senders };
    return tally;
  }

  return {
    record(record) {
      // Quick turns share a write, and none waits for it. The timer holds up no end.
      if (waiting.push(record) === 1) setTimeout(flush, WRITE_AFTER_MS).unref();
    },
    flush,
    complaint() {
      const told = complaint;
      complaint = undefined;
      return told;
    },
    spentToday(sender) {
      flush();
      const day = dayOf(now());
      const known = tallyFor(day, sender);
      readable(folder, () => {
        for (const record of readRecords(pathOf(day), known.position)) {
          known.allUsd += spentBy(record);
          const before = known.senders.get(record.sender);
          if (before !== undefined) known.senders.set(record.sender, before + spentBy(record));
        }
      });
      let allUsd = known.allUsd;
      let senderUsd = known.senders.get(sender) ?? 0;
      for (const record of unwritten) {
        if (dayOf(Date.parse(record.time)) !== day) continue;
        allUsd += spentBy(record);
        if (record.sender === sender) senderUsd += spentBy(record);
      }
      return { allUsd, senderUsd };
    },
    *records(since, position = { offset: 0, skipped: 0 }) {
      flush();
      for (const day of daysIn(folder)) {
        if (day < dayOf(since)) continue;
        position.offset = 0;
        yield* readRecords(pathOf(day), position);
      }
      for (const record of unwritten) if (Date.parse(record.time) >= since) yield record;
    },
  };
}

/** Milliseconds. */
const WRITE_AFTER_MS = 25;

/** On a full disk for hours, what counts is that there is an end to it. */
const MOST_UNWRITTEN = 10_000;

function daysIn(folder: string): readonly string[] {
  return readable(folder, () => {
    try {
      return readdirSync(folder)
        .flatMap((name) => FILE.exec(name)?.[1] ?? [])
        .sort();
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return [];
      throw error;
    }
  });
}

/** A budget that cannot be read must not pass for one that is unspent (law 3). */
function readable<T>(folder: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new CrabError('storage-failed', `Cannot read what was spent, in ${folder}: ${messageOf(cause)}.`, {
      cause,
    });
  }
}
