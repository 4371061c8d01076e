import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { realClock } from '../../../test/support/tool-context.ts';
import type { JobWork } from '../../core/job.ts';
import { createJobs, type JobsOptions } from './jobs.ts';

const never = new AbortController().signal;

async function place(options: Partial<JobsOptions> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'crab-jobs-'));
  const jobs = createJobs({ clock: realClock, folder: async () => folder, ...options });
  return {
    folder,
    jobs,
    async [Symbol.asyncDispose]() {
      await jobs.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const work = (run: JobWork['run']): JobWork => ({ kind: 'command', title: 'talk', run });

const untilStopped = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

/** Says what it says, and is over. */
const says = (...texts: readonly string[]) =>
  work(async (output) => {
    for (const text of texts) await output(text);
    return { exitCode: 0 };
  });

test('a job is read from where the last reading ended, waited for, and stopped', async () => {
  await using here = await place();
  const { jobs, folder } = here;
  const { promise: more, resolve: goOn } = Promise.withResolvers<void>();
  const talk = work(async (output, signal) => {
    await output('one ü\n');
    await more;
    await output('two\nand mo');
    await untilStopped(signal);
    return { exitCode: null, signal: 'SIGTERM' };
  });
  const job = await jobs.start(talk);
  await jobs.wait(job.id, 0, 60_000, never);
  assert.deepEqual(await jobs.read(job.id, 0, 5), { text: 'one ', next: 4, more: true });
  assert.deepEqual(await jobs.read(job.id, 4, 100), { text: 'ü\n', next: 7, more: false });
  const waited = jobs.wait(job.id, 7, 60_000, never);
  goOn();
  await waited;
  assert.deepEqual(await jobs.read(job.id, 7, 100), {
    text: 'two\n',
    next: 11,
    more: false,
    pending: 'and mo',
  });
  const { startedAt, endedAt, ...rest } = await jobs.stop(job.id);
  assert.ok((endedAt ?? 0) >= startedAt);
  const outputPath = join(folder, 'job-c1.txt');
  const told = { id: 'c1', kind: 'command', title: 'talk', state: 'stopped' } as const;
  assert.deepEqual(rest, { ...told, exitCode: null, signal: 'SIGTERM', bytes: 17, kept: 17, outputPath });
  assert.equal(await readFile(outputPath, 'utf8'), 'one ü\ntwo\nand mo');
  assert.throws(() => jobs.get('c2'), { message: 'There is no job c2: there are c1.' });
});

test('the end of a job is news once, and none where somebody has seen it', async () => {
  await using here = await place();
  const { jobs } = here;
  const one = await jobs.start(says('1'));
  const two = await jobs.start(work(() => Promise.reject(new Error('no luck'))));
  const three = await jobs.start(says('3'));
  for (const { id } of [one, two, three]) await jobs.wait(id, Number.POSITIVE_INFINITY, 60_000, never);
  jobs.seen(three.id);
  const news = jobs.ended().map(({ id, state }) => [id, state]);
  assert.deepEqual(news, [
    ['c1', 'done'],
    ['c2', 'failed'],
  ]);
  assert.deepEqual(jobs.ended(), []);
  assert.equal((await jobs.read('c2', 0, 100)).text, '\n[no luck]\n');
});

test('whoever waits for the end is not woken by output', async () => {
  await using here = await place();
  const { promise: more, resolve: goOn } = Promise.withResolvers<void>();
  const job = await here.jobs.start(
    work(async (output) => {
      await output('some\n');
      await more;
      return { exitCode: 0 };
    }),
  );
  let isOver = false;
  const waited = here.jobs.wait(job.id, Number.POSITIVE_INFINITY, 60_000, never).then(() => {
    isOver = true;
  });
  await here.jobs.wait(job.id, 0, 60_000, never);
  assert.equal(isOver, false);
  goOn();
  await waited;
  assert.equal(here.jobs.get(job.id).state, 'done');
});

test('output is plain text without secrets, whatever the pieces, and what is too much is counted and dropped', async () => {
  const filter = () => ({
    push: (text: string) => text.replaceAll('key', '***'),
    end: () => '',
    changed: false,
  });
  await using here = await place({ filter, fileLimit: 20 });
  const job = await here.jobs.start(says('\x1b[3', '1mkey\x1b[0m 1%\r 2%\r', 'done\n', 'x'.repeat(30), '\n'));
  await here.jobs.wait(job.id, Number.POSITIVE_INFINITY, 60_000, never);
  const { text, next, more } = await here.jobs.read(job.id, 0, 1000);
  assert.deepEqual({ text, next, more }, { text: `done\n${'x'.repeat(15)}`, next: 20, more: false });
  const { bytes, kept } = here.jobs.get(job.id);
  assert.deepEqual({ bytes, kept }, { bytes: 36, kept: 20 });
});

test('input goes to the work that takes it, while it runs', async () => {
  await using here = await place();
  const { promise: typed, resolve: type } = Promise.withResolvers<string>();
  const reader: JobWork = {
    kind: 'command',
    title: 'cat',
    run: async (output) => {
      await output(await typed);
      return { exitCode: 0 };
    },
    input: async (text) => type(text),
  };
  const cat = await here.jobs.start(reader);
  await here.jobs.write(cat.id, 'hello');
  await here.jobs.wait(cat.id, Number.POSITIVE_INFINITY, 60_000, never);
  assert.equal((await here.jobs.read(cat.id, 0, 100)).text, 'hello');
  await assert.rejects(here.jobs.write(cat.id, 'more'), { message: 'The job c1 is over.' });
  const deaf = await here.jobs.start(work((_output, signal) => untilStopped(signal).then(() => ({}))));
  await assert.rejects(here.jobs.write(deaf.id, 'x'), { message: 'The job c2 reads no input.' });
});

test('there is an end to how many run at once, and files of an earlier process are left alone', async () => {
  await using here = await place();
  await writeFile(join(here.folder, 'job-c1.txt'), 'old');
  const idle = work((_output, signal) => untilStopped(signal).then(() => ({})));
  for (let count = 2; count <= 17; count++) assert.equal((await here.jobs.start(idle)).id, `c${count}`);
  await assert.rejects(here.jobs.start(idle), /^ToolFailure: 16 jobs are running already \(c2, .*c17\)/);
  await here.jobs.stop('c9');
  assert.equal((await here.jobs.start(idle)).id, 'c18');
  assert.equal(await readFile(join(here.folder, 'job-c1.txt'), 'utf8'), 'old');
});
