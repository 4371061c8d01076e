// A program swaps a file, and a folder, for a link to a secret outside the workspace, over and over, while calls are judged
// and run. No call may read or change what lies outside. The same calls without the binding of their files to what was
// judged must be caught, else the count of escapes means nothing.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { JudgedPath } from '../../src/core/permission.ts';
import type { JsonObject } from '../../src/core/schema.ts';
import type { Tool } from '../../src/core/tool.ts';
import { createFileTools } from '../../src/parts/files/file-tools.ts';
import { createLocalFiles } from '../../src/parts/files/local-files.ts';
import { createGate } from '../../src/parts/permissions/gate.ts';
import { createTestFolder, type TestFolder } from '../support/tool-folder.ts';

const TRIES = Number(process.env['CRAB_CAMPAIGN'] ?? 1000);

const SECRET = 'the secret outside';

/** Swaps for as long as it lives; what it has not swapped yet is a plain file and a plain folder. */
const SWAPPER = `
  const { renameSync, symlinkSync } = require('node:fs');
  const [, work, outside] = process.argv;
  symlinkSync(outside + '/file', work + '/file.link');
  symlinkSync(outside, work + '/folder.link');
  // Each state lasts for up to a third of a millisecond: about as long as a verdict takes.
  const dwell = () => {
    for (const end = performance.now() + Math.random() / 3; performance.now() < end; );
  };
  console.log('ready');
  for (;;)
    for (const name of ['file', 'folder']) {
      renameSync(work + '/' + name, work + '/' + name + '.real');
      renameSync(work + '/' + name + '.link', work + '/' + name);
      dwell();
      renameSync(work + '/' + name, work + '/' + name + '.link');
      renameSync(work + '/' + name + '.real', work + '/' + name);
      dwell();
    }`;

async function startSwapper(work: string, outside: string): Promise<AsyncDisposable> {
  const child = spawn(process.execPath, ['-e', SWAPPER, work, outside], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const CALLS: readonly (readonly [tool: string, input: JsonObject])[] = [
  ['read', { path: 'file' }],
  ['read', { path: 'folder/file' }],
  ['edit', { path: 'file', old_string: 'inside', new_string: 'inside!' }],
  ['edit', { path: 'folder/file', old_string: SECRET, new_string: 'changed' }],
  ['write', { path: 'folder/new', content: 'new' }],
  ['write', { path: 'folder/deep/new', content: 'new' }],
  ['grep', { path: 'folder', pattern: 'secret' }],
  ['grep', { path: 'file', pattern: 'secret' }],
  ['ls', { path: 'folder' }],
];

interface Tally {
  readonly escapes: readonly string[];
  /** Calls that were allowed and ended well. */
  readonly done: number;
}

/** Ends early when there were `enough` escapes. */
async function campaign(
  { tries, enough = Number.POSITIVE_INFINITY }: { readonly tries: number; readonly enough?: number },
  bind: (paths: readonly JudgedPath[]) => TestFolder['context']['files'],
): Promise<Tally> {
  await using folder = await createTestFolder();
  const [work, outside] = [folder.at('work'), folder.at('outside')];
  await Promise.all([work, outside].map((path) => mkdir(path)));
  await mkdir(`${work}/folder`);
  const restore = async () => {
    await rm(outside, { recursive: true });
    await mkdir(outside);
    await writeFile(`${outside}/file`, SECRET);
    await writeFile(`${outside}/only-outside`, '');
  };
  await restore();
  await writeFile(`${work}/file`, 'inside');
  await writeFile(`${work}/folder/file`, 'inside');
  const tools = createFileTools({ ripgrep: null });
  const resolve = createLocalFiles().resolve;
  const gate = createGate({ cwd: work, directories: [], rules: [], resolve });
  await using _swapper = await startSwapper(work, outside);
  const escapes: string[] = [];
  let done = 0;
  for (let at = 0; at < tries && escapes.length < enough; at++) {
    const [name, input] = CALLS[at % CALLS.length] ?? assert.fail();
    const tool = tools.find((each) => each.name === name) ?? assert.fail();
    const { access } = await tool.plan(input, work);
    const verdict = await gate.check({ tool: name, input, access, mode: 'acceptEdits' });
    if (verdict.decision !== 'allow') continue;
    // Where programs have to wait for one another, nothing comes between what is done at once.
    if (at % 2 === 1) await sleep(Math.random() * 2);
    const files = bind(verdict.paths ?? []);
    const identity = { ...folder.context.identity, cwd: work };
    const said = await outcome(tool, input, { ...folder.context, identity, files });
    if (said !== undefined) done++;
    if (/secret outside|only-outside/.test(said ?? '')) escapes.push(`${name} ${input['path']}: ${said}`);
    const left = await readdir(outside);
    const isWhole = left.length === 2 && (await readFile(`${outside}/file`, 'utf8')) === SECRET;
    if (isWhole) continue;
    escapes.push(`${name} ${input['path']} changed what lies outside: ${left}`);
    await restore();
  }
  return { escapes, done };
}

/** Undefined for a call that failed. */
async function outcome(tool: Tool, input: JsonObject, context: TestFolder['context']) {
  try {
    return JSON.stringify((await tool.run(input, context)).content);
  } catch {
    return undefined;
  }
}

const files = createLocalFiles();

test('no swap of a link between the verdict and the use leads out of the workspace', async (t) => {
  const { escapes, done } = await campaign(
    { tries: TRIES },
    (paths) => files.bound?.(paths) ?? assert.fail(),
  );
  t.diagnostic(`${TRIES} tries, ${done} calls ended well, ${escapes.length} escapes`);
  assert.deepEqual(escapes, []);
  assert.ok(done > TRIES / 100, `only ${done} calls ended well`);
});

test('files that follow whatever link is there are caught', async (t) => {
  // How often a swap comes between depends on what else the machine does: it goes on until it has.
  const { escapes } = await campaign({ tries: 30 * Math.max(TRIES, 500), enough: 3 }, () => files);
  t.diagnostic(`${escapes.length} escapes`);
  assert.ok(escapes.length >= 3, `only ${escapes.length} escapes were seen`);
});
