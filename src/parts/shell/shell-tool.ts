// The tool `bash`: a command in a shell of its own, in the folder of the conversation.

import { ToolFailure } from '../../core/errors.ts';
import type { ExecResult } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { Tool, ToolContext, ToolOutput } from '../../core/tool.ts';
import { createCommandLine, type ShellOptions } from './command-line.ts';
import { failed, KEEP, resultText, type Shown, showOutput } from './result.ts';

const DEFAULT_TIMEOUT_MS = 120_000;
const MAX_TIMEOUT_MS = 600_000;

/** Characters shown while a command runs: a flood helps nobody and fills every queue behind it. */
const LIVE_LIMIT = 1024 * 1024;

const DESCRIPTION =
  'Runs a bash command in the working directory; returns stdout and stderr together. ' +
  'Every call is a new shell: cd and variables do not last. ' +
  'There is no input and no terminal, so use flags that avoid prompts, editors and pagers. ' +
  'Background processes end with the call. ' +
  'Long output loses its middle and is saved whole to a file.';

export function createShellTool(options: ShellOptions = {}): Tool {
  const commandLine = createCommandLine(options);
  return {
    name: 'bash',
    aliases: ['Bash', 'shell.exec', 'shell'],
    source: 'builtin',
    description: DESCRIPTION,
    input: {
      type: 'object',
      properties: {
        command: { type: 'string' },
        timeout: { type: 'integer', description: 'Milliseconds, default 120000, at most 600000' },
        description: { type: 'string', description: 'What it does, in 5 to 10 words' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    prepare,
    plan: async ({ command }, cwd) => ({
      access: { kind: 'command', command: String(command), cwd },
      parallel: false,
      repeatable: false,
    }),
    show: async ({ command }) => ({ kind: 'command', command: String(command) }),
    run: async (input, context) => {
      const { exec, identity, signal } = context;
      const command = String(input['command']);
      const timeoutMs = timeoutOf(input['timeout']);
      const argv = await commandLine(command, { exec, cwd: identity.cwd }, signal);
      const spillTo = await outputFile(context);
      const onOutput = limited(context.output);
      const result = await exec(
        { argv, cwd: identity.cwd, timeoutMs, onOutput, keep: KEEP, spillTo },
        signal,
      );
      return present(command, result, timeoutMs, spillTo, context);
    },
  };
}

async function present(
  command: string,
  result: ExecResult,
  timeoutMs: number,
  file: string | undefined,
  context: ToolContext,
): Promise<ToolOutput> {
  const shown = showOutput(result);
  const saved = result.stdout.spilledTo ?? (await save(shown, result, file, context));
  const text = resultText(result, shown.text, { timeoutMs, maxTimeoutMs: MAX_TIMEOUT_MS, saved });
  return {
    content: [{ type: 'text', text }],
    isError: failed(result),
    display: {
      kind: 'command',
      command,
      cwd: context.identity.cwd,
      ...(result.exitCode !== null && { exitCode: result.exitCode }),
      output: shown.text,
    },
  };
}

/** The capture writes what is too long for it; what only has too many lines is written here. */
async function save(
  shown: Shown,
  result: ExecResult,
  file: string | undefined,
  { files }: ToolContext,
): Promise<string | undefined> {
  if (!shown.cut || result.stdout.truncated || file === undefined) return undefined;
  try {
    await files.write(file, new TextEncoder().encode(result.stdout.text));
    return file;
  } catch {
    // The command has run: its result counts for more than a file that cannot be written.
    return undefined;
  }
}

/** Undefined when there is nowhere to write: a command that frees a full disk must still run. */
async function outputFile({ callId, scratch }: ToolContext): Promise<string | undefined> {
  try {
    return `${await scratch()}/bash-${callId.replace(/[^A-Za-z0-9_-]/g, '_')}.txt`;
  } catch {
    return undefined;
  }
}

function limited(output: (text: string) => void): (text: string) => void {
  let length = 0;
  return (text) => {
    if (length > LIVE_LIMIT) return;
    length += text.length;
    output(text);
    if (length > LIVE_LIMIT) output('[more output is not shown while the command runs]\n');
  };
}

function timeoutOf(value: unknown): number {
  if (value === undefined) return DEFAULT_TIMEOUT_MS;
  if (typeof value !== 'number' || !(value > 0)) {
    throw new ToolFailure('timeout must be a number of milliseconds above 0.');
  }
  return Math.min(value, MAX_TIMEOUT_MS);
}

/** Other agents' names for the same inputs, an argument vector for a shell, and seconds in place of milliseconds. */
function prepare(input: JsonObject): JsonObject {
  const { cmd, timeout_ms, command = cmd, timeout = timeout_ms, ...rest } = input;
  const repaired: Record<string, unknown> = { ...rest };
  if (command !== undefined) repaired['command'] = Array.isArray(command) ? scriptOf(command) : command;
  if (timeout !== undefined && timeout !== null) repaired['timeout'] = milliseconds(timeout);
  return repaired;
}

/** `["bash", "-lc", SCRIPT]` is what some models are trained on. */
function scriptOf(argv: readonly unknown[]): unknown {
  const isShell = argv.length === 3 && /^-\w*c$/.test(String(argv[1]));
  return isShell ? argv[2] : argv;
}

/** Nobody gives a command less than a second: such a number was meant as seconds. */
function milliseconds(timeout: unknown): unknown {
  const value = typeof timeout === 'string' ? Number(timeout) : timeout;
  if (typeof value !== 'number' || !(value > 0)) return timeout;
  return Math.min(Math.round(value < 1000 ? value * 1000 : value), MAX_TIMEOUT_MS);
}
