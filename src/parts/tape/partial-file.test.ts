import assert from 'node:assert/strict';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '../../core/host.ts';
import { seeded } from '../../core/seeded.ts';
import type { NewTape, PartialMessage } from '../../core/tape.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { nodeSyncFs } from './sync-fs.ts';
import { answerSays, diskWith, systemError, tempFolder, testClock, userSays } from './tape.fixture.ts';
import { createTapes } from './tapes.ts';

const request: NewTape = { agent: 'crab', sender: () => 'user', cwd: '/w' };
const usage = { ...NO_USAGE, input: 7, totalTokens: 7 };
const DEAD = { pid: 2 ** 30, start: '1', host: 'here' };

function partial(text: string): PartialMessage {
  return { api: 'test-wire', provider: 'test', model: 'model-1', text, usage };
}

interface Opening {
  readonly clock?: Clock;
  readonly changes?: Parameters<typeof diskWith>[0];
  readonly seed?: number;
}

/** As a process that is dead by the time that the next one looks at its lock. */
function tapesIn(home: string, { clock = testClock(), changes = {}, seed = 1 }: Opening = {}) {
  return createTapes({ home, clock, random: seeded(seed), disk: diskWith(changes), self: DEAD });
}

function reopenedIn(home: string) {
  return createTapes({ home, clock: testClock(), random: seeded(2), self: { ...DEAD, pid: process.pid } });
}

test('text is written after 250 ms or 16 KB, and otherwise costs no write', async () => {
  await using folder = await tempFolder();
  const clock = testClock();
  let writes = 0;
  const changes = {
    write: (fd: number, bytes: Uint8Array) => {
      writes++;
      return nodeSyncFs.write(fd, bytes);
    },
  };
  const tape = await tapesIn(folder.path, { clock, changes }).create(request);
  tape.append([userSays('prompt')]);
  writes = 0;
  tape.partial(partial('a'));
  clock.advance(249);
  tape.partial(partial('ab'));
  assert.equal(writes, 0);
  clock.advance(1);
  tape.partial(partial('abc'));
  tape.partial(partial('abcd'));
  assert.equal(writes, 1);
  tape.partial(partial(`abc${'x'.repeat(16 * 1024)}`));
  assert.equal(writes, 2);
  const length = readFileSync(`${tape.path}.partial`).length;
  assert.ok(length < 17 * 1024, `only what is new is written, but there are ${length} bytes`);
  await tape.close();
});

test('the last text before a stall is written too', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create(request);
  tape.append([userSays('prompt')]);
  tape.partial(partial('and then silence'));
  for (let tries = 0; !existsSync(`${tape.path}.partial`) && tries < 500; tries++) await wait(10);
  assert.match(readFileSync(`${tape.path}.partial`, 'utf8'), /and then silence/);
  await tape.close();
});

test('what a dead process left becomes an interrupted answer, once', async () => {
  await using folder = await tempFolder();
  const clock = testClock();
  const tape = await tapesIn(folder.path, { clock }).create(request);
  tape.append([userSays('prompt')]);
  for (const text of ['Once', 'Once upon', 'Once upon a time']) {
    tape.partial(partial(text));
    clock.advance(300);
  }
  tape.partial(partial('Once upon a time'));
  appendFileSync(`${tape.path}.partial`, '{"type":"partial","after":null,"api":"te');

  const again = await reopenedIn(folder.path).open(tape.path ?? '');
  const [prompt, answer] = [...again.branch()];
  assert.deepEqual(answer, {
    type: 'message',
    id: answer?.id,
    parentId: prompt?.id,
    timestamp: '2030-01-01T00:00:00.000Z',
    message: {
      role: 'assistant',
      content: [{ type: 'text', text: 'Once upon a time' }],
      api: 'test-wire',
      provider: 'test',
      model: 'model-1',
      usage,
      stopReason: 'aborted',
      errorMessage: 'Crab ended while this answer was arriving.',
      timestamp: Date.UTC(2030, 0, 1),
    },
  });
  assert.deepEqual(again.notices, ['The last answer was interrupted; the text that had arrived is kept.']);
  assert.equal(existsSync(`${tape.path}.partial`), false);
  await again.close();
  const third = await reopenedIn(folder.path).open(tape.path ?? '');
  assert.deepEqual([[...third.branch()], third.notices], [[...again.branch()], []]);
  await third.close();
});

test('an answer that reached the tape takes its partial text away', async () => {
  await using folder = await tempFolder();
  const clock = testClock();
  const tape = await tapesIn(folder.path, { clock }).create(request);
  tape.append([userSays('prompt')]);
  for (const text of ['first', 'second']) {
    tape.partial(partial(text));
    clock.advance(300);
    tape.partial(partial(text));
    assert.match(readFileSync(`${tape.path}.partial`, 'utf8'), new RegExp(`"text":"${text}"`));
    tape.append([{ type: 'session_info', name: 'renamed in between' }]);
    assert.equal(existsSync(`${tape.path}.partial`), true);
    tape.append([answerSays(text)]);
    assert.equal(existsSync(`${tape.path}.partial`), false);
  }
  await tape.close();
  assert.equal(existsSync(`${tape.path}.partial`), false);
});

test('a left-over of an answer that is on the tape is not told twice', async () => {
  await using folder = await tempFolder();
  const clock = testClock();
  const changes = {
    unlink: (path: string) => {
      if (path.endsWith('.partial')) throw systemError('EIO');
      nodeSyncFs.unlink(path);
    },
  };
  const tape = await tapesIn(folder.path, { clock, changes }).create(request);
  tape.append([userSays('prompt')]);
  tape.partial(partial('answ'));
  clock.advance(300);
  tape.partial(partial('answ'));
  tape.append([answerSays('answer')]);
  await tape.close();
  assert.equal(existsSync(`${tape.path}.partial`), true);
  const again = await reopenedIn(folder.path).open(tape.path ?? '');
  assert.deepEqual([[...again.branch()], again.notices], [[...tape.branch()], []]);
  assert.equal(existsSync(`${tape.path}.partial`), false);
  await again.close();
});

test('a text that starts again replaces the one before', async () => {
  await using folder = await tempFolder();
  const clock = testClock();
  const tape = await tapesIn(folder.path, { clock }).create(request);
  tape.append([userSays('prompt')]);
  for (const text of ['a first try', 'another', 'another one']) {
    tape.partial(partial(text));
    clock.advance(300);
    tape.partial(partial(text));
  }
  await tape.close();
  const again = await reopenedIn(folder.path).open(tape.path ?? '');
  const last = [...again.branch()].at(-1);
  assert.deepEqual(last?.type === 'message' && last.message.content, [{ type: 'text', text: 'another one' }]);
  await again.close();
});

test('text that cannot be written is given up without a word, and the next message tries again', async () => {
  await using folder = await tempFolder();
  const clock = testClock();
  let fails = true;
  const changes = {
    open: (path: string, flags: 'a' | 'ax', mode: number) => {
      if (fails && path.endsWith('.partial')) throw systemError('ENOSPC');
      return nodeSyncFs.open(path, flags, mode);
    },
  };
  const tape = await tapesIn(folder.path, { clock, changes }).create(request);
  tape.append([userSays('prompt')]);
  const say = () => {
    tape.partial(partial('text'));
    clock.advance(300);
    tape.partial(partial('text'));
  };
  say();
  fails = false;
  say();
  assert.equal(existsSync(`${tape.path}.partial`), false);
  tape.append([answerSays('text')]);
  say();
  assert.equal(existsSync(`${tape.path}.partial`), true);
  await tape.close();
});

test('a left-over that is no partial text is removed', async () => {
  await using folder = await tempFolder();
  const tape = await tapesIn(folder.path).create(request);
  tape.append([userSays('prompt')]);
  await tape.close();
  for (const content of [
    '',
    'text\n',
    '{"type":"partial","after":null,"text":7}\n',
    '{"type":"partial"}\n',
  ]) {
    appendFileSync(`${tape.path}.partial`, content);
    const again = await reopenedIn(folder.path).open(tape.path ?? '');
    assert.deepEqual([[...again.branch()], again.notices], [[...tape.branch()], []]);
    assert.equal(existsSync(`${tape.path}.partial`), false);
    await again.close();
  }
});
