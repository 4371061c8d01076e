// What models write for the tool `bash` because another agent's tool takes it: argument vectors, other names, a folder
// to work in, seconds in place of milliseconds. The folder becomes a `cd`, so that the command that is judged is the
// command that runs.

import type { JsonObject } from '../../core/schema.ts';
import { commandOf, quoted } from './quote.ts';

export const DEFAULT_TIMEOUT_MS = 120_000;
export const MAX_TIMEOUT_MS = 600_000;

/** Asked of other agents' sandboxes and shells; without a meaning here. */
const FOREIGN = new Set([
  'justification',
  'login',
  'max_output_tokens',
  'sandbox_permissions',
  'with_escalated_permissions',
  'yield_time_ms',
]);

export function prepareShellInput(input: JsonObject): JsonObject {
  const { cmd, command = cmd, timeout_ms, timeout = timeout_ms, ...others } = input;
  const { workdir, cwd = workdir, is_background, run_in_background = is_background, ...more } = others;
  const { tty, dangerouslyDisableSandbox: leaves, ...rest } = more;
  const known = Object.entries(rest).filter(([name]) => !FOREIGN.has(name));
  const repaired: Record<string, unknown> = Object.fromEntries(known);
  if (command !== undefined) repaired['command'] = inFolder(cwd, scriptOf(command));
  if (timeout !== undefined && timeout !== null) repaired['timeout'] = milliseconds(timeout);
  if (run_in_background !== undefined) repaired['run_in_background'] = run_in_background;
  if (tty !== undefined) repaired['pty'] ??= tty;
  if (leaves !== undefined) repaired['dangerously_disable_sandbox'] ??= leaves;
  return repaired;
}

/** `["bash", "-lc", SCRIPT]` is what some models are trained on, and a vector without a shell as well. */
function scriptOf(command: unknown): unknown {
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return command;
  const isShell = command.length === 3 && /^-\w*c$/.test(String(command[1]));
  return isShell ? command[2] : commandOf(command);
}

function inFolder(folder: unknown, command: unknown): unknown {
  if (typeof folder !== 'string' || folder === '' || folder === '.' || typeof command !== 'string')
    return command;
  return `cd ${quoted(folder)} || exit\n${command}`;
}

/** Nobody gives a command less than a second: such a number was meant as seconds. */
function milliseconds(timeout: unknown): unknown {
  const value = typeof timeout === 'string' ? Number(timeout) : timeout;
  if (typeof value !== 'number' || !(value > 0)) return timeout;
  return Math.min(Math.round(value < 1000 ? value * 1000 : value), MAX_TIMEOUT_MS);
}
