// A page in a real Chromium, driven over the DevTools protocol.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { DevTools, objectIn } from '../../src/parts/browser/dev-tools.ts';
import { realClock } from './tool-context.ts';

const PROGRAM = ['chromium', 'chromium-browser', 'google-chrome'].find(
  (name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0,
);

/** The `skip` of a test that needs one. */
export const NO_BROWSER: string | false =
  PROGRAM === undefined && 'there is no Chromium; npm run setup:system installs one';

export interface Page extends AsyncDisposable {
  /** Resolves when what is there has loaded. */
  go(url: string): Promise<void>;
  /** The value of an expression; what it throws is thrown here. */
  evaluate(expression: string): Promise<unknown>;
  /** Until the expression holds; fails after a bound with what `otherwise` shows. */
  until(expression: string, otherwise: string): Promise<void>;
  /** What was asked with `confirm`, which is answered with yes. */
  readonly asked: readonly string[];
}

const BOUND_MS = 60_000;

export async function openPage(): Promise<Page> {
  const folder = await mkdtemp(join(tmpdir(), 'crab-page-'));
  const flags = ['--headless=new', '--remote-debugging-pipe', '--no-first-run', '--disable-gpu'];
  const profile = [`--user-data-dir=${folder}`, '--disable-dev-shm-usage', '--disable-background-networking'];
  const rights = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(PROGRAM ?? '', [...flags, ...profile, ...rights, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const exited = once(child, 'exit');
  const [input, output] = [child.stdio[3] as Writable, child.stdio[4] as Readable];
  input.on('error', () => {});
  const write = (text: string) =>
    new Promise<void>((resolve, reject) => input.write(text, (error) => (error ? reject(error) : resolve())));
  const tools = new DevTools({ write: (data) => write(String(data)), output }, realClock);
  const asked: string[] = [];
  const { targetId } = await tools.send('Target.createTarget', { url: 'about:blank' });
  const { sessionId } = await tools.send('Target.attachToTarget', { targetId, flatten: true });
  const session = String(sessionId);
  tools.listen(({ method, params }) => {
    if (method !== 'Page.javascriptDialogOpening') return;
    asked.push(String(params['message']));
    void tools.send('Page.handleJavaScriptDialog', { accept: true }, session);
  });
  await tools.send('Page.enable', {}, session);
  const evaluate = async (expression: string) => {
    const options = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await tools.send('Runtime.evaluate', options, session);
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return objectIn(result)['value'];
  };
  const until = async (expression: string, otherwise: string) => {
    const ends = performance.now() + BOUND_MS;
    while ((await evaluate(expression)) !== true) {
      if (performance.now() > ends) throw new Error(`${expression} never held: ${await evaluate(otherwise)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  return {
    asked,
    evaluate,
    until,
    async go(url) {
      await tools.send('Page.navigate', { url }, session);
      const isThere = `location.href === ${JSON.stringify(url)} && document.readyState === 'complete'`;
      await until(isThere, '`${location.href} is ${document.readyState}`');
    },
    async [Symbol.asyncDispose]() {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
