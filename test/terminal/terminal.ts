// A real terminal: tmux with a private server, a shell in it, and Crab started from that shell as a person would. What
// stands on the screen is read back as the terminal understood it, so that every escape sequence counts.

import { execFile } from 'node:child_process';
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Reply, Scenario } from '../../src/dev/scenario.ts';
import { type FakeProviderFixture, fakeProvider } from '../support/fake-provider.ts';
import { tempWorkspace, type Workspace } from '../support/workspace.ts';

const BUILT = process.env['CRAB_BIN'] ?? fileURLToPath(new URL('../../dist/crab.cjs', import.meta.url));
const BOUND_MS = 60_000;

export interface TerminalOptions {
  readonly replies?: Scenario | readonly Reply[];
  readonly files?: Readonly<Record<string, string>>;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Another window on the same workspace, home and provider; they stay that one's. */
  readonly beside?: Terminal;
}

export interface Terminal extends AsyncDisposable {
  readonly workspace: Workspace;
  readonly provider: FakeProviderFixture;
  /** Types a line of the shell and Enter. */
  shell(line: string): Promise<void>;
  /** Types the text as it is. */
  type(text: string): Promise<void>;
  /** Types the text and Enter. */
  send(text: string): Promise<void>;
  /** Names are those of tmux: `C-c`, `Enter`, `BSpace`. */
  key(...names: readonly string[]): Promise<void>;
  /** As the terminal pastes: between the marks of bracketed paste, where the program asked for them. */
  paste(text: string): Promise<void>;
  /** All rows so far, those that were scrolled away included; wrapped rows joined, blanks at ends cut. */
  screen(): Promise<string>;
  /** Resolves with the screen that matches. Rejects with the screen that never did. */
  waitFor(pattern: string | RegExp): Promise<string>;
  /** A value that tmux knows of the pane, such as `pane_title`. */
  fact(name: string): Promise<string>;
  resize(columns: number, rows: number): Promise<void>;
}

let servers = 0;

export async function terminal(options: TerminalOptions = {}): Promise<Terminal> {
  const { replies = [{ text: 'Here I am.' }], files = {}, columns = 80, rows = 24, env = {} } = options;
  const { beside } = options;
  const workspace = beside?.workspace ?? (await tempWorkspace(files, { git: false }));
  const provider = beside?.provider ?? (await fakeProvider(replies));
  const socket = `crab-${process.pid}-${servers++}`;
  const bin = join(workspace.home, 'bin');
  await writeFile(bin, `#!/bin/sh\nexec '${process.execPath}' '${BUILT}' "$@"\n`);
  await chmod(bin, 0o755);

  const tmux = async (...args: readonly string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)('tmux', ['-L', socket, '-f', '/dev/null', ...args]);
    return stdout;
  };
  const variables = Object.entries({
    PATH: process.env['PATH'] ?? '',
    HOME: workspace.home,
    CRAB_HOME: join(workspace.home, '.crab'),
    CRAB_MAX_RETRIES: '0',
    LANG: 'C.UTF-8',
    TERM: 'screen-256color',
    PS1: '$ ',
    crab: bin,
    ...provider.env('anthropic'),
    ...env,
  }).map(([name, value]) => `${name}=${value}`);
  const size = ['-x', String(columns), '-y', String(rows)];
  await tmux('new-session', '-d', ...size, '-c', workspace.path, 'env', '-i', ...variables, 'sh', '-i');

  const screen = async () => {
    const text = await tmux('capture-pane', '-p', '-J', '-S', '-');
    return text.replaceAll(/[ ]+$/gm, '').trimEnd();
  };
  const key = async (...names: readonly string[]) => void (await tmux('send-keys', ...names));
  const type = async (text: string) => void (await tmux('send-keys', '-l', '--', text));
  const send = async (text: string) => {
    await type(text);
    await key('Enter');
  };
  const waitFor = async (pattern: string | RegExp): Promise<string> => {
    const ends = performance.now() + BOUND_MS;
    for (;;) {
      const text = await screen();
      if (typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text)) return text;
      if (performance.now() > ends) throw new Error(`${pattern} was never seen on:\n${text}`);
      await pause(20);
    }
  };
  await waitFor(/^\$/);
  return {
    workspace,
    provider,
    screen,
    key,
    type,
    send,
    waitFor,
    shell: send,
    async paste(text) {
      await tmux('set-buffer', '--', text);
      await tmux('paste-buffer', '-p', '-d');
    },
    fact: async (name) => (await tmux('display-message', '-p', `#{${name}}`)).trimEnd(),
    resize: async (x, y) => void (await tmux('resize-window', '-x', String(x), '-y', String(y))),
    async [Symbol.asyncDispose]() {
      await tmux('kill-server').catch(() => {});
      if (beside !== undefined) return;
      await provider[Symbol.asyncDispose]();
      await workspace[Symbol.asyncDispose]();
    },
  };
}
