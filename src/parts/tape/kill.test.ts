// A process that is killed at any moment, for real: what it was told is durable is there afterwards.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { seeded } from '../../core/seeded.ts';
import { decodeLine } from './line.ts';
import { readLines } from './read-lines.ts';
import { tempFolder, testClock } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const ROUNDS = 8;

/** Appends without end, in sizes from 100 bytes to 1 MB, and prints the id of each entry once it is durable. */
const CHILD = `
  const { createTapes } = await import(${JSON.stringify(new URL('./tapes.ts', import.meta.url).href)});
  const [home, file] = process.argv.slice(1);
  const clock = { now: Date.now, monotonic: () => performance.now(), sleep: () => Promise.resolve() };
  const tapes = createTapes({ home, clock, random: Math.random });
  const tape = file === ''
    ? await tapes.create({ agent: 'crab', sender: () => 'user', cwd: '/w' })
    : await tapes.open(file);
  const usage = {};
  for (let at = 0; ; at++) {
    const text = 'x'.repeat(100 * 10 ** (Math.random() ** 4 * 4));
    tape.partial({ api: 'a', provider: 'p', model: 'm', text });
    const message = at % 2 === 0
      ? { role: 'user', content: text, timestamp: 1 }
      : { role: 'assistant', content: [{ type: 'text', text }], api: 'a', provider: 'p', model: 'm', usage, stopReason: 'stop', timestamp: 1 };
    const { entries, synced } = tape.append([{ type: 'message', message }]);
    const told = synced.then(() => process.stdout.write(entries[0].id + ' ' + tape.path + '\\n'));
    if (Math.random() < 0.7) await told;
  }
`;

interface Killed {
  readonly acknowledged: readonly string[];
  readonly path: string;
}

async function killAfter(count: number, home: string, file: string): Promise<Killed> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', CHILD, home, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit');
  const acknowledged: string[] = [];
  let path = '';
  for await (const line of createInterface({ input: child.stdout })) {
    const [id = '', where = ''] = line.split(' ');
    acknowledged.push(id);
    path = where;
    if (acknowledged.length === count) child.kill('SIGKILL');
  }
  const [, signal] = await exit;
  assert.equal(signal, 'SIGKILL');
  return { acknowledged, path };
}

async function idsIn(path: string): Promise<ReadonlySet<unknown>> {
  const ids = new Set<unknown>();
  await readLines(path, ({ bytes }) => {
    ids.add(bytes && decodeLine(bytes)?.['id']);
  });
  return ids;
}

test(`nothing that a killed process was told is lost, ${ROUNDS} times in a row`, async () => {
  await using folder = await tempFolder();
  const home = join(folder.path, 'home');
  const random = seeded(9);
  const acknowledged: string[] = [];
  let path = '';
  for (let round = 0; round < ROUNDS; round++) {
    const killed = await killAfter(1 + Math.floor(random() * 150), home, path);
    path = killed.path;
    acknowledged.push(...killed.acknowledged);

    const tape = await createTapes({ home, clock: testClock(), random }).open(path);
    const branch = [...tape.branch()];
    for (const [at, entry] of branch.entries()) assert.equal(entry.parentId, branch[at - 1]?.id ?? null);
    await tape.close();
    const there = await idsIn(path);
    assert.deepEqual(
      acknowledged.filter((id) => !there.has(id)),
      [],
    );
  }
  assert.equal(new Set(acknowledged).size, acknowledged.length);
});
