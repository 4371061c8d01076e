// What a process of Crab stands on beside its declaration: the environment that its commands and keys come from, the
// machine or container that they run in, its settings file and the keys that are stored for it. A daemon that stands on the same comes to the same; of one that does not, the difference can be named.
// Digests and not values: nothing that is secret goes over a wire.

import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fingerprint } from '../core/fingerprint.ts';
import { entryInfo } from '../parts/auth/entry.ts';
import { authFolder, authPath, readAuthFile } from '../parts/auth/index-file.ts';
import { crabHome, type Environment } from './home.ts';

/** Variables that tell one terminal or login from another, and change nothing of what a command of an agent does. */
const OF_TERMINAL = new RegExp(
  `^(?:${[
    '_|PWD|OLDPWD|SHLVL|COLUMNS|LINES|LS_COLORS|PS[1-4]|PROMPT_COMMAND|HIST[A-Z]+|LESS(?:OPEN|CLOSE)?|COLORTERM|NO_COLOR|FORCE_COLOR',
    'TERM(?:_.*|INFO.*)?|WINDOWID|TMUX.*|STY|SCREEN.*|GPG_TTY|SSH_(?:TTY|CLIENT|CONNECTION)|VTE_.*|KONSOLE_.*|KITTY_.*|ITERM_.*',
    'ALACRITTY_.*|WEZTERM_.*|GHOSTTY_.*|WT_.*|GNOME_TERMINAL_.*|ZELLIJ.*|VSCODE_.*|LC_TERMINAL.*|TERMINATOR_.*|TILIX_ID|SESSION_MANAGER',
    'XDG_SESSION_.*|XDG_VTNR|XDG_SEAT|INVOCATION_ID|JOURNAL_STREAM|SYSTEMD_.*|MANAGERPID|NOTIFY_SOCKET|LISTEN_.*|WATCHDOG_.*',
    // What `npm run` and the tests add, and our own mark on children.
    'npm_.*|NODE_V8_COVERAGE|NODE_TEST_CONTEXT|CRAB',
  ].join('|')})$`,
);

/** Each as NAME=DIGEST, in no order. */
export function basisOf(env: Environment): readonly string[] {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined || OF_TERMINAL.test(name) ? [] : [digested(name, value)],
  );
  const settings = join(crabHome(env), 'config.toml');
  const keys = authPath(authFolder(crabHome(env)));
  return [
    ...variables,
    digested('umask', String(process.umask())),
    digested('namespaces', NAMESPACES.map(namespaceOf).join()),
    digested(settings, textOf(settings)),
    digested(keys, storedKeys(keys)),
  ];
}

/** Tokens of a login are renewed by whoever needs them; that there is one, and each key, stays until the person changes it. */
function storedKeys(path: string): string {
  try {
    const entries = Object.entries(readAuthFile(path));
    return JSON.stringify(
      entries.map(([name, entry]) => [name, entryInfo(entry)?.kind === 'oauth' ? 'oauth' : entry]),
    );
  } catch {
    return '';
  }
}

/** Of Linux: a container that shares a home with its host has other files, processes and networks. */
const NAMESPACES = ['mnt', 'pid', 'net', 'user'];

function namespaceOf(kind: string): string {
  try {
    return readlinkSync(`/proc/self/ns/${kind}`);
  } catch {
    return '';
  }
}

/** The names of what differs, sorted. */
export function differences(one: readonly string[], other: readonly string[]): readonly string[] {
  const [here, there] = [new Set(one), new Set(other)];
  const differing = [...one.filter((each) => !there.has(each)), ...other.filter((each) => !here.has(each))];
  return [...new Set(differing.map((each) => each.slice(0, each.lastIndexOf('='))))].sort();
}

function digested(name: string, value: string): string {
  return `${name}=${fingerprint(`${name}\0${value}`)}`;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
