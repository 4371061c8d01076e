// A script of the tool `powershell`, from its input to its result.

import { ToolFailure } from '../../core/errors.ts';
import type { ExecRequest, ExecResult } from '../../core/host.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolContext, type ToolOutput, textOutput } from '../../core/tool.ts';
import { failed, KEEP, resultText, showOutput } from './result.ts';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from './shell-input.ts';

/** The newest first; Windows itself brings the last. */
const PROGRAMS = ['pwsh', 'powershell'] as const;

const FLAGS = ['-NoLogo', '-NoProfile', '-NonInteractive', '-ExecutionPolicy', 'Bypass'] as const;

/** Text as UTF-8, no progress bars, and the exit code of the last program as that of the script if it failed. */
const BEFORE =
  '[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); $ProgressPreference = "SilentlyContinue"\n';
const AFTER = '\nif ($?) { exit 0 } elseif ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 }';

/** Windows takes 32,767 characters of command line; encoding makes 8 of 3. */
const MAX_SCRIPT_LENGTH = 11_000;

export async function runPowershell(input: JsonObject, context: ToolContext): Promise<ToolOutput> {
  const command = String(input['command']);
  const timeoutMs = Math.min(Number(input['timeout'] ?? DEFAULT_TIMEOUT_MS), MAX_TIMEOUT_MS);
  const result = await runScript(command, timeoutMs, context);
  const shown = showOutput(result);
  const saved = result.stdout.spilledTo;
  const text = resultText(result, shown, { timeoutMs, maxTimeoutMs: MAX_TIMEOUT_MS, saved });
  const exit = result.exitCode === null ? {} : { exitCode: result.exitCode };
  const display = {
    kind: 'command',
    command,
    cwd: context.identity.cwd,
    ...exit,
    output: shown.text,
  } as const;
  return { ...textOutput(text, display), isError: failed(result) };
}

async function runScript(command: string, timeoutMs: number, context: ToolContext): Promise<ExecResult> {
  const { exec, identity, signal, callId, output } = context;
  if (command.trim() === '') throw new ToolFailure('The command is empty.');
  if (command.length > MAX_SCRIPT_LENGTH)
    throw new ToolFailure(
      `The script has ${command.length} characters; at most ${MAX_SCRIPT_LENGTH} are run. Write it to a .ps1 file first.`,
    );
  const script = encoded(`${BEFORE}${command}${AFTER}`);
  const folder = await context.scratch().catch(() => undefined);
  const spillTo = folder && `${folder}/powershell-${callId.replace(/[^A-Za-z0-9_-]/g, '_')}.txt`;
  const rest: Omit<ExecRequest, 'argv'> = {
    cwd: identity.cwd,
    timeoutMs,
    onOutput: output,
    keep: KEEP,
    spillTo,
  };
  let failure: unknown;
  for (const program of PROGRAMS) {
    try {
      return await exec({ argv: [program, ...FLAGS, '-EncodedCommand', script], ...rest }, signal);
    } catch (error) {
      if (!(error instanceof ToolFailure)) throw error;
      failure = error;
    }
  }
  throw failure;
}

/** UTF-16, little end first, in Base64: what `-EncodedCommand` takes. */
function encoded(script: string): string {
  let bytes = '';
  for (let at = 0; at < script.length; at++) {
    const unit = script.charCodeAt(at);
    bytes += String.fromCharCode(unit & 0xff, unit >> 8);
  }
  return btoa(bytes);
}
