// `crab doctor`: what Crab needs of this machine, each found out by using it. It changes nothing but a temporary folder.

import { constants, promises as fs } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CrabError, EXIT, messageOf } from '../core/errors.ts';
import type { Exec } from '../core/host.ts';
import type { SandboxPolicy } from '../core/sandbox.ts';
import { NO_SETTINGS, type Settings } from '../core/settings.ts';
import { createLocalFiles } from '../parts/files/local-files.ts';
import { findRipgrep } from '../parts/files/ripgrep.ts';
import { usualMemoryMib } from '../parts/process/bounds.ts';
import { createExec, type HostExec } from '../parts/process/exec.ts';
import { type ConfineOptions, createConfinement } from '../parts/sandbox/confine.ts';
import { trySurfaces } from '../parts/sandbox/matrix.ts';
import { createSandbox } from '../parts/sandbox/sandbox.ts';
import { readArguments } from './arguments.ts';
import { systemClock } from './clock.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';
import { ownCommand } from './own-command.ts';
import { sandboxPolicy } from './sandbox-policy.ts';
import { loadSettings } from './settings.ts';
import { sinkOf } from './sink.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';
import { VERSION } from './version.ts';

const HELP = `Usage: crab doctor [--json]

  Tries what Crab needs of this machine: the sandbox and every known way around it, programs, the home folder, the
  terminal. Ends with 0 when nothing is wrong, with 1 when something is.

  --json   one object: { "version", "ok", "checks": [{ "name", "state", "detail" }] }
`;

/** `warn`: something is weaker or slower than it could be. */
type State = 'ok' | 'warn' | 'fail';

interface Check {
  readonly name: string;
  readonly state: State;
  readonly detail: string;
}

/** Returns the exit status. Throws `CrabError` (`usage`, `settings-invalid`). */
export async function doctor(argv: readonly string[], env: Environment): Promise<number> {
  const stdout = sinkOf(process.stdout, env);
  const { values, positionals } = subcommandArguments('doctor', argv, {
    help: { type: 'boolean', short: 'h' },
    json: { type: 'boolean' },
  });
  if (positionals.length > 0) throw subcommandUsage('doctor', '`crab doctor` takes no words.');
  if (values.help === true) {
    await stdout.write(HELP);
    return EXIT.success;
  }
  const checks = await examine(env);
  const ok = checks.every(({ state }) => state !== 'fail');
  await stdout.write(
    values.json === true ? `${JSON.stringify({ version: VERSION, ok, checks })}\n` : textOf(checks),
  );
  return ok ? EXIT.success : EXIT.failure;
}

async function examine(env: Environment): Promise<readonly Check[]> {
  const exec = createExec({ env, clock: systemClock });
  const loaded = await settingsOf(env);
  const settings = loaded instanceof Error ? NO_SETTINGS : loaded;
  const parts = await Promise.all([
    nodeCheck(),
    settingsCheck(loaded),
    homeCheck(env),
    terminalCheck(env),
    programCheck(exec, 'git', ['git', '--version'], 'histories and branches are not seen'),
    ripgrepCheck(exec),
    keychainCheck(exec),
  ]);
  return [...parts, limitsCheck(env, settings), ...(await sandboxChecks(exec, env, settings))];
}

async function settingsOf(env: Environment): Promise<Settings | Error> {
  try {
    return await loadSettings({ args: readArguments([]), env, warn: () => {} });
  } catch (error) {
    return error instanceof Error ? error : new Error(messageOf(error));
  }
}

function nodeCheck(): Check {
  return { name: 'node', state: 'ok', detail: `${process.version} on ${process.platform} ${process.arch}` };
}

function settingsCheck(loaded: Settings | Error): Check {
  if (loaded instanceof Error) return { name: 'settings', state: 'fail', detail: loaded.message };
  const mode = loaded.sandbox?.mode ?? 'preferred';
  return { name: 'settings', state: mode === 'off' ? 'warn' : 'ok', detail: `sandbox ${mode}` };
}

/** What a command may take, each with the place where it was set. */
function limitsCheck(env: Environment, settings: Settings): Check {
  const { limits } = sandboxPolicy({ args: readArguments([]), env, settings });
  const { fileMib, cpuSeconds, processes, memoryMib } = limits;
  const limit = (text: string, key: string, without: string) =>
    `${text} (${settings.sandbox?.sources?.[key] ?? without})`;
  const detail = [
    limit(`${memoryMib ?? usualMemoryMib()} MiB of memory`, 'max_memory_mib', '90 % of what there is'),
    limit(`${processes} processes and threads`, 'max_processes', 'the default'),
    ...(fileMib === undefined ? [] : [limit(`${fileMib} MiB in one file`, 'max_file_mib', '')]),
    ...(cpuSeconds === undefined ? [] : [limit(`${cpuSeconds} s of processor time`, 'max_cpu_seconds', '')]),
  ].join(', ');
  if (process.platform === 'linux') return { name: 'limits', state: 'ok', detail: `a command: ${detail}` };
  return {
    name: 'limits',
    state: 'warn',
    detail: 'memory and processes of commands are bounded on Linux alone',
  };
}

async function homeCheck(env: Environment): Promise<Check> {
  const path = crabHome(env);
  const name = 'home';
  try {
    const info = await fs.stat(path);
    const isOwn = process.getuid === undefined || info.uid === process.getuid();
    if (!isOwn) return { name, state: 'fail', detail: `${path} belongs to another user` };
    if ((info.mode & 0o022) !== 0)
      return { name, state: 'fail', detail: `${path} may be written by others: run \`chmod go-w\` on it` };
    await fs.access(path, constants.W_OK);
    return { name, state: 'ok', detail: path };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { name, state: 'ok', detail: `${path} is not there yet` };
    return { name, state: 'fail', detail: messageOf(error) };
  }
}

function terminalCheck(env: Environment): Check {
  const isTerminal = process.stdout.isTTY === true;
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  const detail = `${isTerminal ? (env['TERM'] ?? 'no TERM') : 'not a terminal'}, ${locale === '' ? 'no locale' : locale}`;
  const isWeak = isTerminal && (env['TERM'] === 'dumb' || !/utf-?8/i.test(locale));
  return { name: 'terminal', state: isWeak ? 'warn' : 'ok', detail };
}

async function programCheck(
  exec: Exec,
  name: string,
  argv: readonly string[],
  without: string,
): Promise<Check> {
  const signal = new AbortController().signal;
  const found = await exec({ argv, cwd: '/', timeoutMs: 10_000 }, signal).catch(() => undefined);
  if (found?.exitCode !== 0) return { name, state: 'warn', detail: `does not answer: ${without}` };
  return { name, state: 'ok', detail: found.stdout.text.split('\n')[0] ?? '' };
}

async function ripgrepCheck(exec: Exec): Promise<Check> {
  const without = 'searching in files is slower';
  const signal = new AbortController().signal;
  const program = await findRipgrep(undefined, exec, '/', signal);
  return programCheck(exec, 'ripgrep', [program ?? 'rg', '--version'], without);
}

function keychainCheck(exec: Exec): Promise<Check> {
  const argv = process.platform === 'darwin' ? ['security', 'list-keychains'] : ['secret-tool', '--version'];
  return programCheck(exec, 'keychain', argv, 'keys are kept in a file of mode 600');
}

async function sandboxChecks(
  exec: HostExec,
  env: Environment,
  settings: Settings,
): Promise<readonly Check[]> {
  const sandbox = createSandbox({ exec, open: exec.open, temporary: tmpdir() });
  const { candidates, holding } = await sandbox.survey();
  const { backend: only, sources } = settings.sandbox ?? {};
  const backend = holding.find(({ name }) => only === undefined || name === only);
  const tried = candidates.map(
    ({ name, holds, reason }): Check => ({
      name: `sandbox: ${name}`,
      state: holds ? 'ok' : backend === undefined ? 'fail' : 'warn',
      detail: holds ? 'holds' : (reason ?? ''),
    }),
  );
  if (backend === undefined)
    return [...tried, { name: 'sandbox', state: 'fail', detail: nothingConfines(only) }];
  const gaps = backend.gaps.length === 0 ? '' : `; but ${backend.gaps.join(', ')}`;
  const used: Check = {
    name: 'sandbox',
    state: gaps === '' ? 'ok' : 'warn',
    detail: `commands are confined by ${backend.name}${only === undefined ? '' : ` (${sources?.['backend']})`}${gaps}`,
  };
  return [...tried, used, ...(await surfaceChecks(exec, env, backend.name))];
}

function nothingConfines(only: string | undefined): string {
  if (only === undefined) return 'nothing can confine commands here';
  return `nothing confines commands here: the settings allow ${only} alone`;
}

async function surfaceChecks(exec: HostExec, env: Environment, only: string): Promise<readonly Check[]> {
  const base = await fs.mkdtemp(join(await fs.realpath(tmpdir()), 'crab-doctor-'));
  try {
    const policy: SandboxPolicy = {
      ...sandboxPolicy({ args: readArguments([]), env, settings: NO_SETTINGS }),
      mode: 'required',
    };
    const folder = async (name: string) => {
      await fs.mkdir(join(base, name), { recursive: true });
      return join(base, name);
    };
    const cwd = await folder('workspace');
    const options: ConfineOptions = {
      sandbox: createSandbox({ exec, open: exec.open, temporary: base, only }),
      policy,
      cwd,
      directories: [],
      exec,
      open: exec.open,
      files: createLocalFiles(),
      scratch: () => folder('scratch'),
      kept: () => folder('kept'),
      home: homeFolder(env),
      bridge: ownCommand('sandbox-bridge'),
      isPermitted: () => false,
    };
    const conversation = () => createConfinement(options).confined(() => {}).exec;
    const surfaces = await trySurfaces(conversation(), cwd, { bare: exec, other: conversation() });
    return surfaces.map(({ name, isOpen }) => ({
      name: `closed: ${name}`,
      state: isOpen ? 'fail' : 'ok',
      detail: isOpen ? 'a confined command came through' : 'tried in vain',
    }));
  } catch (error) {
    if (error instanceof CrabError) throw error;
    return [{ name: 'sandbox: surfaces', state: 'fail', detail: messageOf(error) }];
  } finally {
    await fs.rm(base, { recursive: true, force: true });
  }
}

const MARKS: Readonly<Record<State, string>> = { ok: '✓', warn: '!', fail: '✗' };

function textOf(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .map(({ name, state, detail }) => `${MARKS[state]} ${name.padEnd(width)}  ${detail}\n`)
    .join('');
}
