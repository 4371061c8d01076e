// The runner itself: each way in which a test file can be green without having tested anything must be red.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { FileResult, TestTimes } from '../../scripts/test-file.ts';

const RUNNER = new URL('../../scripts/test-file.ts', import.meta.url).href;
const QUEUE = new URL('../../scripts/test-queue.ts', import.meta.url).href;
const TIMES: TestTimes = { test: 30_000, file: 120_000 };

/** In a process of its own and without the mark that `node:test` leaves, or it would refuse to run inside a test. */
async function resultOf(source: string, times = TIMES): Promise<FileResult> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-runner-'));
  const file = join(folder.path, 'planted.test.mjs');
  await writeFile(file, `import { before, describe, test } from 'node:test';\n${source}\n`);
  const call = `runTestFile(${JSON.stringify(file)}, ${JSON.stringify(times)})`;
  const program = join(folder.path, 'run.mjs');
  await writeFile(
    program,
    `import { runTestFile } from '${RUNNER}';\nconsole.log(JSON.stringify(await ${call}));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  return JSON.parse(stdout);
}

/** What is told of a file of which each of `tries` fails, or not, when it is run. */
async function toldOf(tries: readonly ('fails' | 'passes')[], secondTry: boolean) {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'crab-runner-'));
  const file = join(folder.path, 'planted.test.mjs');
  await writeFile(
    file,
    `import { readFileSync, writeFileSync } from 'node:fs';
    import { test } from 'node:test';
    const tries = JSON.parse(readFileSync('${folder.path}/tries', 'utf8'));
    writeFileSync('${folder.path}/tries', JSON.stringify(tries.slice(1)));
    test('a', () => { if (tries[0] === 'fails') throw new Error('unlucky'); });`,
  );
  await writeFile(join(folder.path, 'tries'), JSON.stringify(tries));
  const program = join(folder.path, 'run.mjs');
  await writeFile(
    program,
    `import { runTestFiles } from '${QUEUE}';
    const told = [];
    const onResult = ({ failures }, { first }) => told.push([failures.length, first?.failures.length ?? null]);
    const options = { times: ${JSON.stringify(TIMES)}, sideBySide: 2, secondTry: ${secondTry}, onResult };
    await runTestFiles(['${file}'], options);
    console.log(JSON.stringify(told));`,
  );
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  return JSON.parse(stdout);
}

test('what failed beside others is tried once more and told with both tries', async () => {
  assert.deepEqual(await toldOf(['fails', 'passes'], true), [[0, 1]]);
  assert.deepEqual(await toldOf(['fails', 'fails', 'passes'], true), [[1, 1]]);
  assert.deepEqual(await toldOf(['passes', 'fails'], true), [[0, null]]);
});

test('what a campaign found is not tried again', async () => {
  assert.deepEqual(await toldOf(['fails', 'passes'], false), [[1, null]]);
});

test('tests that pass are counted one by one, without their suites and their file', async () => {
  const { passed, skipped, failures } = await resultOf(`
    test('one', () => {});
    describe('suite', () => { test('two', () => {}); });
    test('three', async (t) => { await t.test('four', () => {}); });
  `);
  assert.deepEqual({ passed, skipped, failures }, { passed: 4, skipped: [], failures: [] });
});

test('skipped tests and tests put off are named', async () => {
  const { passed, skipped, failures } = await resultOf(`
    test('left out', { skip: 'no tmux' }, () => {});
    test('later', { todo: true }, () => {});
  `);
  assert.deepEqual(
    { passed, skipped, failures },
    { passed: 0, skipped: ['left out', 'later'], failures: [] },
  );
});

test('a failure is reported once, with its place and its reason', async () => {
  const { passed, failures } = await resultOf(`
    describe('sums', () => { test('add up', () => { throw new Error('1 and 1 are 3'); }); });
    test('fine', () => {});
  `);
  assert.equal(passed, 1);
  assert.equal(failures.length, 1);
  assert.match(failures[0] ?? '', /^sums > add up \(line \d+\)\nError: 1 and 1 are 3/);
});

for (const [fault, source, expected] of [
  ['has no tests', '', /has no tests/],
  [
    'exits with 0 before its tests are done',
    "test('a', () => { process.exit(0); }); test('b', () => {});",
    /ended before/,
  ],
  ['exits with 3', "test('a', () => { process.exit(3); });", /test failed/],
  ['throws while it loads', "test('a', () => {}); throw new Error('boom');", /test failed/],
  [
    'fails after the test has ended',
    "test('a', () => { setTimeout(() => { throw new Error('late'); }, 1); });" +
      " test('b', () => new Promise((done) => setTimeout(done, 100)));",
    /asynchronous activity after the test ended/,
  ],
  [
    'fails in a hook',
    "describe('s', () => { before(() => { throw new Error('hook'); }); test('a', () => {}); });",
    /hook/,
  ],
] as const) {
  test(`a file that ${fault} fails`, async () => {
    const { failures } = await resultOf(source);
    assert.match(failures.join('\n'), expected);
  });
}

test('a file that has a test that takes too long fails', async () => {
  const source = "test('a', () => new Promise((done) => setTimeout(done, 1_500)));";
  const { failures } = await resultOf(source, { ...TIMES, test: 500 });
  assert.match(failures.join('\n'), /timed out/);
});

test('a file whose process never ends fails', async () => {
  const { failures } = await resultOf("test('a', () => {}); setInterval(() => {}, 1000);", {
    test: 1_000,
    file: 2_000,
  });
  assert.match(failures.join('\n'), /aborted/);
});
