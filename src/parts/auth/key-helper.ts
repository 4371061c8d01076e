// A key from a command of the person's own (`apiKeyHelper`): what it prints on standard output is the key. It is run
// when a key is first needed and again when its answer has become old, once for all that wait; a failure is told
// without a word of what it printed, which may be half a key.

import type { Credential, KeyStyle } from '../../core/credential.ts';
import { CrabError, messageOf } from '../../core/errors.ts';
import type { Clock, Exec, ExecResult } from '../../core/host.ts';
import type { Settings } from '../../core/settings.ts';
import { keyCredential } from './key-credential.ts';

/** One command, for all providers that it serves. */
export interface KeyHelper {
  /** The key while it is good; undefined when the command must be run. */
  current(): string | undefined;
  /** Runs the command, unless it is running. Throws `auth-failed`. */
  run(): Promise<string>;
}

export interface KeyHelperOptions {
  /** A line of the shell. */
  readonly command: string;
  readonly exec: Exec;
  readonly clock: Clock;
  /** Milliseconds that an answer stays good. */
  readonly ttlMs: number;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
}

const TTL_MS = 5 * 60_000;
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
const SOURCE = 'apiKeyHelper';

/** `CRAB_API_KEY_HELPER_TTL_MS`, else `apiKeyHelperTtlMs`, else five minutes. */
export function keyHelperTtl(
  env: Readonly<Record<string, string | undefined>>,
  { apiKeyHelperTtlMs }: Settings,
): number {
  const given = env['CRAB_API_KEY_HELPER_TTL_MS']?.trim();
  if (given === undefined || given === '') return apiKeyHelperTtlMs ?? TTL_MS;
  if (/^\d{1,12}$/.test(given)) return Number(given);
  throw new CrabError(
    'usage',
    `CRAB_API_KEY_HELPER_TTL_MS is ${JSON.stringify(given)}, not a number of milliseconds.`,
  );
}

export function createKeyHelper({ command, exec, clock, ttlMs, platform, cwd }: KeyHelperOptions): KeyHelper {
  let key: string | undefined;
  let goodUntil = Number.NEGATIVE_INFINITY;
  let running: Promise<string> | undefined;
  const argv = platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c', command] : ['sh', '-c', command];
  const keep = { head: MAX_BYTES, tail: 0 };
  const ask = async () => {
    const signal = new AbortController().signal;
    const result = await exec({ argv, cwd, separate: true, timeoutMs: TIMEOUT_MS, keep }, signal).catch(
      (cause) => {
        throw failure(`could not be started: ${messageOf(cause).replace(/\.$/, '')}`, cause);
      },
    );
    key = keyIn(result);
    goodUntil = clock.monotonic() + ttlMs;
    return key;
  };
  return {
    current: () => (clock.monotonic() < goodUntil ? key : undefined),
    run() {
      running ??= ask().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

/** Runs the helper if its answer is old. Rejects with `CrabError`. */
export async function keyHelperCredential(
  helper: KeyHelper,
  style: KeyStyle,
  learn: (secrets: readonly string[]) => void,
): Promise<Credential> {
  const make = (value: string) => {
    const made = keyCredential({ source: SOURCE, style, value });
    learn(made.secrets());
    return { value, made };
  };
  let now = make(helper.current() ?? (await helper.run()));
  const take = (value: string) => {
    if (value !== now.value) now = make(value);
    return now.made;
  };
  return {
    source: SOURCE,
    headers(request) {
      const value = helper.current();
      if (value !== undefined) return take(value).headers(request);
      return helper.run().then((fresh) => take(fresh).headers(request));
    },
    secrets: () => now.made.secrets(),
    async refused(status) {
      if (status !== 401) return false;
      const refused = now.value;
      take(await helper.run());
      return now.value !== refused;
    },
  };
}

function keyIn({ exitCode, signal, timedOut, stdout }: ExecResult): string {
  if (timedOut) throw failure(`did not end within ${TIMEOUT_MS / 1000} seconds`);
  if (exitCode === null) throw failure(`was ended by ${signal ?? 'a signal'}`);
  if (exitCode !== 0) throw failure(`ended with exit status ${exitCode}`);
  if (stdout.truncated) throw failure(`printed more than ${MAX_BYTES} bytes`);
  const key = stdout.text.trim();
  if (key === '') throw failure('printed nothing');
  return key;
}

function failure(what: string, cause?: unknown): CrabError {
  return new CrabError('auth-failed', `The command of ${SOURCE} ${what}.`, {
    cause,
    hint: `Run it by hand, or take ${SOURCE} out of the settings.`,
  });
}
