// What can destroy without a way back, take privileges, make itself permanent or run code that nobody has
// read. Judged on the words of one simple command, so that the same letters inside quotes are only text.

import { dangerous, type Effect } from './effect.ts';
import type { Word } from './script.ts';
import { programName } from './wrappers.ts';

const BY_NAME: Readonly<Record<string, string>> = {
  'sudo doas su pkexec run0': 'runs with the rights of another user',
  'dd shred wipefs fdisk parted sfdisk mkswap': 'writes to devices',
  'chmod chown chgrp chattr setfacl setcap': 'changes who may use files',
  'eval exec source . trap': 'runs code that is put together on the way',
  parallel: 'runs a program on what it reads',
  'crontab at batch launchctl': 'makes itself permanent',
  nohup: 'goes on after the session has ended',
  'reboot shutdown halt poweroff init telinit': 'stops the machine',
  'mount umount swapoff insmod modprobe rmmod iptables nft ufw': 'changes the machine',
  'useradd userdel usermod passwd visudo groupadd groupdel chpasswd chsh adduser deluser gpasswd vipw':
    'changes who may use the machine',
  'nc ncat netcat socat telnet': 'sends data to the network unseen',
  'security keyring pass gpg gpg2 ssh-keygen ssh-add secret-tool': 'uses keys and passwords',
  'chroot nsenter unshare setpriv capsh runuser systemd-run machinectl':
    'leaves the place where it is confined',
  'debugfs hdparm nvme cryptsetup lvremove vgremove pvremove zpool zfs dmsetup losetup': 'changes disks',
  'sysctl ldconfig depmod update-alternatives update-rc.d chkconfig dpkg-reconfigure loginctl hostnamectl timedatectl':
    'changes the machine',
  'bind enable hash complete': 'changes what the names of commands mean',
};
const DANGEROUS = new Map(
  Object.entries(BY_NAME).flatMap(([names, reason]) =>
    names.split(' ').map((name) => [name, reason] as const),
  ),
);

/** Arguments with which a program that changes things only shows how they are. */
const SHOWS: Readonly<Record<string, RegExp>> = {
  bind: /^-[lpPsSvVX]$/,
  chkconfig: /^--list$/,
  complete: /^(?:-p(?: [\w./-]+)*)?$/,
  crontab: /^-l$/,
  enable: /^(?:-[aps]+)?$/,
  // With nothing to run, only the redirections count.
  exec: /^$/,
  fdisk: /^-l$/,
  hash: /^(?:-[lr]|-t(?: [\w.-]+)+)?$/,
  hostnamectl: /^(?:status)?$/,
  kill: /^(?:-[lL](?: \w+)?|-0(?: \d+)+)$/,
  loginctl:
    /^(?:(?:list-(?:sessions|users|seats)|show-(?:session|user|seat)|(?:session|user)-status)(?: [\w-]+)*)?$/,
  launchctl: /^(?:list(?: [\w.-]+)?|version)$/,
  ldconfig: /^-p$/,
  losetup: /^(?:-a|-l|--all|--list)?$/,
  mount: /^(?:-l ?)?(?:-t [\w,]+)?$/,
  nft: /^list (?:ruleset|tables|chains|sets)$/,
  security: /^list-keychains$/,
  'ssh-keygen': /^-lv?f [^- ]\S*$|^-l -f [^- ]\S*$/,
  sysctl: /^(?:-[aAbeNn]+ ?)*(?:\w[\w./*-]*(?: |$))*$/,
  timedatectl: /^(?:status|show|list-timezones)?$/,
  trap: /^(?:-[lp]|-p(?: \w+)+|-(?: \w+)+)?$/,
  ufw: /^status(?: verbose| numbered)?$/,
  'update-alternatives': /^(?:--(?:list|display|query) [\w.+-]+|--get-selections)$/,
  zfs: /^list$/,
  zpool: /^(?:list|status)$/,
};

export function onlyShows(program: string, args: readonly Word[]): boolean {
  const shows = Object.hasOwn(SHOWS, program) ? SHOWS[program] : undefined;
  if (shows === undefined || args.some(({ open, glob }) => open !== undefined || glob)) return false;
  return shows.test(args.map(({ value }) => value).join(' '));
}

export const SHELL = /^(?:ba|da|z|k|c|tc|fi|a)?sh$/;
/** The options that carry a program in the command itself. */
const INLINE: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:python[\d.]*|pypy[\d.]*)$/, /^-[A-Za-z]*c/],
  [/^(?:node|nodejs|bun|tsx)$/, /^(?:-[ep]|-pe|--eval|--print)/],
  [/^perl[\d.]*$/, /^-[A-Za-z0]*[eE]/],
  [/^(?:ruby|lua|luajit|Rscript|osascript|julia|elixir|groovy)$/, /^-[A-Za-z]*e/],
  [/^php$/, /^-[rBRE]/],
  [/^deno$/, /^eval$/],
  [/^(?:g|m|n)?awk$/, /\bsystem\s*\(/],
];
const INTERPRETER = /^(?:python[\d.]*|pypy[\d.]*|node|nodejs|bun|deno|perl|ruby|php|lua|osascript)$/;
/** Options that make a reader start another program. */
const STARTS_PROGRAM =
  /^--(?:pre|compress-program|checkpoint-action|to-command|use-compress-program|rsh-command|hostname-bin|upload-pack|receive-pack|ext-diff|open-files-in-pager)(?:=|$)/;
const SENDS = /^(?:--upload-file|--form|--data(?:-\w+)?|--post-(?:file|data)|--body-(?:file|data))/;

/** Whatever they are asked for travels to another machine. */
const TELLS_NETWORK =
  /^(?:curl|wget|dig|nslookup|host|ping6?|whois|ftp|sftp|scp|rsync|http|https|xh|aws|gh)$/;

export interface Surroundings {
  /** Its input is what another command prints. */
  readonly piped: boolean;
  /** It stands in a chain of `&&`, `||` or `;`, where a person reads over it. */
  readonly chained: boolean;
}

export function findDanger(words: readonly Word[], { piped, chained }: Surroundings): Effect | undefined {
  const [first, ...args] = words;
  if (first === undefined) return undefined;
  const name = programName(first).replace(/^.*\//, '');
  const named = onlyShows(name, args)
    ? undefined
    : (DANGEROUS.get(name) ?? (name.startsWith('mkfs') ? 'makes a file system' : undefined));
  if (named !== undefined) return dangerous(named);
  const values = args.map(({ value }) => value);
  if (TELLS_NETWORK.test(name) && args.some(({ raw }) => /\$\(|`/.test(raw)))
    return dangerous('sends what another command prints to the network');
  const reason =
    removal(name, values, chained) ??
    inlineCode(name, values) ??
    (piped && readsProgram(name, values) ? 'runs what another command prints' : undefined) ??
    sending(name, values) ??
    (values.some((value) => STARTS_PROGRAM.test(value))
      ? 'starts a program that hides in an option'
      : undefined);
  return reason === undefined ? undefined : dangerous(reason);
}

function removal(name: string, values: readonly string[], chained: boolean): string | undefined {
  if (name === 'find') return values.includes('-delete') ? 'deletes what find finds' : undefined;
  if (name !== 'rm') return undefined;
  if (values.some((value) => /^-[a-zA-Z]*[rRf]/.test(value) || /^--(?:r|f|no-p)/.test(value)))
    return 'deletes without asking or with everything below';
  return chained ? 'deletes files in a chain of commands' : undefined;
}

function inlineCode(name: string, values: readonly string[]): string | undefined {
  for (const [program, option] of INLINE)
    if (program.test(name) && values.some((value) => option.test(value)))
      return 'runs code that stands in the command';
  if (SHELL.test(name) && values.some((value) => /^-[a-z]*c/.test(value)))
    return 'runs code that stands in the command';
  return undefined;
}

/** With no file to run, a shell or an interpreter runs its input. */
function readsProgram(name: string, values: readonly string[]): boolean {
  if (!SHELL.test(name) && !INTERPRETER.test(name)) return false;
  return SHELL.test(name) || values.every((value) => value.startsWith('-'));
}

function sending(name: string, values: readonly string[]): string | undefined {
  if (name !== 'curl' && name !== 'wget') return undefined;
  return values.some((value) => SENDS.test(value) || (name === 'curl' && /^-[TFd]/.test(value)))
    ? 'sends data to the network'
    : undefined;
}

const HARMLESS_VARIABLE =
  /^(?:LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|CI|DEBUG|VERBOSE|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|NODE_ENV|PORT|HOST|GIT_TERMINAL_PROMPT|GIT_OPTIONAL_LOCKS|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|PYTHONIOENCODING|PYTHONHASHSEED|\w*BLOCK_?SIZE|TIME_STYLE|QUOTING_STYLE|GREP_COLORS?|(?:LS|JQ|EXA|EZA|TREE)_COLORS|LSCOLORS|TABSIZE|MANWIDTH|BAT_(?:STYLE|THEME)|GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)|GIT_CONFIG_NOSYSTEM|GIT_(?:LITERAL|ICASE|GLOB|NOGLOB)_PATHSPECS|GIT_ADVICE)\+?=/;
/** Powerful variables with a value that changes only how something is shown. */
const HARMLESS_VALUE =
  /^(?:(?:GIT_|MAN)?PAGER=(?:cat)?|GIT_CONFIG_(?:GLOBAL|SYSTEM)=\/dev\/null|LESS=-?[eEFgGiIKmMnNqRsSwWX]+|(?:OPTIND|SECONDS|RANDOM)=\d+)$/;
/** Names of languages are looked up as files, and may come with formats of their own. */
const LANGUAGE_ELSEWHERE = /^(?:LANG|LC_)\w*\+?=.*\//;
const POWERFUL_VARIABLE =
  /^(?:LD_\w+|DYLD_\w+|\w*PATH|\w*_OPTIONS|\w*OPTS?|\w*_COMMAND|\w*PAGER|\w*EDITOR|\w*BROWSER|SHELL|BASH_\w+|ENV|IFS|GIT_\w+|PYTHON\w+|PERL5\w+|RUBY\w+|NODE_\w+|npm_config_\w+|RIPGREP_\w+|LESSOPEN|RUSTC\w*|CC|CXX|LD|AR|HOME|PS\d|PROMPT\w*|EXINIT|VIMINIT|GREP_\w+|TAR_\w+|LESS\w*|MORE|MAN\w*|\w*_?RC|\w*CONFIG\w*|\w+HOME|XDG_\w+|\w*HOOKS?\w*|\w*ASKPASS|\w*_PROXY|DOCKER_\w+|KUBE\w+|AWS_\w+|GLOBIGNORE|SHELLOPTS|OPENSSL_\w+|SSL_\w+|\w*FLAGS|CARGO_\w+|GO\w+|JAVA_\w+|_JAVA_\w+|JDK_\w+|MAVEN_\w+|GRADLE_\w+|PIP_\w+|UV_\w+|BUNDLE_\w+|GEM_\w+|DENO_\w+|BUN_\w+|YARN_\w+|GCONV_PATH|MALLOC_\w+|GLIBC_\w+|TERMINFO\w*|TERMCAP|HOSTALIASES|RES_\w+|LOCALDOMAIN|NLSPATH|HISTFILE|MAIL\w*|FPATH|ZDOTDIR|INPUTRC|TMOUT|EXEC\w*|OLDPWD|PWD|CDPATH|ARGV0|DYLD\w*|LOCPATH|TMPDIR|SUDO_\w+|DISPLAY|DBUS_\w+|EDITOR|VISUAL|(?:https?|ftp|all|no)_proxy)\+?=/;

/** What is assigned to these is computed, and computing can run what it holds: `RANDOM='a[$(id)]'`. */
const COMPUTED_VARIABLE =
  /^(?:RANDOM|SRANDOM|SECONDS|LINENO|HISTCMD|OPTIND|BASHPID|EPOCHSECONDS|EPOCHREALTIME|UID|EUID|PPID)\+?=/;

export type Assigned = 'harmless' | 'unknown' | 'dangerous';

/** What a variable set for one command can do to it. */
export function judgeAssignment({ value }: Word): Assigned {
  if (LANGUAGE_ELSEWHERE.test(value)) return 'dangerous';
  if (HARMLESS_VARIABLE.test(value) || HARMLESS_VALUE.test(value)) return 'harmless';
  return POWERFUL_VARIABLE.test(value) || COMPUTED_VARIABLE.test(value) ? 'dangerous' : 'unknown';
}

/** Whether a variable can change what runs, whatever it is set to. */
export function isPowerful(name: string): boolean {
  return POWERFUL_VARIABLE.test(`${name}=`) || COMPUTED_VARIABLE.test(`${name}=`);
}
