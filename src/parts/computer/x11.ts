// The X display through `xdotool`. Only X11 lets one program see and use another; on every other desktop the tool says
// what is missing and does nothing.

import { ToolFailure } from '../../core/errors.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { Desktop } from './computer-tool.ts';

const TIMEOUT_MS = 20_000;

export interface Ran {
  readonly exitCode: number | null;
  readonly stdout: string;
  /** What it said of a failure, in a line. */
  readonly complaint: string;
}

type Running = Pick<ToolContext, 'exec' | 'signal' | 'identity'>;

/** Undefined when the program is not installed. */
export async function run(
  argv: readonly string[],
  { exec, signal, identity }: Running,
  stdin?: string,
  timeoutMs = TIMEOUT_MS,
): Promise<Ran | undefined> {
  const request = {
    argv,
    cwd: identity.cwd,
    // xdotool reads what it types by the locale, which a service may not have.
    env: { LC_ALL: 'C.UTF-8' },
    timeoutMs,
    separate: true,
    // The display is a socket that no confined program reaches.
    unconfined: true,
    ...(stdin !== undefined && { stdin }),
  };
  const result = await exec(request, signal).catch((error: unknown) => {
    if (error instanceof ToolFailure && error.message.includes('not found in PATH')) return undefined;
    throw error;
  });
  if (result === undefined) return undefined;
  const { exitCode, timedOut, stdout, stderr } = result;
  const said = stderr.text.replace(/\s+/g, ' ').trim().slice(0, 300);
  const complaint = timedOut ? `it did not end in ${timeoutMs / 1000} s` : said || `status ${exitCode}`;
  return { exitCode: timedOut ? null : exitCode, stdout: stdout.text, complaint };
}

/** Throws `ToolFailure` when it fails or complains of a key that it does not know. */
export async function xdotool(
  args: readonly string[],
  context: Running,
  stdin?: string,
  timeoutMs?: number,
): Promise<string> {
  const ran = await run(['xdotool', ...args], context, stdin, timeoutMs);
  if (ran === undefined)
    throw new ToolFailure('xdotool is not installed here (`apt-get install xdotool imagemagick`).');
  const { exitCode, stdout, complaint } = ran;
  if (exitCode !== 0 || /No such key name/.test(complaint))
    throw new ToolFailure(`xdotool ${args[0] ?? ''} failed: ${complaint}`);
  return stdout;
}

/** In pixels. Throws `ToolFailure` that says why there is no display to be used. */
export async function displaySize(
  desktop: Desktop,
  context: Running,
): Promise<{ readonly width: number; readonly height: number }> {
  const missing = whatIsMissing(desktop);
  if (missing !== undefined) throw new ToolFailure(missing);
  const geometry = await xdotool(['getdisplaygeometry'], context);
  const [, width, height] = /^(\d+) (\d+)\s*$/.exec(geometry) ?? [];
  if (width === undefined || height === undefined)
    throw new ToolFailure(`The size of the display is not known: xdotool says ${JSON.stringify(geometry)}.`);
  return { width: Number(width), height: Number(height) };
}

function whatIsMissing({ platform, env }: Desktop): string | undefined {
  if (platform === 'darwin' || platform === 'win32') {
    const system = platform === 'darwin' ? 'macOS' : 'Windows';
    return `The desktop of ${system} cannot be used: this works with X11 alone. Use commands and files.`;
  }
  if (env['WAYLAND_DISPLAY'])
    return 'This session runs Wayland, which lets no program see or use another: log in with an X11 session, or unset WAYLAND_DISPLAY and set DISPLAY to an X server (such as Xvfb).';
  if (!env['DISPLAY'])
    return 'There is no screen here: DISPLAY is not set. Start an X server (such as `Xvfb :99`) and set DISPLAY before Crab is started.';
  return undefined;
}
