// What can destroy without a way back, take privileges, make itself permanent or run code that nobody has
// read. Judged on the words of one simple command, so that the same letters inside quotes are only text.

import { dangerous, type Effect } from './effect.ts';
import type { Word } from './tokenize.ts';
import { programName } from './wrappers.ts';

const BY_NAME: Readonly<Record<string, string>> = {
  'sudo doas su pkexec run0': 'runs with the rights of another user',
  'dd shred wipefs fdisk parted sfdisk mkswap': 'writes to devices',
  'chmod chown chgrp chattr setfacl setcap': 'changes who may use files',
  'eval exec source . trap': 'runs code that is put together on the way',
  'xargs parallel': 'runs a program on what it reads',
  'crontab at batch launchctl': 'makes itself permanent',
  nohup: 'goes on after the session has ended',
  'reboot shutdown halt poweroff init telinit': 'stops the machine',
  'mount umount swapoff insmod modprobe rmmod iptables nft ufw': 'changes the machine',
  'useradd userdel usermod passwd visudo groupadd chpasswd': 'changes who may use the machine',
  'nc ncat netcat socat telnet': 'sends data to the network unseen',
};
const DANGEROUS = new Map(
  Object.entries(BY_NAME).flatMap(([names, reason]) =>
    names.split(' ').map((name) => [name, reason] as const),
  ),
);

const SHELL = /^(?:ba|da|z|k|c|tc|fi|a)?sh$/;
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
  const named = DANGEROUS.get(name) ?? (name.startsWith('mkfs') ? 'makes a file system' : undefined);
  if (named !== undefined) return dangerous(named);
  const values = args.map(({ value }) => value);
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
  if (name === 'find') {
    if (values.some((value) => /^-(?:exec|execdir|ok|okdir)$/.test(value)))
      return 'runs a program on what find finds';
    return values.includes('-delete') ? 'deletes what find finds' : undefined;
  }
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
  /^(?:LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|CI|DEBUG|VERBOSE|LOG_LEVEL|RUST_LOG|RUST_BACKTRACE|NODE_ENV|PORT|HOST|GIT_TERMINAL_PROMPT|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED)\+?=/;
const POWERFUL_VARIABLE =
  /^(?:LD_\w+|DYLD_\w+|\w*PATH|\w*_OPTIONS|\w*OPTS?|\w*_COMMAND|\w*PAGER|\w*EDITOR|\w*BROWSER|SHELL|BASH_\w+|ENV|IFS|GIT_\w+|PYTHON\w+|PERL5\w+|RUBY\w+|NODE_\w+|npm_config_\w+|RIPGREP_\w+|LESSOPEN|RUSTC\w*|CC|CXX|HOME|PS4|PROMPT\w*)\+?=/i;

export type Assigned = 'harmless' | 'unknown' | 'dangerous';

/** What a variable set for one command can do to it. */
export function judgeAssignment({ value }: Word): Assigned {
  if (HARMLESS_VARIABLE.test(value) || /^(?:GIT_|MAN)?PAGER=(?:cat)?$/.test(value)) return 'harmless';
  return POWERFUL_VARIABLE.test(value) ? 'dangerous' : 'unknown';
}
