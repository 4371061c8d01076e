// The ways by which sandboxes of agents were left, each tried. `crab doctor` tries them on the person's machine, and the
// tests on every backend: what is only believed to be closed is open on some machine.

import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Exec, ExecRequest } from '../../core/host.ts';

export interface Surface {
  readonly name: string;
  readonly isOpen: boolean;
}

/** Files that something else obeys or starts, in a workspace that has none of them. */
const FILES = [
  '.git/hooks/pre-commit',
  'sub/.git/hooks/pre-commit',
  '.git/commondir',
  '.git/modules/sub/hooks/post-checkout',
  'linked/.git',
  '.mcp.json',
  '.vscode/tasks.json',
  '.claude/settings.json',
  '.codex/config.toml',
  '.envrc',
  '.venv/bin/python',
  'AGENTS.md',
] as const;

/** In the environment of a process outside, as a secret would be. */
const BYSTANDER = 'CRAB_BYSTANDER';

/** Each says its name when it came through. */
const WAYS: Readonly<Record<string, string>> = {
  'nested user namespace': 'unshare -Ur true',
  'unix socket': `perl -e 'socket(my $s, 1, 1, 0) or exit 1'`,
  'environment of other processes': `cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep -q '^${BYSTANDER}='`,
};

/** A server on the loopback of whoever runs it, which says where it listens. */
const SERVER = `
use Socket;
socket(my $server, AF_INET, SOCK_STREAM, 0) or die;
bind($server, sockaddr_in(0, INADDR_LOOPBACK)) or die;
listen($server, 1) or die;
$| = 1;
print((sockaddr_in(getsockname($server)))[0], "\\n");
while (accept(my $client, $server)) { close($client) }`;

/** Ends well where somebody listens. */
const CLIENT = `
use Socket;
socket(my $client, AF_INET, SOCK_STREAM, 0) or die;
connect($client, sockaddr_in($ARGV[0], INADDR_LOOPBACK)) or die;`;

export interface Neighbours {
  /** Outside of what is tried. */
  readonly bare: Exec;
  /** That of another conversation. */
  readonly other: Exec;
}

/** `cwd` is an empty folder that the confined `exec` may write. */
export async function trySurfaces(
  exec: Exec,
  cwd: string,
  { bare, other }: Neighbours,
): Promise<readonly Surface[]> {
  const files = FILES.map(
    (file) => `mkdir -p "$(dirname ${file})" && printf '#!/bin/sh\\n' >${file} && chmod +x ${file}`,
  );
  const ways = Object.entries(WAYS).map(([name, script]) => `( ${script}\n) && echo '${name}'`);
  const script = ['exec 2>/dev/null', ...files.map((line) => `( ${line} )`), ...ways, 'exit 0'].join('\n');
  const request = { argv: ['/bin/sh', '-c', script], cwd, timeoutMs: 30_000 };
  const { stdout } = await besideSomebody(bare, () => exec(request, new AbortController().signal));
  const passed = new Set(stdout.text.split('\n'));
  const servers = { 'loopback of this machine': bare, 'loopback of another conversation': other };
  return [
    // Asked of the file system and not of the program, whose view may be its own.
    ...FILES.map((file) => ({ name: file, isOpen: isThere(join(cwd, file)) })),
    ...Object.keys(WAYS).map((name) => ({ name, isOpen: passed.has(name) })),
    ...(await Promise.all(
      Object.entries(servers).map(async ([name, one]) => ({ name, isOpen: await reaches(exec, one, cwd) })),
    )),
  ];
}

/** While a process outside has something in its environment that is worth reading. */
function besideSomebody<T>(bare: Exec, act: () => Promise<T>): Promise<T> {
  const argv = ['/bin/sh', '-c', 'echo up; exec sleep 60'];
  return beside(bare, { argv, cwd: '/', env: { [BYSTANDER]: '1' } }, act);
}

/** Whether a program comes to a server that is started by somebody else; where none can be, there is nothing to come to. */
function reaches(exec: Exec, other: Exec, cwd: string): Promise<boolean> {
  const server = { argv: ['perl', '-e', SERVER], cwd };
  return beside(other, server, async (said) => {
    if (!/^\d+\n/.test(said)) return false;
    const argv = ['perl', '-e', CLIENT, said.trim()];
    const { exitCode } = await exec({ argv, cwd, timeoutMs: 30_000 }, new AbortController().signal);
    return exitCode === 0;
  });
}

/** While the program runs, which has said something or has ended before. */
async function beside<T>(exec: Exec, request: ExecRequest, act: (said: string) => Promise<T>): Promise<T> {
  const over = new AbortController();
  let ended: Promise<unknown> = Promise.resolve();
  const said = await new Promise<string>((up) => {
    ended = exec({ ...request, onOutput: up }, over.signal)
      .catch(() => {})
      .finally(() => up(''));
  });
  try {
    return await act(said);
  } finally {
    over.abort();
    await ended;
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}
