import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { CrabError } from '../../core/errors.ts';
import { dayOf } from './day.ts';
import { createLedger, type Ledger } from './ledger.ts';
import type { UsageRecord } from './record.ts';

const NOON = new Date(2025, 0, 31, 12).getTime();
const DAY_MS = 24 * 60 * 60_000;

function record(more: Partial<UsageRecord> = {}): UsageRecord {
  return {
    time: new Date(NOON).toISOString(),
    session: 'S1',
    agent: 'crab',
    sender: 'cli:S1',
    cwd: '/w',
    provider: 'p',
    model: 'm',
    cause: 'turn',
    outcome: 'done',
    input: 10,
    output: 2,
    cacheRead: 0,
    cacheWrite: 0,
    costUsd: 0.25,
    priced: 'table',
    durationMs: 5,
    ...more,
  };
}

interface Place extends AsyncDisposable {
  readonly folder: string;
  readonly file: string;
  /** Moves what the ledgers take for the present. */
  at(milliseconds: number): void;
  open(): Ledger;
}

async function place(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), 'crab-usage-'));
  const folder = join(root, 'home', 'usage');
  let now = NOON;
  return {
    folder,
    file: join(folder, '2025-01-31.jsonl'),
    at: (milliseconds) => {
      now = milliseconds;
    },
    open: () => createLedger({ folder, now: () => now }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

const all = (ledger: Ledger, position = { offset: 0, skipped: 0 }) => [...ledger.records(0, position)];

describe('the ledger', () => {
  it('writes each request as one line of the day’s file, for its owner alone', async () => {
    await using at = await place();
    const ledger = at.open();
    const lines = [record(), record({ outcome: 'failed', status: 529, costUsd: 0 })];
    for (const line of lines) ledger.record(line);
    assert.equal(existsSync(at.file), false, 'not before the request is out of the way');
    for (let times = 0; times < 500 && !existsSync(at.file); times++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    assert.equal(readFileSync(at.file, 'utf8'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    assert.deepEqual([statSync(at.file).mode & 0o777, statSync(at.folder).mode & 0o777], [0o600, 0o700]);
    assert.deepEqual(all(at.open()), lines);
  });

  it('knows what all processes spent today, and reads no line twice', async () => {
    await using at = await place();
    const [mine, other] = [at.open(), at.open()];
    assert.deepEqual(mine.spentToday('cli:S1'), { allUsd: 0, senderUsd: 0 });
    mine.record(record());
    other.record(record({ sender: 'tg:1', costUsd: 1, unreportedUsd: 0.5 }));
    other.flush();
    assert.deepEqual(mine.spentToday('cli:S1'), { allUsd: 1.75, senderUsd: 0.25 });
    assert.deepEqual(mine.spentToday('tg:1'), { allUsd: 1.75, senderUsd: 1.5 }, 'a sender asked about later');
    // What was read stays counted, whatever becomes of it: only what is new is looked at.
    writeFileSync(at.file, readFileSync(at.file, 'utf8').replace('0.25', '9.25'));
    other.record(record({ costUsd: 0.125 }));
    other.flush();
    assert.deepEqual(mine.spentToday('cli:S1'), { allUsd: 1.875, senderUsd: 0.375 });
  });

  it('begins at nothing at midnight', async () => {
    await using at = await place();
    const ledger = at.open();
    ledger.record(record());
    assert.equal(ledger.spentToday('').allUsd, 0.25);
    at.at(NOON + DAY_MS);
    assert.equal(ledger.spentToday('').allUsd, 0);
    ledger.record(record({ time: new Date(NOON + DAY_MS).toISOString() }));
    assert.equal(ledger.spentToday('').allUsd, 0.25);
    assert.equal(existsSync(join(at.folder, '2025-02-01.jsonl')), true);
    assert.equal(all(ledger).length, 2);
    assert.equal([...ledger.records(NOON + DAY_MS)].length, 1);
  });

  it('passes over torn and foreign lines, counts them, and writes behind a torn one', async () => {
    await using at = await place();
    const ledger = at.open();
    mkdirSync(at.folder, { recursive: true });
    const foreign = [
      'not json',
      '{"some":"object"}',
      JSON.stringify({ ...record(), costUsd: -5 }),
      'x'.repeat(200_000),
    ];
    writeFileSync(at.file, `${foreign.join('\n')}\n${JSON.stringify(record())}\n{"time":"2025-01-31T1`);
    assert.equal(ledger.spentToday('').allUsd, 0.25, 'a last line that is not whole may still become so');
    ledger.record(record());
    const position = { offset: 0, skipped: 0 };
    assert.deepEqual(all(ledger, position), [record(), record()]);
    assert.equal(position.skipped, 5);
    assert.equal(ledger.spentToday('').allUsd, 0.5);
  });

  it('takes a line that was half there when it was looked at', async () => {
    await using at = await place();
    const ledger = at.open();
    mkdirSync(at.folder, { recursive: true });
    const line = `${JSON.stringify(record())}\n`;
    appendFileSync(at.file, line.slice(0, 40));
    assert.equal(ledger.spentToday('').allUsd, 0);
    appendFileSync(at.file, line.slice(40));
    assert.equal(ledger.spentToday('').allUsd, 0.25);
  });

  it('says once that it cannot be written, and counts what it could not write', async () => {
    await using at = await place();
    mkdirSync(join(at.folder, '..'), { recursive: true });
    writeFileSync(at.folder, 'in the way');
    const ledger = at.open();
    for (let times = 0; times < 3; times++) {
      ledger.record(record());
      ledger.flush();
    }
    assert.match(ledger.complaint() ?? '', /^What requests cost could not be written down: ENOTDIR/);
    assert.equal(ledger.complaint(), undefined);
    assert.throws(
      () => ledger.spentToday(''),
      (error) => error instanceof CrabError && error.code === 'storage-failed',
      'what cannot be read is not nothing',
    );
    await rm(at.folder);
    assert.deepEqual(ledger.spentToday('cli:S1'), { allUsd: 0.75, senderUsd: 0.75 });
    ledger.record(record());
    assert.equal(ledger.spentToday('').allUsd, 1);
    assert.equal(all(ledger).length, 4);
  });

  it('loses no line and tears none when processes write at once', async () => {
    await using at = await place();
    const script = `
      import { createLedger } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, 'ledger.ts')).href)};
      const ledger = createLedger({ folder: process.argv[1], now: () => ${NOON} });
      const line = ${JSON.stringify(record())};
      for (let at = 0; at < 200; at++) { ledger.record({ ...line, session: process.argv[2] + at }); ledger.flush(); }`;
    const args = (name: string) => ['--input-type=module', '--eval', script, at.folder, name];
    const run = promisify(execFile);
    await Promise.all(['a', 'b', 'c'].map((name) => run(process.execPath, args(name))));
    const position = { offset: 0, skipped: 0 };
    const sessions = new Set(all(at.open(), position).map(({ session }) => session));
    assert.deepEqual([sessions.size, position.skipped], [600, 0]);
    assert.equal(at.open().spentToday('').allUsd, 150);
  });
});

describe('a day', () => {
  it('is that of this machine', () => {
    assert.equal(dayOf(new Date(2025, 11, 31, 23, 59).getTime()), '2025-12-31');
    assert.equal(dayOf(new Date(2026, 0, 1).getTime()), '2026-01-01');
  });
});
