// `npm run bench:append`: what durability costs. Eight writers append to one session, each waiting until its entry is on disk;
// in between the device alone is measured, by writes of the same bytes that are synced one after another. The rate of syncs is
// held against the device's own, and so is that of entries, of which several share a sync. `--check` makes a missed bar a failure;
// `--folder` chooses the disk.

import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { EntryBody } from '../src/core/tape.ts';
import { encodeLine } from '../src/parts/tape/line.ts';
import { nodeSyncFs } from '../src/parts/tape/sync-fs.ts';
import { createTapes } from '../src/parts/tape/tapes.ts';
import { machine } from './report.ts';
import { median } from './statistics.ts';

const WRITERS = 8;
const BAR = 0.9;

const { values: flags } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    folder: { type: 'string', default: tmpdir() },
    rounds: { type: 'string', default: '21' },
    ms: { type: 'string', default: '300' },
  },
});

const body: EntryBody = {
  type: 'message',
  message: { role: 'user', content: 'x'.repeat(900), timestamp: 1 },
};
const LINE = encodeLine({ ...body, id: '01K00000000000000000000000', parentId: null, timestamp: '' });

/** Syncs in a second, by the same call that the tape makes, of as many bytes as all writers have. */
async function device(folder: string): Promise<number> {
  const path = join(folder, 'raw');
  const file = openSync(path, 'a');
  const bytes = Buffer.from(LINE.repeat(WRITERS));
  const start = performance.now();
  let syncs = 0;
  for (; performance.now() - start < Number(flags.ms); syncs++) {
    writeSync(file, bytes);
    await nodeSyncFs.fdatasync(file);
  }
  const rate = (syncs * 1000) / (performance.now() - start);
  closeSync(file);
  rmSync(path);
  return rate;
}

/** Entries and syncs in a second. */
async function tape(folder: string): Promise<{ readonly entries: number; readonly syncs: number }> {
  const home = mkdtempSync(join(folder, 'home-'));
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: async () => {} };
  let syncs = 0;
  const disk = {
    ...nodeSyncFs,
    fdatasync: (fd: number) => {
      syncs++;
      return nodeSyncFs.fdatasync(fd);
    },
  };
  const session = await createTapes({ home, clock, random: Math.random, disk }).create({
    ...{ agent: 'crab', sender: () => 'bench', cwd: folder },
  });
  await session.append([body]).synced;
  syncs = 0;
  let entries = 0;
  const start = performance.now();
  const writer = async () => {
    while (performance.now() - start < Number(flags.ms)) {
      await session.append([body]).synced;
      entries++;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, writer));
  const seconds = (performance.now() - start) / 1000;
  await session.close();
  rmSync(home, { recursive: true });
  return { entries: entries / seconds, syncs: syncs / seconds };
}

const folder = mkdtempSync(join(flags.folder, 'crab-append-'));
try {
  const [syncRatios, entryRatios, rates]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < Number(flags.rounds); round++) {
    const before = await device(folder);
    const { entries, syncs } = await tape(folder);
    // A disk that others use is not the same a moment later.
    const own = (before + (await device(folder))) / 2;
    rates.push(own);
    syncRatios.push(syncs / own);
    entryRatios.push(entries / own);
  }
  const isMet = median(syncRatios) >= BAR;
  console.log(`the device alone            ${median(rates).toFixed(0)} syncs/s`);
  console.log(
    `syncs of a session          x ${median(syncRatios).toFixed(2)}  >= ${BAR}  ${isMet ? 'ok' : 'MISSED'}`,
  );
  console.log(`durable entries of 8 writers  x ${median(entryRatios).toFixed(2)}`);
  console.log(`\n${machine()}`);
  if (flags.check && !isMet) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
