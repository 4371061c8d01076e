// The system's own store of secrets, through the programs that come with it: no native module, and the secret only on
// standard input, since every user of the machine can read the arguments of a process. It keeps one short key; what
// that key opens is in `auth.json`, which can be replaced in one step and has no limit of length. Whether there is
// a keychain that works is found out by using it: a program that is installed may still have no session to talk to.

import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import type { Exec, ExecResult } from '../../core/host.ts';
import { writePrivate } from './private-file.ts';

export interface Keychain {
  /** `the macOS keychain`. */
  readonly name: string;
  /** Undefined when there is no such item. Throws `auth-failed`. */
  read(id: string): Promise<string | undefined>;
  /** Throws `auth-failed`. */
  write(id: string, secret: string): Promise<void>;
  /** Does nothing where there is no such item. */
  remove(id: string): Promise<void>;
}

export interface KeychainOptions {
  readonly platform: NodeJS.Platform;
  readonly exec: Exec;
  /** Where DPAPI's answer is kept, which is not a store but a seal. */
  readonly folder: string;
}

const SERVICE = 'crab';
/** The system may ask the person to unlock it. */
const TIMEOUT_MS = 30_000;

type Run = (argv: readonly string[], stdin?: string) => Promise<ExecResult>;

export function createKeychain({ platform, exec, folder }: KeychainOptions): Keychain {
  const run: Run = async (argv, stdin = '') => {
    const signal = new AbortController().signal;
    const cwd = dirname(process.execPath);
    try {
      return await exec({ argv, cwd, stdin, separate: true, timeoutMs: TIMEOUT_MS }, signal);
    } catch (cause) {
      throw failure('init', messageOf(cause), cause);
    }
  };
  if (platform === 'darwin') return macKeychain(run);
  return platform === 'win32' ? windowsProtection(run, folder) : secretService(run);
}

/** `security`(1). `-i` reads commands from standard input, where `-w` may hold the secret. */
function macKeychain(run: Run): Keychain {
  const find = (id: string) => ['-a', id, '-s', SERVICE];
  return {
    name: 'the macOS keychain',
    async read(id) {
      const result = await run(['security', 'find-generic-password', ...find(id), '-w']);
      // errSecItemNotFound
      if (result.exitCode === 44) return undefined;
      return answer('read', result);
    },
    async write(id, secret) {
      const line = `add-generic-password -U -a "${id}" -s "${SERVICE}" -l "Crab" -w "${secret}"\n`;
      answer('write', await run(['security', '-i'], line));
    },
    async remove(id) {
      await run(['security', 'delete-generic-password', ...find(id)]);
    },
  };
}

/** `secret-tool`(1) of libsecret, for GNOME Keyring, KWallet and KeePassXC. */
function secretService(run: Run): Keychain {
  const attributes = (id: string) => ['service', SERVICE, 'account', id];
  return {
    name: 'the keyring of the desktop',
    async read(id) {
      const result = await run(['secret-tool', 'lookup', ...attributes(id)]);
      // It says nothing at all when there is no such item, and why when there is no keyring.
      if (result.exitCode === 1 && result.stdout.bytes === 0 && result.stderr.bytes === 0) return undefined;
      return answer('read', result);
    },
    async write(id, secret) {
      answer('write', await run(['secret-tool', 'store', '--label=Crab', ...attributes(id)], secret));
    },
    async remove(id) {
      await run(['secret-tool', 'clear', ...attributes(id)]);
    },
  };
}

/** The Data Protection API of Windows: sealed for this user of this machine, and kept in a file beside the store. */
function windowsProtection(run: Run, folder: string): Keychain {
  const file = (id: string) => join(folder, `key-${id}.dpapi`);
  const script = (verb: 'Protect' | 'Unprotect') =>
    `$ErrorActionPreference = 'Stop'; Add-Type -AssemblyName System.Security; ` +
    `$in = [Convert]::FromBase64String([Console]::In.ReadToEnd().Trim()); ` +
    `[Console]::Out.Write([Convert]::ToBase64String([Security.Cryptography.ProtectedData]::${verb}($in, $null, 'CurrentUser')))`;
  const convert = (verb: 'Protect' | 'Unprotect', base64: string) =>
    run(['powershell.exe', '-NoProfile', '-NonInteractive', '-Command', script(verb)], base64);
  return {
    name: 'the data protection of Windows',
    async read(id) {
      let sealed: string;
      try {
        sealed = readFileSync(file(id), 'utf8');
      } catch (cause) {
        if (errnoOf(cause) === 'ENOENT') return undefined;
        throw failure('read', messageOf(cause), cause);
      }
      const opened = answer('read', await convert('Unprotect', sealed));
      return Buffer.from(opened, 'base64').toString();
    },
    async write(id, secret) {
      const sealed = answer('write', await convert('Protect', Buffer.from(secret).toString('base64')));
      writePrivate(file(id), sealed);
    },
    async remove(id) {
      rmSync(file(id), { force: true });
    },
  };
}

/** What it printed, or `auth-failed` with what it complained about. */
function answer(what: 'read' | 'write', result: ExecResult): string {
  if (result.timedOut) throw failure(what, `no answer within ${TIMEOUT_MS / 1000} seconds`);
  if (result.exitCode === 0) return result.stdout.text.trim();
  const said = result.stderr.text.replace(/\s+/g, ' ').trim().slice(0, 300);
  throw failure(what, said === '' ? `exit status ${result.exitCode}` : said);
}

/** A keychain that cannot be used; what it was to keep can be kept elsewhere. */
export class KeychainError extends CrabError {}

function failure(what: 'init' | 'read' | 'write', reason: string, cause?: unknown): KeychainError {
  return new KeychainError('auth-failed', `Keychain ${what} failed: ${reason.replace(/\.$/, '')}.`, {
    cause,
    hint: 'Unlock it and try again, or log in with `--store file`.',
  });
}
