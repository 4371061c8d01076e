// A program swaps a file, and a folder, for a link to a secret outside the workspace, over and over, while calls are judged
// and run. No call may read or change what lies outside. The same calls without the binding of their files to what was
// judged must be caught, else the count of escapes means nothing: there the swap is made between verdict and use, since a
// race may be won by either.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
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

/** Puts a link in the place of what was judged, and takes it away again. */
interface Links extends AsyncDisposable {
  between(): Promise<void>;
  afterwards(): Promise<void>;
}

/** At any time, as another process pleases. */
async function swapFreely(work: string, outside: string): Promise<Links> {
  const child = spawn(process.execPath, ['-e', SWAPPER, work, outside], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const exited = once(child, 'exit');
  await once(child.stdout, 'data');
  let calls = 0;
  return {
    // Where programs have to wait for one another, nothing comes between what is done at once.
    between: async () => void (calls++ % 2 === 1 && (await sleep(Math.random() * 2))),
    afterwards: async () => {},
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** Behind each verdict. */
async function swapBetween(work: string, outside: string): Promise<Links> {
  return {
    async between() {
      for (const name of ['file', 'folder']) await rename(`${work}/${name}`, `${work}/${name}.real`);
      await symlink(`${outside}/file`, `${work}/file`);
      await symlink(outside, `${work}/folder`);
    },
    async afterwards() {
      for (const name of ['file', 'folder']) {
        await rm(`${work}/${name}`);
        await rename(`${work}/${name}.real`, `${work}/${name}`);
      }
    },
    async [Symbol.asyncDispose]() {},
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

async function campaign(
  tries: number,
  swap: (work: string, outside: string) => Promise<Links>,
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
  await using links = await swap(work, outside);
  const escapes: string[] = [];
  let done = 0;
  for (let at = 0; at < tries; at++) {
    const [name, input] = CALLS[at % CALLS.length] ?? assert.fail();
    const tool = tools.find((each) => each.name === name) ?? assert.fail();
    const { access } = await tool.plan(input, work);
    const verdict = await gate.check({ tool: name, input, access, mode: 'acceptEdits' });
    if (verdict.decision !== 'allow') continue;
    await links.between();
    const files = bind(verdict.paths ?? []);
    const identity = { ...folder.context.identity, cwd: work };
    const said = await outcome(tool, input, { ...folder.context, identity, files });
    await links.afterwards();
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

const bound = (paths: readonly JudgedPath[]) => files.bound?.(paths) ?? assert.fail();

test('no swap of a link between the verdict and the use leads out of the workspace', async (t) => {
  const { escapes, done } = await campaign(TRIES, swapFreely, bound);
  t.diagnostic(`${TRIES} tries, ${done} calls ended well, ${escapes.length} escapes`);
  assert.deepEqual(escapes, []);
  assert.ok(done > TRIES / 100, `only ${done} calls ended well`);
  assert.deepEqual((await campaign(CALLS.length, swapBetween, bound)).escapes, []);
});

test('files that follow whatever link is there are caught', async () => {
  const { escapes } = await campaign(CALLS.length, swapBetween, () => files);
  // The edit of what only the file inside says finds nothing to change in the other.
  assert.equal(escapes.length, CALLS.length - 1, escapes.join('\n'));
});
