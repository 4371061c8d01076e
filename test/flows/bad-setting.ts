// What the tests of bad input share: a workspace, a provider that would answer, and what every complaint must be:
// the right exit code, one message with its code, one line that says what to do, no stack trace, nothing written.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { constants, copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ERRORS, type ErrorCode, EXIT } from '../../src/core/errors.ts';
import type { Reply } from '../../src/dev/scenario.ts';
import { type CrabExit, type CrabProcess, type RunOptions, runCrab, spawnCrab } from '../support/crab.ts';
import { type FakeProviderFixture, fakeProvider } from '../support/fake-provider.ts';
import { tempWorkspace, type Workspace } from '../support/workspace.ts';

const BUILT = process.env['CRAB_BIN'] ?? fileURLToPath(new URL('../../dist/crab.cjs', import.meta.url));

/** Somebody who owns nothing. */
const NOBODY = 65534;

export const ANSWER: readonly Reply[] = [{ text: 'Here I am.' }];

export type Options = Partial<Omit<RunOptions, 'args'>>;

export interface Setting extends AsyncDisposable {
  readonly workspace: Workspace;
  readonly provider: FakeProviderFixture;
  readonly env: Readonly<Record<string, string | undefined>>;
  run(args: readonly string[], options?: Options): Promise<CrabExit>;
  start(args: readonly string[], options?: Options): CrabProcess;
  /** Runs a line of sh in which "$@" is Crab with its arguments. */
  shell(line: string, args: readonly string[], options?: Options): Promise<CrabExit>;
  /** As a user who is not root; the workspace and the home become theirs. */
  runAsNobody(args: readonly string[], options?: Options): Promise<CrabExit>;
  /** Every file below the home. */
  kept(): readonly string[];
}

export async function setting(
  replies: readonly Reply[] = ANSWER,
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<Setting> {
  const workspace = await tempWorkspace(files, { git: false });
  const provider = await fakeProvider(replies);
  const env = { ...provider.env('anthropic'), CRAB_MAX_RETRIES: '0' };
  const base = ({ env: more, ...options }: Options) => ({
    cwd: workspace.path,
    home: workspace.home,
    ...options,
    env: { ...env, ...more },
  });
  const command = BUILT.endsWith('.cjs') ? [process.execPath, BUILT] : [BUILT];
  const everybodys = join(dirname(workspace.path), 'program');
  return {
    workspace,
    provider,
    env,
    run: (args, options = {}) => runCrab({ ...base(options), args }),
    start: (args, options = {}) => spawnCrab({ ...base(options), args }),
    shell: (line, args, options = {}) =>
      runCrab({ ...base(options), bin: 'sh', args: ['-c', line, 'sh', ...command, ...args] }),
    runAsNobody(args, options = {}) {
      if (process.getuid?.() !== 0) return runCrab({ ...base(options), args });
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, dirname(workspace.path)]);
      const drop = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups'];
      const own = copyOf(command, everybodys);
      return runCrab({ ...base(options), bin: 'setpriv', args: [...drop, ...own, ...args] });
    },
    kept: () => filesBelow(workspace.home),
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]();
      await workspace[Symbol.asyncDispose]();
    },
  };
}

/** The program where everybody may read it: this checkout may lie in a folder that nobody else can enter. */
function copyOf(command: readonly string[], folder: string): readonly string[] {
  mkdirSync(folder, { recursive: true });
  return command.map((path) => {
    const copy = join(folder, basename(path));
    // With what stands beside it, the chunks of a bundle.
    if (path.endsWith('.cjs')) cpSync(dirname(path), folder, { recursive: true, filter: isBundle });
    else if (!existsSync(copy)) copyFileSync(path, copy, constants.COPYFILE_FICLONE);
    return copy;
  });
}

function isBundle(path: string): boolean {
  return !path.endsWith('standalone');
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

export interface Complaint {
  readonly code: ErrorCode;
  /** What happened; a text must be the whole message. */
  readonly says: string | RegExp;
  /** What to do about it. Default: what the table of errors says. */
  readonly fix?: string | RegExp;
}

/** The run failed with this complaint and nothing else, and printed no result. */
export function assertComplaint(exit: CrabExit, { code, says, fix = ERRORS[code].hint }: Complaint): void {
  const told = /^crab: (?<message>.*) \[(?<code>[a-z-]+)\]\n(?<hint>.*)\n$/s.exec(exit.stderr);
  assert.notEqual(told, null, `no complaint: ${JSON.stringify(exit)}`);
  const { message = '', code: told_code = '', hint = '' } = told?.groups ?? {};
  assert.equal(told_code, code, exit.stderr);
  matches(message, says);
  matches(hint, fix);
  assert.doesNotMatch(exit.stderr, /\n\s+at |node:internal/);
  assert.equal(exit.stdout, '');
  assert.equal(exit.signal, null);
  assert.equal(exit.code, EXIT[ERRORS[code].exit]);
}

function matches(text: string, expected: string | RegExp): void {
  if (typeof expected === 'string') assert.equal(text, expected);
  else assert.match(text, expected);
}

/** As `assertComplaint`; and no request was sent, and nothing was written. */
export function assertRefused(exit: CrabExit, complaint: Complaint, { provider, kept }: Setting): void {
  assertComplaint(exit, complaint);
  assert.deepEqual([provider.requests, kept()], [[], []]);
}

/** The session files below the home, by path. */
export function sessions({ kept }: Setting): readonly string[] {
  return kept().filter((path) => path.includes('/sessions/') && path.endsWith('.jsonl'));
}

/** The messages of the one session: role and text, a result with a mark when it is an error. */
export function messagesOf(at: Setting): readonly string[] {
  const [path = '', ...more] = sessions(at);
  assert.deepEqual(more, []);
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .filter(({ type }) => type === 'message')
    .map(
      ({ message }) => `${message.role}${message.isError === true ? '!' : ''}: ${textOf(message.content)}`,
    );
}

function textOf(content: string | readonly { readonly text?: string; readonly name?: string }[]): string {
  if (typeof content === 'string') return content;
  return content.map(({ text, name }) => text ?? `[${name}]`).join(' ');
}
