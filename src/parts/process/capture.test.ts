import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { Capture, type CaptureOptions } from './capture.ts';
import { SPILL_LIMIT } from './spill.ts';

const KEEP = { head: 10, tail: 10 };

async function captured(pieces: readonly (string | Uint8Array)[], options: CaptureOptions = {}) {
  const capture = new Capture({ keep: KEEP, ...options });
  const source = capture.source();
  for (const piece of pieces) {
    source.write(typeof piece === 'string' ? Buffer.from(piece) : piece);
    if (capture.blocked) await new Promise<void>((resolve) => capture.onDrain(resolve));
  }
  source.end();
  return capture.finish();
}

async function folder() {
  const path = await mkdtemp(join(tmpdir(), 'crab-capture-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

test('what fits is kept whole and no file is made', async () => {
  await using place = await folder();
  const spillTo = join(place.path, 'out');
  const result = await captured(['0123456789', '01234\n', 'äb'], { spillTo });
  assert.deepEqual(result, { text: '012345678901234\näb', bytes: 19, lines: 2, truncated: false });
  await assert.rejects(stat(spillTo), { code: 'ENOENT' });
});

test('head and tail are cut at line ends, with exact counts between them', async () => {
  const lines = Array.from({ length: 1000 }, (_, at) => `l${at % 10}\n`).join('');
  const whole = await captured([lines]);
  const text = 'l0\nl1\nl2\n[994 lines (2982 bytes) left out here]\nl7\nl8\nl9\n';
  assert.deepEqual(whole, { text, bytes: 3000, lines: 1000, truncated: true });
  for (const size of [1, 7, 13, 999]) {
    const pieces = lines.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
    assert.deepEqual(await captured(pieces), whole, `in pieces of ${size}`);
  }
});

test('one line without an end is cut between characters', async () => {
  const result = await captured(['äöü€🦀'.repeat(1000)], { keep: { head: 11, tail: 8 } });
  const text = 'äöü€\n[12984 bytes left out here]\n€🦀';
  assert.deepEqual(result, { text, bytes: 13_000, lines: 1, truncated: true });
});

test('keeping only one end works', async () => {
  assert.equal(
    (await captured(['a\nb\nc\n'], { keep: { head: 4, tail: 0 } })).text,
    'a\nb\n[1 lines (2 bytes) left out here]\n',
  );
  assert.equal(
    (await captured(['a\nb\nc\n'], { keep: { head: 0, tail: 2 } })).text,
    '[2 lines (4 bytes) left out here]\nc\n',
  );
});

test('the file holds the whole output as plain text and belongs to its owner alone', async () => {
  await using place = await folder();
  const spillTo = join(place.path, 'out');
  const pieces = Array.from({ length: 5000 }, (_, at) => `\x1b[3${at % 8}mline ${at}\x1b[0m\r\n`);
  const result = await captured(pieces, { spillTo });
  assert.equal(result.spilledTo, spillTo);
  assert.equal(result.lines, 5000);
  assert.equal(await readFile(spillTo, 'utf8'), pieces.map((_, at) => `line ${at}\n`).join(''));
  assert.equal((await stat(spillTo)).mode & 0o777, 0o600);
});

test('the file is capped and the text says so', async () => {
  await using place = await folder();
  const spillTo = join(place.path, 'out');
  const piece = Buffer.alloc(1024 * 1024, 'x');
  const result = await captured(Array(70).fill(piece), { spillTo });
  assert.equal((await stat(spillTo)).size, SPILL_LIMIT);
  assert.equal(result.bytes, 70 * piece.length);
  assert.match(result.text, /\[73400300 bytes left out here; the file ends after 67108864 bytes\]/);
});

test('a full disk ends the copy and not the command', async (t) => {
  await using place = await folder();
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', place.path]).status === 0;
  if (!mounted) return t.skip('a small disk can be mounted by root only');
  try {
    const spillTo = join(place.path, 'out');
    const result = await captured(Array(64).fill(Buffer.alloc(64 * 1024, 'x')), { spillTo });
    const text =
      'xxxxxxxxxx\n[4194284 bytes left out here; the whole could not be saved: the disk is full]\nxxxxxxxxxx';
    assert.deepEqual(result, { text, bytes: 4 * 1024 * 1024, lines: 1, truncated: true });
  } finally {
    spawnSync('umount', ['-l', place.path]);
  }
});

test('a file that cannot be made is said', async () => {
  await using place = await folder();
  const result = await captured(['x'.repeat(100)], { spillTo: join(place.path, 'no', 'out') });
  assert.match(result.text, /left out here; the whole could not be saved: ENOENT/);
  assert.equal(result.spilledTo, undefined);
});

test('a file that exists is neither followed, nor overwritten, nor removed', async () => {
  await using place = await folder();
  const spillTo = join(place.path, 'out');
  await writeFile(spillTo, 'mine');
  const result = await captured(['x'.repeat(100)], { spillTo });
  assert.equal(result.spilledTo, undefined);
  assert.equal(await readFile(spillTo, 'utf8'), 'mine');
});

test('invalid UTF-8 becomes U+FFFD alike wherever it is split', async () => {
  const keep = { head: 1000, tail: 0 };
  const bytes = Buffer.from('61c3a4e282ac80e282f09fa680f09f62ffc3', 'hex');
  const whole = (await captured([bytes], { keep })).text;
  assert.equal(whole, 'aä€\ufffd\ufffd🦀\ufffdb\ufffd\ufffd');
  for (let at = 0; at <= bytes.length; at++) {
    const result = await captured([bytes.subarray(0, at), bytes.subarray(at)], { keep });
    assert.equal(result.text, whole, `split at ${at}`);
  }
});

test('two sources do not tear each other’s characters or sequences', async () => {
  const capture = new Capture();
  const [left, right] = [capture.source(), capture.source()];
  left.write(Buffer.from([0x61, 0xe2, 0x82]));
  right.write(Buffer.from('b\x1b[3'));
  left.write(Buffer.from([0xac, 0x0a]));
  right.write(Buffer.from('1mc\n'));
  left.end();
  right.end();
  const seen = await capture.finish();
  assert.deepEqual(seen, { text: 'a€\nbc\n', bytes: 13, lines: 2, truncated: false });
});
