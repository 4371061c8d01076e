import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openDaemonLog } from './daemon-log.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOON = new Date(2026, 0, 15, 12).getTime();

test('a line is one line, without colours, and without what looks like a secret', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crab-log-'));
  const log = openDaemonLog({ folder, now: () => NOON, redact: (text) => text.replaceAll('hunter2', '***') });
  log.write('a \u001b[31mred\u001b[0m word\nand hunter2');
  log.write(`key sk-ant-api03-${'a'.repeat(95)}`);
  await log.close();
  const at = new Date(NOON).toISOString();
  const [first, second, ...more] = readFileSync(log.path, 'utf8').split('\n');
  assert.deepEqual([first, more], [`${at} a red word ⏎ and ***`, ['']]);
  assert.doesNotMatch(String(second), /aaaa/);
  assert.equal(statSync(log.path).mode & 0o777, 0o600);
  rmSync(folder, { recursive: true });
});

test('a day and a full file begin a new one, and the oldest go', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'crab-log-'));
  let now = NOON;
  const log = openDaemonLog({ folder, now: () => now, room: 200, keep: 2 });
  const lines = () => readdirSync(folder).sort();
  log.write('x'.repeat(200));
  log.write('the next file');
  await log.close();
  assert.deepEqual(lines(), ['daemon-2026-01-15.log', 'daemon.log']);
  now += DAY;
  const later = openDaemonLog({ folder, now: () => now, room: 200, keep: 2 });
  utimesSync(log.path, NOON / 1000, NOON / 1000);
  later.write('the next day');
  await later.close();
  assert.deepEqual(lines(), ['daemon-2026-01-15.1.log', 'daemon-2026-01-15.log', 'daemon.log']);
  assert.match(readFileSync(join(folder, 'daemon-2026-01-15.1.log'), 'utf8'), /the next file/);
  const last = openDaemonLog({ folder, now: () => now + DAY, room: 200, keep: 2 });
  utimesSync(join(folder, 'daemon-2026-01-15.log'), 1, 1);
  utimesSync(log.path, now / 1000, now / 1000);
  last.write('and the next');
  await last.close();
  assert.deepEqual(lines(), ['daemon-2026-01-15.1.log', 'daemon-2026-01-16.log', 'daemon.log']);
  rmSync(folder, { recursive: true });
});

test('where nothing can be written, lines are lost and nothing else', async () => {
  const folder = '/proc/self/no-such-folder';
  const log = openDaemonLog({ folder, now: () => NOON });
  log.write('lost');
  await log.close();
  assert.throws(() => statSync(folder), /ENOENT/);
});
