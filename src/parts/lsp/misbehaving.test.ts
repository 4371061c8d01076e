// Servers that hang, end, flood and talk nonsense: the call says so in bounded time and memory, and nothing is left.

import assert from 'node:assert/strict';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { openProject, type Project } from '../../../test/support/lsp-project.ts';
import { eventually } from '../../../test/support/processes.ts';
import { realClock } from '../../../test/support/tool-context.ts';
import { ToolFailure } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import { textOutput } from '../../core/tool.ts';

const FIXTURE = fileURLToPath(new URL('../../../test/support/language-server.fixture.ts', import.meta.url));

const HOVER = { operation: 'hover', path: 'a.fake', line: 1, character: 1 } as const;

/** Milliseconds that a server may take to start. */
const START_MS = 45_000;

/** Every time-out passes in a twentieth of its time. */
const hastyClock: Clock = { ...realClock, sleep: (ms, signal) => realClock.sleep(ms / 20, signal) };

/** The same for all but the start of a program, which takes long where many others run. */
const fastClock: Clock = {
  ...realClock,
  sleep: (ms, signal) => realClock.sleep(ms === START_MS ? ms : ms / 20, signal),
};

function fake(kind: string, file = '', clock: Clock = realClock): Promise<Project> {
  return openProject(
    { 'a.fake': 'text\n' },
    { clock },
    { fake: { command: [process.execPath, FIXTURE, kind, file], extensions: { '.fake': 'fake' } } },
  );
}

/** Bytes that something still refers to. */
function heapInUse(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

async function failureOf(asking: Promise<unknown>): Promise<string> {
  const error: unknown = await asking.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ToolFailure, String(error));
  return error.message;
}

for (const [kind, expected] of [
  ['garbage', /what is no message: "Debugger listening on port 9229\\n"/],
  ['huge', /sent a message of 999999999 bytes; the limit is 16777216/],
  ['no-json', /sent a message that is no JSON: "\{\\"a"/],
] as const) {
  test(`a server that sends no messages (${kind}) is ended, and the call says what it sent`, async () => {
    await using project = await fake(kind);
    assert.match(await failureOf(project.ask(HOVER)), expected);
    assert.deepEqual(project.running(), []);
  });
}

test('a server that never answers is given up and ended', async () => {
  await using project = await fake('never', '', hastyClock);
  assert.match(
    await failureOf(project.ask(HOVER)),
    new RegExp(`did not answer initialize in ${START_MS} ms`),
  );
  assert.deepEqual(project.running(), []);
});

test('a question that hangs ends in time, is taken back, and after two the server is ended', async () => {
  await using project = await fake('hangs', '', fastClock);
  assert.match(await failureOf(project.ask(HOVER)), /did not answer textDocument\/hover in 30000 ms/);
  assert.equal(project.running().length, 1);
  assert.match(await failureOf(project.ask(HOVER)), /did not answer/);
  await eventually('it is ended', async () => project.running().length === 0);
});

test('an interrupted call ends at once and tells the server so', async () => {
  await using folder = await openProject({});
  const log = folder.at('log');
  await using project = await fake('hangs', log);
  const stop = new AbortController();
  const asking = project.ask(HOVER, { signal: stop.signal });
  asking.catch(() => {});
  const heard = async () => (await readFile(log, 'utf8').catch(() => '')).split('\n');
  await eventually('it was asked', async () => (await heard()).includes('textDocument/hover'));
  stop.abort(new Error('The person pressed a key.'));
  await assert.rejects(asking, /pressed a key/);
  await eventually('it was told', async () => (await heard()).includes('$/cancelRequest'));
});

test('a server that ended is started again, and the question asked once more', async () => {
  await using folder = await openProject({});
  await using project = await fake('crashes-once', folder.at('log'));
  assert.equal(await project.ask(HOVER), 'a hover');
  assert.equal(project.started(), 2);
});

test('a server that ends every time is left alone after a while, with its last words', async () => {
  await using project = await fake('crashes', '', fastClock);
  const failures = [];
  for (let tries = 0; tries < 4; tries++) failures.push(await failureOf(project.ask(HOVER)));
  assert.match(failures[0] ?? '', /is gone: it ended with status 3; its last words: panic: out of cheese/);
  assert.match(failures[3] ?? '', /ended 4 times and is not started again .*panic: out of cheese/s);
  assert.equal(project.started(), 4);
});

test('a flood is read at the pace of the reader and kept within bounds', async () => {
  await using project = await fake('floods');
  const before = heapInUse();
  assert.equal(await project.ask(HOVER), 'a hover');
  const grown = heapInUse() - before;
  assert.ok(grown < 24 * 1024 * 1024, `${grown} bytes are kept of 50 MB of messages`);
});

test('answers that make no sense are left out', async () => {
  await using project = await fake('nonsense', '', fastClock);
  assert.equal(await project.ask(HOVER), '[Nothing: hover a.fake:1:1]');
  assert.equal(await project.ask({ ...HOVER, operation: 'go_to_definition' }), '/a:1:1');
});

test('a server that is new and knows nothing yet is asked again', async () => {
  await using project = await fake('learns', '', fastClock);
  assert.equal(await project.ask(HOVER), 'a hover');
});

test('a server that wants to know of changes is told of them without being asked anything', async () => {
  await using folder = await openProject({});
  const log = folder.at('log');
  await using project = await fake('watches', log);
  await project.ask({ ...HOVER, operation: 'hover' });
  await mkdir(project.at('sub'));
  await writeFile(project.at('sub/b.fake'), 'new');
  await writeFile(project.at('sub/b.other'), 'not its own');
  await rename(project.at('sub/b.fake'), project.at('c.fake'));
  const told = { uri: `file://${project.at('c.fake')}`, type: 1 };
  await eventually('it is told', async () =>
    (await readFile(log, 'utf8')).split('\n').includes(JSON.stringify([told])),
  );
});

test('what a server publishes counts when it has settled, not the empty list before it', async () => {
  await using project = await fake('publishes');
  assert.equal(
    await project.ask({ operation: 'diagnostics', path: 'a.fake' }),
    '1:1 error: one\n1:1 error: two',
  );
});

test('a server that says nothing costs an edit a bounded wait and no more', async () => {
  await using project = await fake('hangs', '', fastClock);
  await project.ask({ ...HOVER, operation: 'go_to_definition' });
  const call = {
    id: 'edit',
    tool: 'edit',
    input: {},
    access: { kind: 'write', paths: [project.at('a.fake')] },
    identity: project.context.identity,
  } as const;
  assert.equal(await project.extension.afterCall?.(call, textOutput('Edited.'), project.context), undefined);
});
