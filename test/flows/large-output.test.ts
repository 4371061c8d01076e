// A long answer and a reader who takes his time, or leaves: nothing is lost, nothing piles up, nobody is shouted at.

import assert from 'node:assert/strict';
import { chmod, readFile } from 'node:fs/promises';
import { type CrabProcess, testedCommand } from '../support/crab.ts';
import {
  type FlowWire,
  type Journey,
  journey,
  type Line,
  linesOf,
  onEachWire,
  onlySession,
  resultOf,
} from '../support/journey.ts';
import { eventually } from '../support/processes.ts';
import { assistant, user } from '../support/spoken.ts';

const DELTAS = Array.from({ length: 20_000 }, (_, at) => `word ${at} `);
const WHOLE = DELTAS.join('');

const story = (wire: FlowWire) => journey(wire, { script: [{ text: DELTAS }, { text: 'The end.' }] });

const PARTIAL = ['-p', 'tell all', '--output-format', 'stream-json', '--include-partial-messages'];

/** The deltas of text in the order of their lines. */
const heard = (lines: readonly Line[]) =>
  lines.flatMap(({ event }) => Object((event as Line | undefined)?.['delta']).text ?? []);

onEachWire('20,000 deltas reach a slow reader, all of them and in order', async (wire) => {
  await using at = await story(wire);
  await using crab = at.start(PARTIAL);
  crab.stdin.end();
  await crab.waitFor('text_delta');
  crab.pause();
  const written = await whenStuck(crab);
  assert.ok(written < 2_000_000, `${written} bytes were written to a reader that does not read`);
  crab.resume();
  const exit = await crab.exited;
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 0, stderr: '' });
  const lines = linesOf(exit);
  assert.deepEqual(heard(lines), DELTAS);
  assert.equal(resultOf(exit)['result'], WHOLE);
  assert.deepEqual((await onlySession(at)).spoken, [user('tell all'), assistant(WHOLE)]);
});

/** Resolves with the bytes that a process has written when it writes no more. */
async function whenStuck({ pid }: CrabProcess): Promise<number> {
  let before = -1;
  let same = 0;
  await eventually('it stops writing', async () => {
    const io = await readFile(`/proc/${pid}/io`, 'utf8');
    const written = Number(/^wchar: (\d+)$/m.exec(io)?.[1]);
    same = written === before ? same + 1 : 0;
    before = written;
    return same === 5;
  });
  return before;
}

onEachWire('in text and in json it is all there as well', async (wire) => {
  await using at = await story(wire);
  const text = await at.run(['-p', 'tell all']);
  assert.equal(text.code, 0);
  assert.ok(text.stdout === `${WHOLE}\n`);
  const json = await at.run(['-p', 'tell all', '--output-format', 'json']);
  assert.equal(resultOf(json)['result'], WHOLE);
});

onEachWire('a reader that does not read does not keep SIGTERM from ending it', async (wire) => {
  await using at = await story(wire);
  await using crab = at.start(PARTIAL);
  crab.stdin.end();
  await crab.waitFor('text_delta');
  crab.pause();
  await whenStuck(crab);
  crab.kill('SIGTERM');
  await eventually('the process is gone', async () => !isAlive(crab.pid));
  crab.resume();
  assert.equal((await crab.exited).code, 143);
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Runs the program with its output piped into another, and ends with the program's own status. */
async function piped(at: Journey, into: string, args: readonly string[]) {
  const quoted = testedCommand().map((word) => `'${word}'`);
  const script = `#!/bin/bash\n${quoted.join(' ')} "$@" | ${into}\nexit \${PIPESTATUS[0]}\n`;
  await at.work.write('pipe', script);
  await chmod(at.work.file('pipe'), 0o755);
  return at.run(args, { bin: at.work.file('pipe') });
}

onEachWire('a reader that leaves after one line ends it quietly', async (wire) => {
  await using at = await story(wire);
  const exit = await piped(at, 'head -1', PARTIAL);
  assert.deepEqual({ code: exit.code, stderr: exit.stderr }, { code: 1, stderr: '' });
  const lines = linesOf(exit).map(({ type, subtype }) => ({ type, subtype }));
  assert.deepEqual(lines, [{ type: 'system', subtype: 'init' }]);
  const { spoken } = await onlySession(at);
  assert.deepEqual(spoken[0], user('tell all'));
  const again = await at.run(['-p', 'go on', '--continue']);
  assert.equal(again.code, 0, again.stderr);
});

for (const format of ['text', 'json', 'stream-json'])
  onEachWire(`a reader that was never there ends the ${format} format quietly`, async (wire) => {
    await using at = await story(wire);
    const exit = await piped(at, 'true', ['-p', 'tell all', '--output-format', format]);
    assert.deepEqual(exit, { code: 1, signal: null, stdout: '', stderr: '' });
  });
