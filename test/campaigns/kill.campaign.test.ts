// `kill -9` of the real program at random moments, as many rounds as `CRAB_CAMPAIGN` says, four sessions at a time, prompts
// and answers of 100 bytes to 8 MB. What the program said was kept is in the file, to the letter, and every session
// opens. That the campaign can fail is shown by a program whose writes reach the file late.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createIds } from '../../src/core/ids.ts';
import { messageText } from '../../src/core/message.ts';
import { seeded } from '../../src/core/seeded.ts';
import type { Tapes } from '../../src/core/tape.ts';
import { createTapes } from '../../src/parts/tape/tapes.ts';
import { needs, spawnCrab } from '../support/crab.ts';
import { type FakeProviderFixture, fakeProvider } from '../support/fake-provider.ts';
import { tempWorkspace, type Workspace } from '../support/workspace.ts';

const ROUNDS = Number(process.env['CRAB_CAMPAIGN'] ?? 20);
const SLOTS = 4;
const PROMPTS = 6;
const LEAST_BYTES = 100;
const MOST_BYTES = 8_000_000;
/** A session that is sent to the provider with each prompt must end some time. */
const SESSION_BYTES = 20_000_000;
/** Behind the start of one process, or its first line: how long a start takes is the machine's affair. */
const LATEST_KILL_MS = 600;

/** Mostly small; one in a few hundred is of the largest. */
function sizeOf(random: () => number): number {
  return Math.round(LEAST_BYTES * (MOST_BYTES / LEAST_BYTES) ** (random() ** 4));
}

/** A text that says which it is, so that any other letter in it is seen. */
function textOf(token: string, bytes: number): string {
  return `${token} `.repeat(Math.ceil(bytes / (token.length + 1))).slice(0, bytes);
}

interface Slot {
  readonly id: string;
  bytes: number;
  isBegun: boolean;
  /** Everything that was acknowledged, by its token. */
  readonly told: Map<string, string>;
}

interface Campaign {
  readonly work: Workspace;
  readonly provider: FakeProviderFixture;
  readonly tapes: Tapes;
  readonly random: () => number;
  readonly newId: () => string;
  readonly env: Readonly<Record<string, string>>;
  readonly faults: string[];
  acknowledged: number;
  killed: number;
}

async function campaign(
  rounds: number,
  seed: number,
  env: (work: Workspace) => Promise<Record<string, string>>,
) {
  await using work = await tempWorkspace({});
  const random = seeded(seed);
  let answers = 0;
  const choose = () => ({ text: textOf(`answer-${++answers}`, sizeOf(random)) });
  await using provider = await fakeProvider([], { choose, keepBodies: false });
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
  const tapes = createTapes({ home: join(work.home, '.crab'), clock, random });
  const newId = createIds({ now: Date.now, random });
  const faults: string[] = [];
  const run: Campaign = {
    ...{ work, provider, tapes, random, newId, faults, acknowledged: 0, killed: 0 },
    env: { ...provider.env('openai'), OPENAI_MODEL: 'gpt-5.1', ...(await env(work)) },
  };
  const slots = Array.from({ length: SLOTS }, () => newSlot(run));
  for (let round = 0; round < rounds && faults.length === 0; round++) {
    await Promise.all(slots.map((slot, at) => live(run, slot, `prompt-${round}-${at}`)));
    for (const [at, slot] of slots.entries()) {
      faults.push(...(await losses(run, slot)));
      if (slot.bytes > SESSION_BYTES) slots[at] = newSlot(run);
    }
  }
  return run;
}

function newSlot({ newId }: Campaign): Slot {
  return { id: newId(), bytes: 0, isBegun: false, told: new Map() };
}

/** One process, from its start to a moment of which nobody knows anything. */
async function live(run: Campaign, slot: Slot, name: string): Promise<void> {
  const { work, random } = run;
  const which = slot.isBegun ? ['--resume', slot.id] : ['--session-id', slot.id];
  const args = [
    '-p',
    '--input-format',
    'stream-json',
    '--output-format',
    'stream-json',
    '--replay-user-messages',
  ];
  await using crab = spawnCrab({ args: [...args, ...which], cwd: work.path, home: work.home, env: run.env });
  const sizes = Array.from({ length: PROMPTS }, () => sizeOf(random));
  for (const [at, bytes] of sizes.entries()) {
    const message = { role: 'user', content: textOf(`${name}-${at}`, bytes) };
    crab.stdin.write(`${JSON.stringify({ type: 'user', message })}\n`);
  }
  crab.stdin.end();
  const begun = crab.waitFor('\n').catch(() => crab.exited);
  if (random() < 0.8) await begun;
  const timer = setTimeout(() => crab.kill('SIGKILL'), random() * LATEST_KILL_MS);
  const exit = await crab.exited;
  clearTimeout(timer);
  if (exit.signal === 'SIGKILL') run.killed++;
  else if (exit.code !== 0)
    run.faults.push(`session ${slot.id} ended with ${exit.code}: ${exit.stderr.slice(0, 500)}`);
  for (const text of toldIn(exit.stdout)) {
    slot.told.set(text.slice(0, text.indexOf(' ')), text);
    slot.bytes += text.length;
    run.acknowledged++;
  }
}

/** The prompts and answers that whole lines of the output speak of. */
function toldIn(stdout: string): readonly string[] {
  const told: string[] = [];
  for (const line of stdout.split('\n').slice(0, -1)) {
    const { type, isReplay, message } = JSON.parse(line);
    if (type === 'user' && isReplay === true) told.push(String(message.content));
    if (type === 'assistant') told.push(message.content[0].text);
  }
  return told;
}

/** Opens the session as the next process would, and looks for what was told. */
async function losses({ tapes }: Campaign, slot: Slot): Promise<readonly string[]> {
  const path = await tapes.find(slot.id).catch(() => undefined);
  slot.isBegun = path !== undefined;
  if (path === undefined) return slot.told.size === 0 ? [] : [`session ${slot.id} is gone`];
  try {
    const tape = await tapes.open(path);
    const missing = new Map(slot.told);
    for (const entry of tape.branch({ wanted: ({ type }) => type === 'message' })) {
      const text = entry.type === 'message' ? messageText(entry.message) : '';
      const token = text.slice(0, text.indexOf(' '));
      if (missing.get(token) === text) missing.delete(token);
    }
    await tape.close();
    const { findings } = await tapes.verify(path);
    return [
      ...[...missing.keys()].map((token) => `${token} was acknowledged and is not in session ${slot.id}`),
      ...findings.map(({ text }) => `session ${slot.id}: ${text}`),
    ];
  } catch (error) {
    return [`session ${slot.id} cannot be opened: ${error}`];
  }
}

test(`nothing that was acknowledged is lost when the program is killed, ${ROUNDS} times`, async (t) => {
  const { faults, acknowledged, killed } = await campaign(ROUNDS, 7, async () => ({}));
  t.diagnostic(`${killed} processes killed, ${acknowledged} prompts and answers acknowledged`);
  assert.deepEqual(faults, []);
  assert.ok(killed > 0 && acknowledged > 0);
});

/** Loaded before the program: what is written to a session reaches the file a while after it was said to. */
const LATE_WRITES = `
const fs = require('node:fs');
const { openSync, writeSync } = fs;
const sessions = new Set();
fs.openSync = (path, ...rest) => {
  const fd = openSync(path, ...rest);
  if (String(path).endsWith('.jsonl')) sessions.add(fd);
  return fd;
};
fs.writeSync = (fd, bytes, ...rest) => {
  if (!sessions.has(fd)) return writeSync(fd, bytes, ...rest);
  const copy = Buffer.from(bytes);
  setTimeout(() => writeSync(fd, copy), 100);
  return copy.length;
};
`;

test('the campaign would notice a program whose writes are late', {
  skip: needs('NODE_OPTIONS'),
}, async () => {
  const { faults } = await campaign(10, 8, async ({ home }) => {
    const shim = join(home, 'late-writes.cjs');
    await mkdir(home, { recursive: true });
    await writeFile(shim, LATE_WRITES);
    return { NODE_OPTIONS: `--require ${shim}` };
  });
  assert.match(
    faults.join('\n'),
    /was acknowledged and is not in session|is gone|is not a session: it is empty/,
  );
});
