// Arguments for bubblewrap (bwrap(1)): the file system read-only but for the writable folders, namespaces of its own, no
// capabilities. Every namespace is demanded by name: `--unshare-all` goes on without the user namespace where there is
// none, and the `-try` forms of binds protect nothing that is missing.

import { lstatSync, readlinkSync } from 'node:fs';
import type { OpenProcess } from '../../core/host.ts';
import type { Backend, Enclosure, Wrapped } from './backend.ts';
import { limited } from './limits.ts';
import { makeNetwork, NOT_SHARED } from './network.ts';

export interface BubblewrapOptions {
  /** Absolute path of the program. */
  readonly program: string;
  /** It knows `--disable-userns` (0.8). Without it the filter alone refuses new namespaces. */
  readonly disablesNamespaces: boolean;
  /** Folders of `/run` that programs need, which exist. */
  readonly runFolders: readonly string[];
  /** Where programs can share a network: what starts them in it, nsenter(1), and what starts the one that makes it. */
  readonly sharing?: { readonly nsenter: string; readonly open: OpenProcess };
  filter(options: { readonly unixSockets: boolean; readonly internet: boolean }): Uint8Array;
}

/** Of `/run`, where sockets of services lie, only these are shown. */
export const RUN_FOLDERS = ['/run/current-system', '/run/systemd/resolve', '/run/opengl-driver'] as const;

/** Where the filter arrives. */
const FILTER_DESCRIPTOR = 3;

export function bubblewrap(options: BubblewrapOptions): Backend {
  const { program, sharing } = options;
  return {
    name: 'bubblewrap',
    covers: true,
    deniesLikeOthers: false,
    bridges: true,
    narrows: true,
    gaps: sharing === undefined ? [NOT_SHARED] : [],
    ...(sharing !== undefined && { makeNetwork: () => makeNetwork(program, sharing.open) }),
    wrap: (argv, cwd, enclosure) => wrap(argv, cwd, enclosure, options),
    failure: (output) => /^(?:bwrap|nsenter): ([^\n]+)\n?$/.exec(output)?.[1],
  };
}

function wrap(
  argv: readonly string[],
  cwd: string,
  enclosure: Enclosure,
  options: BubblewrapOptions,
): Wrapped {
  const { unixSockets, reach, limits } = enclosure;
  const entering = reach === 'all' ? [] : entrance(options, enclosure);
  const isInNetwork = reach === 'all' || entering.length > 0;
  return {
    argv: [
      ...entering,
      options.program,
      ...namespaces(isInNetwork, options.disablesNamespaces),
      ...system(options.runFolders, enclosure.readable),
      ...places(enclosure),
      '--seccomp',
      String(FILTER_DESCRIPTOR),
      '--chdir',
      cwd,
      '--',
      ...limited(argv, limits),
    ],
    env: { TMPDIR: '/tmp', TMP: undefined, TEMP: undefined },
    keeper: { descriptors: [{ kind: 'bytes', bytes: options.filter({ unixSockets, internet: true }) }] },
  };
}

/** It fails rather than to start a program anywhere else. */
function entrance({ sharing }: BubblewrapOptions, { network }: Enclosure): readonly string[] {
  if (sharing === undefined || network === undefined) return [];
  return [
    sharing.nsenter,
    `--user=${network.user}`,
    `--net=${network.net}`,
    // A user namespace that knows one user alone lets nobody become another.
    '--preserve-credentials',
    '--',
  ];
}

/** `isInNetwork`: it is to stay in the one that it is in. */
function namespaces(isInNetwork: boolean, disablesNamespaces: boolean): readonly string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...(isInNetwork ? [] : ['--unshare-net']),
    ...(disablesNamespaces ? ['--disable-userns'] : []),
    '--cap-drop',
    'ALL',
    '--die-with-parent',
    '--new-session',
  ];
}

/** Where only some things may be read, the root is an empty one, to which `places` adds them. */
function system(runFolders: readonly string[], readable: Enclosure['readable']): readonly string[] {
  const shown = runFolders.flatMap((path) => ['--ro-bind', path, path]);
  const root = readable === undefined ? ['--ro-bind', '/', '/'] : [];
  return [...root, '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/run', ...shown];
}

/** `/bin` and its like are links on most systems, and what names them goes through the link. */
function readOnly(path: string): readonly string[] {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info === undefined) return [];
  return info.isSymbolicLink() ? ['--symlink', readlinkSync(path), path] : ['--ro-bind', path, path];
}

/** The deeper a path, the later its mount: so what is hidden or covered in a writable folder is, and the other way round. */
function places({
  writable,
  covered,
  hidden: all,
  readable,
  temporary,
  shown,
}: Enclosure): readonly string[] {
  const seen = readable === undefined ? undefined : [...readable, ...writable, ...shown];
  // What cannot be seen needs no cover, which would tell that it is there.
  const hidden = all.filter(({ path }) => seen?.some((root) => path.startsWith(`${root}/`)) !== false);
  const mounts = [
    ...(readable ?? []).map((path) => ({ path, args: readOnly(path) })),
    { path: '/tmp', args: ['--bind', temporary, '/tmp'] },
    ...shown.map((path) => ({ path, args: ['--ro-bind', path, path] })),
    ...writable.map((path) => ({ path, args: ['--bind', path, path] })),
    ...hidden.map(({ path, kind }) => ({
      path,
      args: kind === 'folder' ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
    })),
    ...covered.map((path) => ({ path, args: ['--ro-bind', path, path] })),
  ];
  const depth = ({ path }: { readonly path: string }) => path.split('/').length;
  // A writable folder may lie in a hidden one, as a worktree does: its place is made before the hidden one is closed.
  const closed = hidden.flatMap(({ path, kind }) => (kind === 'folder' ? ['--remount-ro', path] : []));
  // The empty root is the program's own; what it wrote there would be lost without a word.
  const sealed = readable === undefined ? [] : ['--remount-ro', '/'];
  return [
    ...mounts.toSorted((a, b) => depth(a) - depth(b)).flatMap(({ args }) => args),
    ...closed,
    ...sealed,
  ];
}
