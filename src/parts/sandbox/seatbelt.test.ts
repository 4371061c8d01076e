// No macOS here: the profile is compared as text, and the order of its rules is what is promised, since the last that
// matches wins.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Enclosure } from './backend.ts';
import { profile, seatbelt } from './seatbelt.ts';

const ENCLOSURE: Enclosure = {
  writable: ['/Users/me/work', '/private/var/crab'],
  covered: ['/Users/me/work/.git/hooks', '/Users/me/work/AGENTS.md', '/Users/me/work/deep/in/.vscode'],
  hidden: [{ path: '/Users/me/.ssh', kind: 'folder' }],
  temporary: '/private/var/crab/tmp',
  shown: [],
  reach: 'none',
  unixSockets: false,
  limits: {},
};

test('a profile denies everything, allows the writable folders, and takes out of them what is protected', () => {
  assert.equal(
    profile(ENCLOSURE),
    `(version 1)
(deny default)
(allow process-exec process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read ipc-posix-shm ipc-posix-sem pseudo-tty)
(deny sysctl-read (sysctl-name-prefix "kern.procargs"))
(allow mach-lookup (global-name "com.apple.PowerManagement.control") (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.logd") (global-name "com.apple.system.logger") (global-name "com.apple.system.notification_center") (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership"))
(allow file-read* file-test-existence file-ioctl)
(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))
(allow file-write* (subpath "/Users/me/work") (subpath "/private/var/crab") (subpath "/private/var/crab/tmp"))
(deny file-write* (subpath "/Users/me/work/.git/hooks") (subpath "/Users/me/work/AGENTS.md") (subpath "/Users/me/work/deep/in/.vscode"))
(deny file-read* file-write* (subpath "/Users/me/.ssh"))
(deny file-write-unlink (literal "/Users/me/work/.git") (literal "/Users/me/work") (literal "/Users/me/work/deep/in") (literal "/Users/me/work/deep"))`,
  );
});

test('the network is allowed only where all of it is', () => {
  assert.doesNotMatch(profile(ENCLOSURE), /network/);
  assert.doesNotMatch(profile(ENCLOSURE), /com\.apple\.networkd|SecurityServer|launchservices/);
  const open = profile({ ...ENCLOSURE, reach: 'all' });
  assert.match(open, /\(allow network\* system-socket\)$/);
  assert.match(open, /\(global-name "com\.apple\.trustd\.agent"\)/);
});

test('a path cannot end the string that it stands in', () => {
  const text = profile({
    ...ENCLOSURE,
    writable: ['/tmp/a") (allow default) ("\\'],
    covered: [],
    hidden: [],
  });
  assert.match(text, /\(subpath "\/tmp\/a\\"\) \(allow default\) \(\\"\\\\"\)/);
});

test('the program is given the profile, its limits and its folder for temporary files', () => {
  const { argv, env } = seatbelt({ program: '/usr/bin/sandbox-exec' }).wrap(['ls'], '/Users/me/work', {
    ...ENCLOSURE,
    limits: { cpuSeconds: 5 },
  });
  assert.deepEqual(
    [argv[0], argv[1], ...argv.slice(3)],
    [
      '/usr/bin/sandbox-exec',
      '-p',
      '/bin/sh',
      '-c',
      '{ ulimit -t 5; } 2>/dev/null || :\nexec "$@"',
      'sh',
      'ls',
    ],
  );
  assert.equal(env['TMPDIR'], '/private/var/crab/tmp');
});
