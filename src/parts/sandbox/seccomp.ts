// The system calls that a confined program does without, as a program for the kernel's filter (seccomp(2), classic BPF
// over `struct seccomp_data`). It is assembled here byte by byte, so that nothing has to be compiled or installed.
// Every rule ends where it begins: jumps of classic BPF reach 255 instructions, and a table that grows past that would
// fall through to "allow" without a word.

export type Architecture = 'x64' | 'arm64';

export interface FilterOptions {
  /** Sockets of this machine (AF_UNIX). A pair of connected ones, which reaches nobody, is always allowed. */
  readonly unixSockets: boolean;
  /** AF_INET and AF_INET6. Off where no network namespace keeps programs from the network. */
  readonly internet: boolean;
}

/** AUDIT_ARCH_* of linux/audit.h. */
const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** On x86-64 these numbers are the x32 ABI, another way to the same calls. */
const X32_BIT = 0x40000000;

/** The numbers on [x86-64, arm64], from the kernel's own headers; -1 where there is no such call. */
const REFUSED: Readonly<Record<string, readonly [number, number]>> = {
  // Other processes: their memory, their descriptors.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  pidfd_getfd: [438, 438],
  kcmp: [312, 272],
  // Another view of the file system, which no path rule covers.
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  chroot: [161, 51],
  open_by_handle_at: [304, 265],
  fanotify_init: [300, 262],
  setns: [308, 268],
  unshare: [272, 97],
  // Keys of the session.
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  // Parts of the kernel that most escapes went through; io_uring also passes by every filter of calls.
  bpf: [321, 280],
  userfaultfd: [323, 282],
  perf_event_open: [298, 241],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  iopl: [172, -1],
  ioperm: [173, -1],
  syslog: [103, 116],
  vhangup: [153, 58],
};

const CLONE = [56, 220] as const;
const CLONE3 = [435, 435] as const;
const IOCTL = [16, 29] as const;
const SOCKET = [41, 198] as const;

/** CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID and NET of linux/sched.h. */
const NEW_NAMESPACE = 0x7e020000;
/** Characters typed into somebody else's terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const;

const EPERM = 1;
const ENOSYS = 38;

const ALLOW = 0x7fff0000;
const KILL_PROCESS = 0x80000000;
const errno = (code: number) => 0x00050000 + code;

/** Offsets in `struct seccomp_data`; the low half of an argument, both machines being little-endian. */
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number) => 16 + 8 * index;

const LOAD = 0x20;
const JUMP_EQUAL = 0x15;
const JUMP_ABOVE_OR_EQUAL = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;

type Instruction = readonly [code: number, jumpTrue: number, jumpFalse: number, k: number];

/** The filter as `struct sock_filter[]`, the form that `bwrap --seccomp` and prctl(PR_SET_SECCOMP) take. */
export function seccompProgram(architecture: Architecture, options: FilterOptions): Uint8Array {
  const of = (numbers: readonly [number, number]) => numbers[architecture === 'x64' ? 0 : 1];
  const allowed = [
    AF.netlink,
    ...(options.unixSockets ? [AF.unix] : []),
    ...(options.internet ? [AF.inet, AF.inet6] : []),
  ];
  const program: readonly Instruction[] = [
    [LOAD, 0, 0, ARCH],
    [JUMP_EQUAL, 1, 0, AUDIT_ARCH[architecture]],
    [RETURN, 0, 0, KILL_PROCESS],
    [LOAD, 0, 0, NUMBER],
    ...(architecture === 'x64' ? when([JUMP_ABOVE_OR_EQUAL, X32_BIT], errno(ENOSYS)) : []),
    // Its flags lie in memory, where a filter cannot look; every C library then falls back on clone.
    ...when([JUMP_EQUAL, of(CLONE3)], errno(ENOSYS)),
    ...Object.values(REFUSED).flatMap((numbers) =>
      of(numbers) < 0 ? [] : when([JUMP_EQUAL, of(numbers)], errno(EPERM)),
    ),
    ...inCall(of(CLONE), 0, when([JUMP_ANY_BIT, NEW_NAMESPACE], errno(EPERM))),
    ...inCall(of(IOCTL), 1, [
      ...when([JUMP_EQUAL, TIOCSTI], errno(EPERM)),
      ...when([JUMP_EQUAL, TIOCLINUX], errno(EPERM)),
    ]),
    // An allow-list: families such as AF_VSOCK reach past every network namespace.
    ...inCall(of(SOCKET), 0, [
      ...allowed.flatMap((family) => when([JUMP_EQUAL, family], ALLOW)),
      [RETURN, 0, 0, errno(EPERM)],
    ]),
    [RETURN, 0, 0, ALLOW],
  ];
  return encode(program);
}

function when([code, k]: readonly [number, number], outcome: number): readonly Instruction[] {
  return [
    [code, 0, 1, k],
    [RETURN, 0, 0, outcome],
  ];
}

/** `body` looks at one argument of one call; what it lets through is that call's business no more. */
function inCall(number: number, index: number, body: readonly Instruction[]): readonly Instruction[] {
  const inside: readonly Instruction[] = [[LOAD, 0, 0, argument(index)], ...body, [RETURN, 0, 0, ALLOW]];
  return [[JUMP_EQUAL, 0, inside.length, number], ...inside];
}

function encode(program: readonly Instruction[]): Uint8Array {
  const bytes = new Uint8Array(program.length * 8);
  const view = new DataView(bytes.buffer);
  for (const [index, [code, jumpTrue, jumpFalse, k]] of program.entries()) {
    view.setUint16(index * 8, code, true);
    view.setUint8(index * 8 + 2, jumpTrue);
    view.setUint8(index * 8 + 3, jumpFalse);
    view.setUint32(index * 8 + 4, k, true);
  }
  return bytes;
}

export function architectureOf(name: string): Architecture | undefined {
  return name === 'x64' || name === 'arm64' ? name : undefined;
}
