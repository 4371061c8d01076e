// Seatbelt of macOS: a profile in its own language, given to sandbox-exec(1). The last rule that matches wins, so the
// order is: nothing is written, the writable folders are, what is protected in them is not, what is hidden is not read.

import type { Backend, Enclosure } from './backend.ts';
import { limited } from './limits.ts';

/**
 * What programs ask of the system: who a user is, logs, notices. Not the keychain, and not launchd's and LaunchServices',
 * which start programs outside. After the profiles of openai/codex and anthropic's sandbox-runtime.
 */
const SERVICES = [
  'com.apple.PowerManagement.control',
  'com.apple.bsd.dirhelper',
  'com.apple.logd',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
];

/** Names of hosts, proxies and certificates. */
const NETWORK_SERVICES = [
  'com.apple.SystemConfiguration.DNSConfiguration',
  'com.apple.SystemConfiguration.configd',
  'com.apple.networkd',
  'com.apple.ocspd',
  'com.apple.trustd.agent',
];

export interface SeatbeltOptions {
  readonly program: string;
}

export function seatbelt({ program }: SeatbeltOptions): Backend {
  return {
    name: 'seatbelt',
    covers: true,
    deniesLikeOthers: true,
    bridges: false,
    narrows: false,
    gaps: ['other processes can be seen', 'what leaves its group and its environment may live on'],
    wrap: (argv, _cwd, enclosure) => ({
      argv: [
        program,
        '-p',
        profile(enclosure),
        ...limited(argv, { ...enclosure.limits, processes: undefined }),
      ],
      env: { TMPDIR: enclosure.temporary, TMP: undefined, TEMP: undefined },
    }),
    failure: (output) => /^sandbox-exec: ([^\n]+)\n?$/.exec(output)?.[1],
  };
}

/** Paths of `enclosure` are resolved, as Seatbelt sees them: `/private/tmp`, not `/tmp`. */
export function profile({ writable, temporary, covered, hidden, reach, unixSockets }: Enclosure): string {
  const below = (path: string) => `(subpath ${quoted(path)})`;
  const rule = (verb: string, paths: readonly string[]) =>
    paths.length === 0 ? [] : [`(${verb} ${paths.join(' ')})`];
  return [
    '(version 1)',
    '(deny default)',
    '(allow process-exec process-fork)',
    '(allow process-info* (target same-sandbox))',
    '(allow signal (target same-sandbox))',
    '(allow sysctl-read ipc-posix-shm ipc-posix-sem pseudo-tty)',
    // With it other processes' environments are read.
    '(deny sysctl-read (sysctl-name-prefix "kern.procargs"))',
    `(allow mach-lookup ${services(reach === 'all' ? [...SERVICES, ...NETWORK_SERVICES] : SERVICES)})`,
    '(allow file-read* file-test-existence file-ioctl)',
    '(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))',
    ...rule('allow file-write*', [...writable, temporary].map(below)),
    ...rule('deny file-write*', covered.map(below)),
    ...rule(
      'deny file-read* file-write*',
      hidden.map(({ path }) => below(path)),
    ),
    // Renaming a folder around a protected file would carry it away.
    ...rule(
      'deny file-write-unlink',
      [...new Set(covered.flatMap((path) => around(path, writable)))].map(
        (path) => `(literal ${quoted(path)})`,
      ),
    ),
    // Without a network of its own, a program's loopback is the machine's, with every service on it.
    ...(reach === 'all' ? ['(allow network* system-socket)'] : []),
    ...(unixSockets ? ['(allow network* (local unix-socket) (remote unix-socket))'] : []),
  ].join('\n');
}

function services(names: readonly string[]): string {
  return names.map((name) => `(global-name ${quoted(name)})`).join(' ');
}

/** The folders around a path, up to the writable one that it lies in. */
function around(path: string, writable: readonly string[]): readonly string[] {
  const parent = path.slice(0, path.lastIndexOf('/'));
  const isInside = writable.some((root) => parent === root || parent.startsWith(`${root}/`));
  return isInside ? [parent, ...around(parent, writable)] : [];
}

/** A string of the profile's language. */
function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`;
}
