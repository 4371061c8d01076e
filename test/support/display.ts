// An X server of one's own (Xvfb), on a display that nobody else uses, and a terminal on it whose input goes to a file.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { eventually } from './processes.ts';

export interface TestDisplay extends AsyncDisposable {
  /** What a program needs to find it; nothing in it says Wayland. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A terminal over the whole display, titled `notes`; what is typed into it and sent with Return goes to `file`. */
  openTerminal(file: string): Promise<void>;
}

export async function openDisplay(width: number, height: number): Promise<TestDisplay> {
  // Otherwise everything begins anew whenever the last program on it has ended.
  const server = spawn(
    'Xvfb',
    ['-displayfd', '3', '-screen', '0', `${width}x${height}x24`, '-nolisten', 'tcp', '-noreset'],
    {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    },
  );
  const children: ChildProcess[] = [server];
  const number = await firstLine(server);
  const env = { ...process.env, DISPLAY: `:${number}`, WAYLAND_DISPLAY: undefined, LC_ALL: 'C.UTF-8' };
  return {
    env,
    async openTerminal(file) {
      const place = ['-geometry', '200x100+0+0', '-title', 'notes'];
      const script = `echo ready > '${file}'; exec cat >> '${file}'`;
      children.push(spawn('xterm', [...place, '-e', 'sh', '-c', script], { env, stdio: 'ignore' }));
      const isReady = async () => (await readFile(file, 'utf8').catch(() => '')) === 'ready\n';
      await eventually('the terminal is there', isReady);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(children.reverse().map(ended));
    },
  };
}

async function firstLine({ stdio }: ChildProcess): Promise<string> {
  const stream = stdio[3];
  if (stream === null || stream === undefined || !('read' in stream)) throw new Error('Xvfb has no pipe');
  let text = '';
  for await (const bytes of stream) {
    text += String(bytes);
    if (text.includes('\n')) return text.trim();
  }
  throw new Error('Xvfb did not start');
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
