// Power fails at every point of randomly made sessions. The real `open` must then find everything that was acknowledged.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CrabError } from '../../core/errors.ts';
import { seeded } from '../../core/seeded.ts';
import type { EntryBody, Tape, Tapes } from '../../core/tape.ts';
import {
  crashed,
  type Faults,
  type Image,
  MEMORY,
  nextTick,
  Recorder,
  restore,
} from './crash-disk.fixture.ts';
import { decodeLine } from './line.ts';
import { answerSays, diskWith, type TestClock, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const CRASH_POINTS = Number(process.env['CRAB_CAMPAIGN'] ?? 1500);
const ID = '01J00000000000000000000000';
const CHAT = { agent: 'crab', sender: 'tg:1' };

/** Everything that was acknowledged in earlier lives and this one. */
interface Promised {
  readonly entries: ReadonlyMap<string, string>;
  /** Where the head may be: where it was acknowledged last, or where a later move was going. */
  readonly heads: readonly (string | undefined)[];
}

function promisedBy({ recorder, moves }: Life, count: number, earlier: Promised): Promised {
  const entries = new Map(earlier.entries);
  let heads = [...earlier.heads, ...moves];
  for (const step of recorder.steps.slice(0, count)) {
    if (step.kind !== 'acknowledged') continue;
    if (step.what.kind === 'entry') entries.set(step.what.id, step.what.json);
    else heads = moves.slice(moves.indexOf(step.what.id));
  }
  return { entries, heads };
}

/** As a process that is dead when the next one looks. */
function life(number: number) {
  return { pid: 2 ** 30 + number, start: '1', host: 'crash' };
}

const noSyncs = { fdatasync: () => Promise.resolve(), fsyncDir: () => Promise.resolve() };
const noSync = diskWith(noSyncs);
const noCut = diskWith({ ...noSyncs, truncate: () => {} });

/** What was promised and is not there, in words. */
async function lossesIn(
  image: Image,
  promised: Promised,
  { tailIsMerged = false }: Faults,
): Promise<readonly string[]> {
  await using folder = await tempFolder(MEMORY);
  restore(image, folder.path);
  const home = join(folder.path, 'home');
  const tapes = createTapes({
    home,
    clock: testClock(),
    random: Math.random,
    disk: tailIsMerged ? noCut : noSync,
    self: life(0),
  });
  const losses: string[] = [];
  const head = await tapes.head(CHAT).catch((error: unknown) => String(error));
  if (!promised.heads.includes(head)) losses.push(`the head is ${head}`);
  try {
    const tape = await tapes.open(await tapes.find(ID));
    const added = tape.append([userSays('after the crash'), answerSays('indeed')]).entries;
    losses.push(...missingFrom(tape, promised));
    await tape.close();
    const again = await tapes.open(tape.path ?? '');
    const last = [...again.branch()].slice(-2);
    if (JSON.stringify(last) !== JSON.stringify(added)) losses.push('what was appended after the crash');
    await again.close();
  } catch (error) {
    if (promised.entries.size > 0) losses.push(`the session: ${error}`);
  }
  return losses;
}

function missingFrom(tape: Tape, { entries }: Promised): readonly string[] {
  const losses: string[] = [];
  for (const [at, entry] of [...tape.branch()].entries()) {
    if (entry.parentId !== ([...tape.branch()][at - 1]?.id ?? null))
      losses.push(`the chain breaks at ${entry.id}`);
  }
  const there = new Map<unknown, string>();
  for (const line of fs
    .readFileSync(tape.path ?? '')
    .toString('latin1')
    .split('\n')
    .slice(1, -1)) {
    const { session: _, ...entry } = decodeLine(Buffer.from(line, 'latin1')) ?? {};
    there.set(entry['id'], JSON.stringify(entry));
  }
  for (const [id, json] of entries) if (there.get(id) !== json) losses.push(`entry ${id}`);
  return losses;
}

interface Life {
  readonly recorder: Recorder;
  /** The session ids that the head was moved to, one move after the other. */
  readonly moves: readonly string[];
}

/** One process's work on the session, from open to the end of its power. */
async function live(image: Image, number: number, random: () => number, faults: Faults): Promise<Life> {
  await using folder = await tempFolder(MEMORY);
  restore(image, folder.path);
  const recorder = new Recorder(folder.path, image, random, faults);
  const clock = testClock();
  const home = join(folder.path, 'home');
  const tapes = createTapes({ home, clock, random, disk: recorder.disk, self: life(number) });
  const moves: string[] = [];
  const tape = await openOrCreate(tapes);
  let moving = Promise.resolve();
  for (let act = 0; tape !== undefined && act < 30; act++) {
    await step(tape, { recorder, clock, random, acknowledgesEarly: faults.acknowledgesEarly ?? false });
    if (random() >= 0.08) continue;
    const id = `01J${String(number * 1000 + act).padStart(23, '0')}`;
    moving = moving.then(async () => {
      moves.push(id);
      await tapes.moveHead(CHAT, id).then(() => recorder.acknowledge({ kind: 'head', id }), requireFull);
    });
    if (random() < 0.5) await moving;
  }
  if (random() < 0.5) await tape?.close();
  recorder.isRecording = false;
  await moving;
  await tape?.close();
  return { recorder, moves };
}

/** Undefined when the disk is full. A session of which nothing is readable never acknowledged anything. */
async function openOrCreate(tapes: Tapes): Promise<Tape | undefined> {
  const path = await tapes.find(ID).catch(() => undefined);
  try {
    if (path !== undefined) return await tapes.open(path);
  } catch (error) {
    if ((error as CrabError).code !== 'session-damaged') return requireFull(error);
    fs.rmSync(path ?? '');
  }
  return tapes.create({ agent: CHAT.agent, sender: () => CHAT.sender, cwd: '/w', id: ID });
}

function requireFull(error: unknown): undefined {
  assert.equal((error as CrabError).code, 'storage-full', String(error));
}

interface Acting {
  readonly recorder: Recorder;
  readonly clock: TestClock;
  readonly random: () => number;
  readonly acknowledgesEarly: boolean;
}

async function step(tape: Tape, { recorder, clock, random, acknowledgesEarly }: Acting): Promise<void> {
  const dice = random();
  if (dice < 0.15) {
    clock.advance(200);
    const text = 'partial '.repeat(1 + Math.floor(random() * 200));
    tape.partial({ api: 'a', provider: 'p', model: 'm', text });
    return;
  }
  if (dice < 0.35) return nextTick();
  if (dice < 0.45) return tape.settled();
  try {
    const { entries, synced } = tape.append(someBodies(tape, random));
    const acknowledge = () => {
      for (const entry of entries)
        recorder.acknowledge({ kind: 'entry', id: entry.id, json: JSON.stringify(entry) });
    };
    if (acknowledgesEarly) acknowledge();
    else synced.then(acknowledge, () => {});
  } catch (error) {
    requireFull(error);
  }
}

function someBodies(tape: Tape, random: () => number): readonly EntryBody[] {
  const text = () => 'text “ü” '.repeat(1 + Math.floor(random() ** 3 * (random() < 0.05 ? 8000 : 500)));
  const branch = [...tape.branch()];
  const dice = random();
  if (dice < 0.1 && branch.length > 0) {
    const target = branch[Math.floor(random() * branch.length)]?.id ?? null;
    return [{ type: 'leaf', targetId: target }, userSays(text())];
  }
  if (dice < 0.2) return [{ type: 'session_info', name: text().slice(0, 40) }];
  if (dice < 0.4) return [userSays(text()), answerSays(text()), userSays(text())];
  return [random() < 0.5 ? userSays(text()) : answerSays(text())];
}

interface Report {
  readonly points: number;
  readonly lives: number;
  readonly entries: number;
  readonly losses: readonly string[];
}

const LIVES = 3;
/** More of them would tell nothing new. */
const MOST_LOSSES = 10;

/** Sessions of a few lives each, every life begun on what a crash of the one before left. */
async function campaign(points: number, faults: Faults = {}): Promise<Report> {
  const report = { points: 0, lives: 0, entries: 0, losses: [] as string[] };
  const goesOn = () => report.points < points && report.losses.length < MOST_LOSSES;
  for (let seed = 1; goesOn(); seed++) {
    const random = seeded(seed);
    let image: Image = new Map();
    let promised: Promised = { entries: new Map(), heads: [undefined] };
    for (let number = 1; number <= LIVES; number++) {
      const lived = await live(image, seed * LIVES + number, random, faults);
      const { steps } = lived.recorder;
      report.lives++;
      for (let count = 0; count <= steps.length && goesOn(); count++) {
        const losses = await lossesIn(
          crashed(image, steps, count, random),
          promisedBy(lived, count, promised),
          faults,
        );
        report.losses.push(...losses.map((loss) => `seed ${seed}, life ${number}, step ${count}: ${loss}`));
        report.points++;
      }
      const end = Math.floor(random() * (steps.length + 1));
      image = crashed(image, steps, end, random);
      promised = promisedBy(lived, end, promised);
      report.entries += promised.entries.size;
    }
  }
  return report;
}

test(`nothing acknowledged is lost at ${CRASH_POINTS} crash points`, async (t) => {
  const { points, lives, entries, losses } = await campaign(CRASH_POINTS);
  t.diagnostic(`${points} crash points in ${lives} lives, ${entries} acknowledged entries behind their ends`);
  assert.deepEqual(losses, []);
  assert.equal(points, CRASH_POINTS);
  assert.ok(entries > 0);
});

const PLANTED: Readonly<Record<string, Faults>> = {
  'a sync that does nothing': { fileSyncIsStub: true },
  'names that are never synced': { folderSyncIsStub: true },
  'an acknowledgement before its sync': { acknowledgesEarly: true },
  'a torn tail that the next entry is merged with': { tailIsMerged: true },
};

for (const [what, faults] of Object.entries(PLANTED)) {
  test(`the campaign reports ${what}`, async () => {
    const { losses } = await campaign(400, faults);
    assert.notDeepEqual(losses, []);
  });
}
