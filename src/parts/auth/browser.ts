// Opens an address in the person's browser, on this machine. The address holds nothing secret: the code that comes back
// is worth nothing without the verifier, which stays here.

import type { Exec } from '../../core/host.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 10_000;

/** Whether a browser that is opened here would be seen by whoever sits before us. */
export function hasBrowser(env: Environment, platform: NodeJS.Platform): boolean {
  const isSet = (name: string) => env[name] !== undefined && env[name] !== '';
  if (isSet('SSH_CONNECTION') || isSet('SSH_TTY')) return false;
  if (platform === 'win32' || platform === 'darwin') return true;
  return isSet('DISPLAY') || isSet('WAYLAND_DISPLAY') || isSet('WSL_DISTRO_NAME') || isSet('BROWSER');
}

/** Nobody waits for it, and nothing is said when it fails: the address stands on the screen. */
export function openBrowser(url: string, exec: Exec, platform: NodeJS.Platform, cwd: string): void {
  const request = { argv: browserCommand(url, platform), cwd, timeoutMs: TIMEOUT_MS };
  exec(request, new AbortController().signal).catch(() => {});
}

function browserCommand(url: string, platform: NodeJS.Platform): readonly string[] {
  if (platform === 'darwin') return ['open', url];
  // Not `start`, which is a word of the command interpreter and would read the address as one.
  if (platform === 'win32') return ['rundll32.exe', 'url.dll,FileProtocolHandler', url];
  // What a command leaves behind is ended with it, and a browser that was not running yet would be that.
  return ['sh', '-c', 'env -u CRAB_CALL setsid xdg-open "$1" </dev/null >/dev/null 2>&1 &', 'sh', url];
}
