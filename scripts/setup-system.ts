// Installs with apt what the tests drive and npm cannot bring. Does nothing, quickly, when all of it is there.

import { spawnSync } from 'node:child_process';

interface Requirement {
  /** Exits with 0 when it is there. */
  readonly probe: readonly [string, ...string[]];
  /** The Debian package. */
  readonly package: string;
}

const REQUIREMENTS: readonly Requirement[] = [
  { probe: ['git', '--version'], package: 'git' },
  { probe: ['bwrap', '--version'], package: 'bubblewrap' },
  { probe: ['tmux', '-V'], package: 'tmux' },
  { probe: ['/usr/bin/time', '--version'], package: 'time' },
  { probe: ['chromium', '--version'], package: 'chromium' },
  { probe: ['sh', '-c', 'command -v Xvfb'], package: 'xvfb' },
  { probe: ['xdotool', '-v'], package: 'xdotool' },
  { probe: ['import', '-version'], package: 'imagemagick' },
  { probe: ['xterm', '-version'], package: 'xterm' },
  { probe: ['systemd-notify', '--version'], package: 'systemd' },
];

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

function isThere({ probe: [command, ...args] }: Requirement): boolean {
  return succeeds(command, args);
}

function packagesOf(requirements: readonly Requirement[]): string {
  return requirements.map((one) => one.package).join(' ');
}

/** What to put before `apt-get`: nothing for root, `sudo` for somebody who has it. */
function privilege(missing: readonly Requirement[]): readonly string[] {
  if (!succeeds('apt-get', ['--version'])) {
    throw new Error(`install ${packagesOf(missing)} with your system's package manager; apt-get is not here`);
  }
  if (process.getuid?.() === 0) return [];
  if (succeeds('sudo', ['-n', 'true']) || (process.stdin.isTTY && succeeds('sudo', ['--version']))) {
    return ['sudo'];
  }
  throw new Error(`run \`apt-get install ${packagesOf(missing)}\` as root; sudo cannot be used here`);
}

function apt(prefix: readonly string[], args: readonly string[]): void {
  const [command = 'apt-get', ...rest] = [
    ...prefix,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'apt-get',
    ...args,
  ];
  const { status } = spawnSync(command, rest, { stdio: ['inherit', 'inherit', 'inherit'] });
  if (status !== 0) throw new Error(`apt-get ${args.join(' ')} ended with status ${status}`);
}

function setUp(): void {
  const missing = REQUIREMENTS.filter((one) => !isThere(one));
  if (missing.length === 0) {
    console.log(`system packages: ${packagesOf(REQUIREMENTS)} are there`);
    return;
  }
  const prefix = privilege(missing);
  apt(prefix, ['update', '-q']);
  apt(prefix, ['install', '-y', '-q', '--no-install-recommends', ...missing.map((one) => one.package)]);
  const absent = missing.filter((one) => !isThere(one));
  if (absent.length > 0) throw new Error(`${packagesOf(absent)} was installed and still does not answer`);
}

try {
  setUp();
} catch (error) {
  console.error(`setup:system: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
