// A command of the tool `bash`, from its input to its result.

import { ToolFailure } from '../../core/errors.ts';
import type { ExecResult } from '../../core/host.ts';
import type { Job } from '../../core/job.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { JOB_TOOLS, startInBackground } from './background.ts';
import type { CommandLine } from './command-line.ts';
import { detachedHint } from './hints.ts';
import { failed, KEEP, resultText, type Shown, showOutput } from './result.ts';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from './shell-input.ts';
import { runOnTerminal } from './terminal-run.ts';

/** Characters shown while a command runs: a flood helps nobody and fills every queue behind it. */
const LIVE_LIMIT = 1024 * 1024;

export async function runCommand(
  input: JsonObject,
  commandLine: CommandLine,
  context: ToolContext,
): Promise<ToolOutput> {
  const { exec, identity, signal } = context;
  const command = String(input['command']);
  const timeoutMs = timeoutOf(input['timeout']);
  const unconfined = input['dangerously_disable_sandbox'] === true;
  const argv = await commandLine(command, { exec, cwd: identity.cwd }, signal);
  const terminal = input['pty'] === true;
  if (input['run_in_background'] === true)
    return announce(
      await startInBackground({ command, argv, terminal, unconfined }, context),
      command,
      context,
    );
  if (terminal) return runOnTerminal({ command, argv, timeoutMs, unconfined }, context);
  const spillTo = await outputFile(context);
  const onOutput = limited(context.output);
  const result = await exec(
    { argv, cwd: identity.cwd, timeoutMs, onOutput, keep: KEEP, spillTo, unconfined },
    signal,
  );
  return present(command, result, timeoutMs, spillTo, context);
}

/** The tools for jobs are sent to the model from here on: before there is a job they would only cost. */
function announce(job: Job, command: string, { tools }: ToolContext): ToolOutput {
  tools.offer(JOB_TOOLS);
  const ampersand =
    detachedHint(command) === undefined ? '' : 'What it starts with & ends as soon as the rest of it has. ';
  const text =
    `Running in the background as job ${job.id}. ${ampersand}You are told when it ends; task_output reads what it printed, ` +
    `task_stop ends it. The output goes to ${job.outputPath}`;
  return textOutput(text, { kind: 'command', command, output: `Job ${job.id}` });
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
  const hint = detachedHint(command);
  const text = resultText(result, shown, { timeoutMs, maxTimeoutMs: MAX_TIMEOUT_MS, saved, hint });
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
