// Whether a backend holds, found out by trying to get past it. Versions and switches of the system say little: a machine
// may have every part and still refuse one of them, or lack one and go on without a word.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../../core/errors.ts';
import type { Exec } from '../../core/host.ts';
import type { Backend, Enclosure } from './backend.ts';
import type { Network } from './network.ts';

/** Milliseconds: a machine under load is slow, and a probe that hangs is a failed one. */
const TIMEOUT_MS = 10_000;

export interface ProbeOptions {
  readonly exec: Exec;
  /** For a folder of our own that is removed again. */
  readonly temporary: string;
  /** In which it is tried; in one of its own where it is absent. */
  readonly network?: Network;
}

/** Everything that must be refused is tried, and one thing that must not be. */
const SCRIPT = `
(echo x > "$1/writable/new") 2>/dev/null && echo inside
(echo x > "$1/outside") 2>/dev/null
(echo x > "$1/writable/covered/file") 2>/dev/null && echo covered
(cat "$1/hidden/secret" >/dev/null) 2>/dev/null && echo hidden
[ "$(readlink /proc/self/ns/user)" = "$2" ] && echo user
[ "$(readlink /proc/self/ns/net)" = "$3" ] && echo net
while read -r name value; do case "$name" in
  Seccomp:) [ "$value" = 2 ] || echo filter;;
  NoNewPrivs:) [ "$value" = 1 ] || echo privileges;;
esac; done </proc/self/status
exit 0
`;

const MEANINGS: Readonly<Record<string, string>> = {
  covered: 'a protected file could be written',
  hidden: 'a hidden file could be read',
  user: 'it ran in our own user namespace',
  net: 'it ran in our own network namespace',
  filter: 'no filter of system calls was in force',
  privileges: 'it could gain privileges',
};

/** Undefined when it holds; else why not. Never rejects. */
export async function probe(backend: Backend, options: ProbeOptions): Promise<string | undefined> {
  let folder: string | undefined;
  try {
    folder = await mkdtemp(join(options.temporary, 'crab-probe-'));
    return await attempt(backend, folder, options);
  } catch (error) {
    return messageOf(error);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}

async function attempt(
  backend: Backend,
  folder: string,
  { exec, network }: ProbeOptions,
): Promise<string | undefined> {
  const at = (...names: readonly string[]) => join(folder, ...names);
  for (const name of ['writable/covered', 'hidden', 'temporary']) mkdirSync(at(name), { recursive: true });
  writeFileSync(at('hidden', 'secret'), 'secret');
  const enclosure: Enclosure = {
    writable: [at('writable')],
    covered: [at('writable', 'covered')],
    hidden: [{ path: at('hidden'), kind: 'folder' }],
    temporary: at('temporary'),
    shown: [],
    reach: 'none',
    ...(network !== undefined && { network }),
    unixSockets: false,
    limits: {},
  };
  const own = await namespaces();
  const argv = ['/bin/sh', '-c', SCRIPT, 'sh', backend.inside?.(folder) ?? folder, ...own];
  const wrapped = backend.wrap(argv, at('writable'), enclosure);
  const request = { ...wrapped, cwd: at('writable'), timeoutMs: TIMEOUT_MS, separate: true };
  const { exitCode, timedOut, stdout, stderr } = await exec(request, new AbortController().signal);
  if (timedOut) return `it did not end within ${TIMEOUT_MS} ms`;
  if (exitCode !== 0) return backend.failure(stderr.text) ?? `exit code ${exitCode}: ${stderr.text.trim()}`;
  const said = stdout.text.split('\n').filter((line) => line !== '');
  // Its own word means nothing here: what it sees as that folder may be another one.
  if (readdirSync(folder).includes('outside')) return 'a file outside could be written';
  if (!said.includes('inside')) return 'a file in a writable folder could not be written';
  const hasNamespaces = backend.name === 'bubblewrap' || backend.name === 'wsl';
  const expected = hasNamespaces ? ['inside'] : ['inside', 'covered', 'user', 'net'];
  const hole = said.find((word) => !expected.includes(word));
  return hole === undefined ? undefined : (MEANINGS[hole] ?? hole);
}

async function namespaces(): Promise<readonly string[]> {
  const { readlink } = await import('node:fs/promises');
  return Promise.all(['user', 'net'].map((name) => readlink(`/proc/self/ns/${name}`).catch(() => 'none')));
}
