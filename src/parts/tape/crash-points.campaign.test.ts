// Power fails at every point of randomly made sessions. A recorder notes each change of the disk, each sync
// and each acknowledgement; a crash keeps what was synced and, of the rest, whatever chance picks: writes in
// part, by sectors of 512 bytes, and names in the order they were made (the way of SQLite's crash tests,
// sqlite.org/testing.html). The real `open` must then find everything that was acknowledged.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTick } from 'node:timers/promises';
import type { CrabError } from '../../core/errors.ts';
import { seeded } from '../../core/seeded.ts';
import type { EntryBody, Tape, Tapes } from '../../core/tape.ts';
import { decodeLine } from './line.ts';
import { nodeSyncFs, type SyncFs } from './sync-fs.ts';
import {
  answerSays,
  diskWith,
  systemError,
  type TestClock,
  tempFolder,
  testClock,
  userSays,
} from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const CRASH_POINTS = Number(process.env['CRAB_CAMPAIGN'] ?? 1500);
/** Nothing here needs a real disk, and memory is ten times as fast. */
const MEMORY = fs.existsSync('/dev/shm') ? '/dev/shm' : undefined;
const SECTOR = 512;
const ID = '01J00000000000000000000000';
const CHAT = { agent: 'crab', sender: 'tg:1' };

type DataStep =
  | { readonly kind: 'write'; readonly file: number; readonly offset: number; readonly bytes: Buffer }
  | { readonly kind: 'truncate'; readonly file: number; readonly length: number };

type NameStep =
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'create'; readonly path: string; readonly file: number }
  | { readonly kind: 'rename'; readonly path: string; readonly to: string }
  | { readonly kind: 'unlink'; readonly path: string };

type Step =
  | DataStep
  | NameStep
  /** `what` is a file's number or a folder's path; `began` is the step that the sync covers up to. */
  | { readonly kind: 'synced'; readonly what: number | string; readonly began: number }
  | { readonly kind: 'acknowledged'; readonly what: Acknowledged };

type Acknowledged =
  | { readonly kind: 'entry'; readonly id: string; readonly json: string }
  | { readonly kind: 'head'; readonly id: string };

/** What is on the disk: paths are relative to its root, and a folder has no content. */
type Image = ReadonlyMap<string, Buffer | undefined>;

interface Faults {
  /** Syncs of files do nothing. */
  readonly fileSyncIsStub?: boolean;
  /** Syncs of folders do nothing. */
  readonly folderSyncIsStub?: boolean;
  /** Entries count as acknowledged as soon as they are written. */
  readonly acknowledgesEarly?: boolean;
}

/** Carries everything out on the real file system and notes it. Syncs take a few ticks and touch nothing. */
class Recorder {
  readonly steps: Step[] = [];
  readonly disk: SyncFs;
  /** Files by descriptor, and by path relative to the root. */
  readonly #open = new Map<number, number>();
  readonly #files = new Map<string, number>();
  readonly #root: string;
  readonly #random: () => number;
  #nextFile = 0;
  isRecording = true;

  constructor(root: string, image: Image, random: () => number, faults: Faults) {
    this.#root = root;
    this.#random = random;
    for (const [path, content] of image) if (content !== undefined) this.#files.set(path, this.#nextFile++);
    const sync = (what: () => number | string, isStub: boolean) => async () => {
      const began = this.steps.length;
      const target = what();
      for (let ticks = Math.floor(random() * 4); ticks > 0; ticks--) await nextTick();
      if (!isStub) this.#note({ kind: 'synced', what: target, began });
    };
    this.disk = diskWith({
      open: (path, flags, mode) => this.#openFile(path, flags, mode),
      write: (fd, bytes) => this.#write(fd, bytes),
      truncate: (fd, length) => {
        nodeSyncFs.truncate(fd, length);
        this.#note({ kind: 'truncate', file: this.#fileOf(fd), length });
      },
      rename: (from, to) => {
        nodeSyncFs.rename(from, to);
        this.#files.set(this.#name(to), this.#files.get(this.#name(from)) ?? -1);
        this.#files.delete(this.#name(from));
        this.#note({ kind: 'rename', path: this.#name(from), to: this.#name(to) });
      },
      unlink: (path) => {
        nodeSyncFs.unlink(path);
        this.#files.delete(this.#name(path));
        this.#note({ kind: 'unlink', path: this.#name(path) });
      },
      mkdir: (path, mode) => {
        const made = nodeSyncFs.mkdir(path, mode);
        const folders: string[] = [];
        for (let at = path; made !== undefined && at.length >= made.length; at = dirname(at))
          folders.unshift(at);
        for (const folder of folders) this.#note({ kind: 'folder', path: this.#name(folder) });
        return made;
      },
      fdatasync: (fd) => sync(() => this.#fileOf(fd), faults.fileSyncIsStub ?? false)(),
      fsyncDir: (path) => sync(() => this.#name(path), faults.folderSyncIsStub ?? false)(),
    });
  }

  acknowledge(what: Acknowledged): void {
    this.#note({ kind: 'acknowledged', what });
  }

  #openFile(path: string, flags: 'a' | 'ax', mode: number): number {
    const isNew = !fs.existsSync(path);
    const fd = nodeSyncFs.open(path, flags, mode);
    const name = this.#name(path);
    if (isNew) {
      this.#files.set(name, this.#nextFile);
      this.#note({ kind: 'create', path: name, file: this.#nextFile++ });
    }
    this.#open.set(fd, this.#files.get(name) ?? -1);
    return fd;
  }

  /** Now and then the disk is full: half of the bytes, or none, are written. */
  #write(fd: number, bytes: Uint8Array): number {
    const offset = fs.fstatSync(fd).size;
    const isFull = this.#random() < 0.02;
    const part = isFull ? bytes.subarray(0, Math.floor(this.#random() * 2) * (bytes.length >> 1)) : bytes;
    const written = part.length === 0 ? 0 : nodeSyncFs.write(fd, part);
    this.#note({ kind: 'write', file: this.#fileOf(fd), offset, bytes: Buffer.from(part) });
    if (isFull && this.#random() < 0.5) throw systemError('ENOSPC');
    return written;
  }

  #fileOf(fd: number): number {
    return this.#open.get(fd) ?? -1;
  }

  #name(path: string): string {
    return relative(this.#root, path);
  }

  #note(step: Step): void {
    if (this.isRecording) this.steps.push(step);
  }
}

function isName(step: Step): step is NameStep {
  return ['folder', 'create', 'rename', 'unlink'].includes(step.kind);
}

/** What is on the disk when the power fails behind the first `count` steps. */
function crashed(image: Image, steps: readonly Step[], count: number, random: () => number): Image {
  /** The number of the step up to which a file or folder is durable. */
  const durable = new Map<number | string, number>();
  for (const step of steps.slice(0, count)) {
    if (step.kind === 'synced') durable.set(step.what, Math.max(step.began, durable.get(step.what) ?? 0));
  }
  const names = new Map<string, number | 'folder'>();
  const contents = new Map<number, Buffer>();
  for (const [path, content] of image) {
    names.set(path, content === undefined ? 'folder' : contents.size);
    if (content !== undefined) contents.set(contents.size, content);
  }
  /** Folders whose later names did not make it. */
  const stopped = new Set<string>();
  for (const [at, step] of steps.slice(0, count).entries()) {
    if (isName(step)) {
      const folder = dirname(step.path);
      if (at >= (durable.get(folder === '.' ? '' : folder) ?? 0) && random() < 0.3) stopped.add(folder);
      if (!stopped.has(folder)) applyName(names, step);
      if (step.kind === 'create') contents.set(step.file, Buffer.alloc(0));
    } else if (step.kind === 'write' || step.kind === 'truncate') {
      const isDurable = at < (durable.get(step.file) ?? 0);
      contents.set(step.file, applied(contents.get(step.file) ?? Buffer.alloc(0), step, isDurable, random));
    }
  }
  const left = new Map<string, Buffer | undefined>();
  for (const [path, what] of [...names].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const folder = dirname(path);
    if (folder !== '.' && names.get(folder) !== 'folder') continue;
    if (folder !== '.' && !left.has(folder)) continue;
    left.set(path, what === 'folder' ? undefined : (contents.get(what) ?? Buffer.alloc(0)));
  }
  return left;
}

function applyName(names: Map<string, number | 'folder'>, step: NameStep): void {
  if (step.kind === 'folder') names.set(step.path, 'folder');
  else if (step.kind === 'create') names.set(step.path, step.file);
  else if (step.kind === 'unlink') names.delete(step.path);
  else {
    const file = names.get(step.path);
    names.delete(step.path);
    if (file !== undefined) names.set(step.to, file);
  }
}

/** A step that is not durable is done, or not, or in part. */
function applied(content: Buffer, step: DataStep, isDurable: boolean, random: () => number): Buffer {
  const fate = isDurable ? 1 : random();
  if (step.kind === 'truncate') {
    if (fate < 0.5) return content;
    const shorter = Buffer.alloc(step.length);
    content.copy(shorter);
    return shorter;
  }
  if (fate < 0.3) return content;
  const end = step.offset + step.bytes.length;
  const result = Buffer.alloc(Math.max(content.length, end));
  content.copy(result);
  let reached = content.length;
  for (let from = step.offset; from < end; ) {
    const to = Math.min(end, (Math.floor(from / SECTOR) + 1) * SECTOR);
    if (fate >= 0.6 || random() < 0.5) {
      step.bytes.copy(result, from, from - step.offset, to - step.offset);
      reached = Math.max(reached, to);
    }
    from = to;
  }
  return result.subarray(0, reached);
}

/** No machine is back within seconds of losing its power. */
const SECONDS_DARK = 10;

function restore(image: Image, root: string): void {
  const then = Date.now() / 1000 - SECONDS_DARK;
  for (const [path, content] of image) {
    if (content === undefined) fs.mkdirSync(join(root, path), { recursive: true });
    else fs.writeFileSync(join(root, path), content);
    fs.utimesSync(join(root, path), then, then);
  }
}

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

const noSync = diskWith({ fdatasync: () => Promise.resolve(), fsyncDir: () => Promise.resolve() });

/** What was promised and is not there, in words. */
async function lossesIn(image: Image, promised: Promised): Promise<readonly string[]> {
  await using folder = await tempFolder(MEMORY);
  restore(image, folder.path);
  const home = join(folder.path, 'home');
  const tapes = createTapes({ home, clock: testClock(), random: Math.random, disk: noSync, self: life(0) });
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
};

for (const [what, faults] of Object.entries(PLANTED)) {
  test(`the campaign reports ${what}`, async () => {
    const { losses } = await campaign(400, faults);
    assert.notDeepEqual(losses, []);
  });
}
