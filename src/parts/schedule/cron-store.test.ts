import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { createTestFolder } from '../../../test/support/tool-folder.ts';
import { isQuiet, type NewCron, nextRun } from './cron-entry.ts';
import { createCronStore } from './cron-store.ts';

const NOW = Date.parse('2026-03-02T10:00:00Z');

const entry = (schedule: string, more: Partial<NewCron> = {}): NewCron => ({
  schedule,
  prompt: 'go',
  agent: 'crab',
  sender: 'cron',
  tz: 'UTC',
  once: false,
  ...more,
});

/** One after another, as a lock on a file has it. */
function oneByOne(): (path: string) => Promise<() => void> {
  let last = Promise.resolve();
  return async () => {
    const before = last;
    let release = () => {};
    last = new Promise((resolve) => {
      release = resolve;
    });
    await before;
    return release;
  };
}

function storeAt(path: string) {
  return createCronStore({ path, now: () => NOW, lock: oneByOne() });
}

test('entries are added, listed and taken out, and what a person wrote around them stays', async () => {
  await using at = await createTestFolder();
  const path = at.at('home', 'crons.toml');
  const store = storeAt(path);
  assert.deepEqual(await store.list(), []);
  assert.deepEqual(await store.add(entry('0 9 * * *')), { ...entry('0 9 * * *'), id: 1 });
  const mine = `# my own\n${await readFile(path, 'utf8')}\n# about the second\n[[cron]] # here\nid = 5\nschedule = "0 */2 * * * *"\nskill = "tidy"\n`;
  await writeFile(path, mine);
  const odd = entry('30 8 * * 1', {
    prompt: 'Say "hi"\n\\ [[cron]]\n\u007f',
    once: true,
    quietStart: '23:00',
  });
  assert.equal((await store.add(odd)).id, 6);
  assert.deepEqual(await store.list(), [
    { ...entry('0 9 * * *'), id: 1 },
    { id: 5, schedule: '0 */2 * * * *', skill: 'tidy', agent: 'crab', sender: 'cron', once: false },
    { ...odd, id: 6 },
  ]);
  assert.equal((await store.remove(1))?.id, 1);
  assert.equal(await store.remove(1), undefined);
  const text = await readFile(path, 'utf8');
  assert.ok(text.startsWith('# my own\n# about the second\n[[cron]] # here\nid = 5\n'), text);
  await store.remove(5);
  await store.remove(6);
  assert.deepEqual(await store.list(), []);
});

test('changes that come at once are all kept', async () => {
  await using at = await createTestFolder();
  const store = storeAt(at.at('crons.toml'));
  await Promise.all(Array.from({ length: 20 }, (_, index) => store.add(entry(`${index} * * * *`))));
  assert.deepEqual(
    (await store.list()).map(({ id }) => id),
    Array.from({ length: 20 }, (_, index) => index + 1),
  );
});

test('a file that cannot be understood is an error and stays as it is', async () => {
  await using at = await createTestFolder();
  const path = at.at('crons.toml');
  const store = storeAt(path);
  for (const [text, message] of [
    ['[[cron', /crons\.toml is no TOML/],
    ['cron = 3\n', /cron must be a list of tables/],
    ['[[cron]]\nschedule = "* * * * *"\n', /entry 1 of cron has no id/],
    ['[[cron]]\nid = 1\nschedule = 5\n', /entry 1 of cron has a schedule that is no text/],
    ['[[cron]]\nid = 1\nschedule = "* * * * *"\n'.repeat(2), /two entries have the same id/],
  ] as const) {
    await writeFile(path, text);
    await assert.rejects(store.add(entry('* * * * *')), { code: 'settings-invalid', message });
    assert.equal(await readFile(path, 'utf8'), text);
  }
});

test('what would never fire, or says nothing to do, is refused', async () => {
  await using at = await createTestFolder();
  const store = storeAt(at.at('crons.toml'));
  for (const [wrong, message] of [
    [entry('* * *'), /has 3 fields/],
    [entry('61 * * * *'), /cannot be read/],
    [entry('0 0 31 2 *'), /never fires/],
    [entry('* * * * *', { tz: 'Mars/Base' }), /cannot be read/],
    [entry('* * * * *', { prompt: '' }), /must have 1 to/],
    [entry('* * * * *', { skill: 'x' }), /Either a prompt or a skill/],
    [entry('* * * * *', { quietStart: '9:00' }), /HH:MM/],
    [entry('0 3 * * *', { quietStart: '02:00', quietEnd: '04:00' }), /never fires/],
  ] as const)
    await assert.rejects(store.add(wrong), { name: 'ToolFailure', message });
  assert.deepEqual(await store.list(), []);
});

test('quiet hours leave ticks out, over midnight and in the time zone of the entry', async () => {
  const night = entry('0 * * * *', { quietStart: '23:00', quietEnd: '07:00' });
  const quietAt = (hour: string) => isQuiet(night, new Date(`2026-03-02T${hour}:00Z`));
  assert.deepEqual(['22:59', '23:00', '03:00', '06:59', '07:00'].map(quietAt), [
    false,
    true,
    true,
    true,
    false,
  ]);
  assert.equal(isQuiet(entry('0 * * * *', { quietStart: '00:00' }), new Date(NOW)), false);
  const next = await nextRun(night, new Date('2026-03-02T22:30:00Z'));
  assert.equal(next?.toISOString(), '2026-03-03T07:00:00.000Z');
  const tokyo = entry('0 9 * * *', { tz: 'Asia/Tokyo' });
  assert.equal((await nextRun(tokyo, new Date(NOW)))?.toISOString(), '2026-03-03T00:00:00.000Z');
});
