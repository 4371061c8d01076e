// Landlock (landlock(7)) and the filter of calls for machines where bubblewrap or user namespaces are missing. Nothing
// compiled is needed: Perl, which Debian cannot be without, makes the system calls and then becomes the program. Its
// rules only add up, so nothing can be taken out of a writable folder: what is protected there is put back afterwards.

import { readdirSync } from 'node:fs';
import type { Backend, Enclosure, Wrapped } from './backend.ts';
import { RUN_FOLDERS } from './bubblewrap.ts';
import { limited } from './limits.ts';
import type { Architecture } from './seccomp.ts';

export interface LandlockOptions {
  readonly perl: string;
  /** Of the kernel: what the rules can be about. At least 3, which covers truncation. */
  readonly abi: number;
  readonly architecture: Architecture;
  filter(options: { readonly unixSockets: boolean; readonly internet: boolean }): Uint8Array;
}

/** LANDLOCK_ACCESS_FS_*: everything that changes something (WRITE_FILE, REMOVE_*, MAKE_*, REFER, TRUNCATE). */
const WRITING = 0x7ff2;
/** Those of them that a file, and not a folder, may have a rule about: WRITE_FILE, TRUNCATE. */
const WRITING_FILE = 0x4002;
/** READ_FILE, READ_DIR; and for a file. */
const READING = 0xc;
const READING_FILE = 0x4;
/** LANDLOCK_ACCESS_NET_BIND_TCP and CONNECT_TCP, from ABI 4. */
const TCP = 3;
/** LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET and SIGNAL, from ABI 6. */
const SCOPES = 3;

/** Those that every program writes to; there is none of them on no Linux. */
const DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/tty', '/dev/ptmx'];

/** Said by the helper alone, on the way to exit status 126. */
const COMPLAINT = 'crab-landlock: ';

/** The number of prctl(2); Perl knows none by name. */
const PRCTL: Readonly<Record<Architecture, number>> = { x64: 157, arm64: 167 };

/**
 * Arguments: prctl, TCP, scopes, the filter in hexadecimal, how many paths may be written, how many only read, the
 * paths, the program. A path to read that has gone meanwhile is no loss.
 */
const HELPER = String.raw`
use strict;
sub fail { print STDERR "${COMPLAINT}$_[0]: $!\n"; exit 126 }
my ($prctl, $tcp, $scopes, $filter, $writable, $readable) = splice(@ARGV, 0, 6);
my $attr = pack("Q", ${WRITING | READING});
$attr .= pack("Q", $tcp) if $tcp || $scopes;
$attr .= pack("Q", $scopes) if $scopes;
my $rules = syscall(444, $attr, length($attr), 0);
fail("no rule set") if $rules < 0;
for my $index (1 .. $writable + $readable) {
  my ($path, $isRead, $handle) = (shift @ARGV, $index > $writable);
  sysopen($handle, $path, 010000000) or $isRead ? next : fail("$path");
  my $access = $isRead ? ${READING} : ${WRITING | READING};
  $access &= ${WRITING_FILE | READING_FILE} unless -d $handle;
  my $rule = pack("Ql", $access, fileno($handle));
  fail("no rule for $path") if syscall(445, $rules, 1, $rule, 0) < 0;
  close($handle);
}
fail("no_new_privs") if syscall($prctl, 38, 1, 0, 0, 0) < 0;
fail("restriction") if syscall(446, $rules, 0) < 0;
my $program = pack("H*", $filter);
my $fprog = pack("S x![P] P", length($program) / 8, $program);
fail("filter") if syscall($prctl, 22, 2, $fprog, 0, 0) < 0;
exec { $ARGV[0] } @ARGV;
fail("exec $ARGV[0]");
`;

export function landlock(options: LandlockOptions): Backend {
  return {
    name: 'landlock',
    covers: false,
    deniesLikeOthers: true,
    bridges: false,
    narrows: true,
    gaps: [
      'other processes can be seen',
      'folders around hidden files cannot be listed',
      'protected files are put back only afterwards',
    ],
    wrap: (argv, _cwd, enclosure) => wrap(argv, enclosure, options),
    failure: (output) => new RegExp(`^${COMPLAINT}([^\\n]+)\\n?$`).exec(output)?.[1],
  };
}

function wrap(
  argv: readonly string[],
  enclosure: Enclosure,
  { perl, abi, architecture, filter }: LandlockOptions,
): Wrapped {
  const { writable, hidden, temporary, reach, limits, unixSockets, shown } = enclosure;
  const isOpen = reach === 'all';
  const bytes = filter({ unixSockets: unixSockets && isOpen, internet: isOpen });
  const written = [...writable, temporary, ...DEVICES];
  const roots = enclosure.readable && [...enclosure.readable, ...RUN_FOLDERS, '/proc', ...shown];
  const read = readable(
    hidden.map(({ path }) => path),
    roots,
  );
  return {
    argv: [
      perl,
      '-e',
      HELPER,
      String(PRCTL[architecture]),
      String(!isOpen && abi >= 4 ? TCP : 0),
      String(abi >= 6 ? SCOPES : 0),
      Buffer.from(bytes).toString('hex'),
      String(written.length),
      String(read.length),
      ...written,
      ...read,
      ...limited(argv, limits, { isBesideOthers: true }),
    ],
    env: { TMPDIR: temporary, TMP: undefined, TEMP: undefined },
  };
}

/**
 * What may be read, as the largest folders that hold nothing hidden. Of `/proc` only what is about the machine: the
 * environments of other processes hold keys. Links are left out, since what they name has a rule of its own or none.
 * `roots`: of these alone.
 */
function readable(hidden: readonly string[], roots?: readonly string[]): readonly string[] {
  const paths: string[] = [];
  const isAround = (path: string) => hidden.some((one) => one.startsWith(`${path}/`));
  const expand = (folder: string) => {
    for (const entry of list(folder === '' ? '/' : folder)) {
      const path = `${folder}/${entry.name}`;
      if (entry.isSymbolicLink() || hidden.includes(path) || path === '/dev') continue;
      if (folder === '/proc' && /^\d+$/.test(entry.name)) continue;
      add(path);
    }
  };
  const add = (path: string) => {
    if (hidden.some((one) => path === one || path.startsWith(`${one}/`))) return;
    if (path === '/proc' || isAround(path)) expand(path);
    else paths.push(path);
  };
  if (roots === undefined) expand('');
  else for (const root of roots) add(root);
  return [...paths, '/dev/random', '/dev/urandom', '/dev/pts'];
}

function list(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
