// The filter is run by a small machine here, so that the program for a processor that this one is not is tested, too;
// what the kernel makes of it is the matrix's business.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Architecture, type FilterOptions, seccompProgram } from './seccomp.ts';

interface Call {
  readonly number: number;
  readonly args?: readonly number[];
  readonly arch?: number;
}

const ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
const CLOSED: FilterOptions = { unixSockets: false, internet: true };

const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;
const ENOSYS = 0x00050026;
const KILL = 0x80000000;

/** Classic BPF as seccomp(2) restricts it. */
function run(program: Uint8Array, architecture: Architecture, { number, args = [], arch }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number, true);
  data.setUint32(4, arch ?? ARCH[architecture], true);
  for (const [index, value] of args.entries())
    data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, BigInt(value)), true);
  const view = new DataView(program.buffer, program.byteOffset);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const k = view.getUint32(at * 8 + 4, true);
    const jump = (taken: boolean) => view.getUint8(at * 8 + (taken ? 2 : 3));
    switch (view.getUint16(at * 8, true)) {
      case 0x20:
        accumulator = data.getUint32(k, true);
        break;
      case 0x15:
        at += jump(accumulator === k);
        break;
      case 0x35:
        at += jump(accumulator >= k);
        break;
      case 0x45:
        at += jump((accumulator & k) !== 0);
        break;
      case 0x06:
        return k;
      default:
        throw new Error(`no such instruction at ${at}`);
    }
  }
  throw new Error('the program runs out');
}

function verdicts(architecture: Architecture, calls: Readonly<Record<string, Call>>, options = CLOSED) {
  const program = seccompProgram(architecture, options);
  return Object.fromEntries(
    Object.entries(calls).map(([name, call]) => [name, run(program, architecture, call)]),
  );
}

test('on x86-64 what reaches out of the sandbox is refused and the rest is not', () => {
  assert.deepEqual(
    verdicts('x64', {
      read: { number: 0 },
      ptrace: { number: 101 },
      mount: { number: 165 },
      unshare: { number: 272, args: [0x10000000] },
      keyctl: { number: 250 },
      bpf: { number: 321 },
      userfaultfd: { number: 323 },
      io_uring_setup: { number: 425 },
      fork: { number: 57 },
      thread: { number: 56, args: [0x3d0f00] },
      userNamespace: { number: 56, args: [0x10000011] },
      clone3: { number: 435 },
      windowSize: { number: 16, args: [0, 0x5413] },
      typing: { number: 16, args: [0, 0x5412] },
      typingWithHighBits: { number: 16, args: [0, 0x1_0000_5412] },
      unixSocket: { number: 41, args: [1, 1] },
      unixPair: { number: 53, args: [1, 1] },
      internet: { number: 41, args: [2, 1] },
      vsock: { number: 41, args: [40, 1] },
      x32: { number: 0x40000000 + 101 },
      otherMachine: { number: 26, arch: 0x40000003 },
    }),
    {
      read: ALLOW,
      ptrace: EPERM,
      mount: EPERM,
      unshare: EPERM,
      keyctl: EPERM,
      bpf: EPERM,
      userfaultfd: EPERM,
      io_uring_setup: EPERM,
      fork: ALLOW,
      thread: ALLOW,
      userNamespace: EPERM,
      clone3: ENOSYS,
      windowSize: ALLOW,
      typing: EPERM,
      typingWithHighBits: EPERM,
      unixSocket: EPERM,
      unixPair: ALLOW,
      internet: ALLOW,
      vsock: EPERM,
      x32: ENOSYS,
      otherMachine: KILL,
    },
  );
});

test('on arm64 the same calls have their own numbers', () => {
  assert.deepEqual(
    verdicts('arm64', {
      read: { number: 63 },
      ptrace: { number: 117 },
      mount: { number: 40 },
      thread: { number: 220, args: [0x3d0f00] },
      userNamespace: { number: 220, args: [0x10000011] },
      typing: { number: 29, args: [0, 0x5412] },
      unixSocket: { number: 198, args: [1, 1] },
      unixPair: { number: 199, args: [1, 1] },
      // ioperm on x86-64, an ordinary call here.
      clockGettime: { number: 113 },
    }),
    {
      read: ALLOW,
      ptrace: EPERM,
      mount: EPERM,
      thread: ALLOW,
      userNamespace: EPERM,
      typing: EPERM,
      unixSocket: EPERM,
      unixPair: ALLOW,
      clockGettime: ALLOW,
    },
  );
});

test('what the options name is lifted or added, and nothing else', () => {
  const sockets = {
    unix: { number: 41, args: [1, 1] },
    inet: { number: 41, args: [2, 1] },
    inet6: { number: 41, args: [10, 2] },
    packet: { number: 41, args: [17, 3] },
  };
  assert.deepEqual(verdicts('x64', sockets, { unixSockets: true, internet: true }), {
    unix: ALLOW,
    inet: ALLOW,
    inet6: ALLOW,
    packet: EPERM,
  });
  assert.deepEqual(verdicts('x64', sockets, { unixSockets: false, internet: false }), {
    unix: EPERM,
    inet: EPERM,
    inet6: EPERM,
    packet: EPERM,
  });
});
