// Which programs the kernel starts, where the person names them: Landlock (landlock(7)) around the program alone, inside of
// whatever else confines it, so that limits and the network's bridge need no place in the list. It is one system call away
// from each program and is inherited by all that it starts. An interpreter that is in the list runs what it can read: that
// is what it is for.

import { ToolFailure } from '../../core/errors.ts';
import { findProgram } from './programs.ts';

/** Said by the helper alone, on the way to exit status 126. */
const COMPLAINT = 'crab-executable: ';

/** What the kernel itself opens to start a program that is linked to libraries. */
const LOADERS = [
  '/lib64/ld-linux-x86-64.so.2',
  '/lib/ld-linux-aarch64.so.1',
  '/lib/ld-musl-x86_64.so.1',
  '/lib/ld-musl-aarch64.so.1',
] as const;

/** The number of prctl(2); Perl knows none by name. */
const PRCTL: Readonly<Record<string, number>> = { x64: 157, arm64: 167 };

/** Arguments: prctl, how many paths, the paths, the program. LANDLOCK_ACCESS_FS_EXECUTE is 1. */
const HELPER = String.raw`
use strict;
sub fail { print STDERR "${COMPLAINT}$_[0]: $!\n"; exit 126 }
my ($prctl, $count) = splice(@ARGV, 0, 2);
my @paths = splice(@ARGV, 0, $count);
my ($program) = $ARGV[0] =~ m{/} ? $ARGV[0] : grep { -x } map { "$_/$ARGV[0]" } split(/:/, $ENV{PATH});
fail("no program $ARGV[0]") unless defined $program;
my $attr = pack("Q", 1);
my $rules = syscall(444, $attr, length($attr), 0);
fail("no Landlock") if $rules < 0;
for my $path (@paths, $program) {
  sysopen(my $handle, $path, 010000000) or next;
  my $rule = pack("Ql", 1, fileno($handle));
  fail("no rule for $path") if syscall(445, $rules, 1, $rule, 0) < 0;
}
fail("no_new_privs") if syscall($prctl, 38, 1, 0, 0, 0) < 0;
fail("restriction") if syscall(446, $rules, 0) < 0;
exec { $program } @ARGV;
fail("exec $program");
`;

/** `argv`, and of what it starts only the programs in `executable`. Throws `ToolFailure` where that cannot be kept. */
export function onlyExecutable(argv: readonly string[], executable: readonly string[]): readonly string[] {
  const perl = findProgram('perl');
  const prctl = PRCTL[process.arch];
  if (perl === undefined || prctl === undefined)
    throw new ToolFailure(
      'Nothing was run: the settings name the programs that may be started (executable), which takes Perl and Landlock.',
    );
  const paths = [...LOADERS, ...executable];
  return [perl, '-e', HELPER, String(prctl), String(paths.length), ...paths, ...argv];
}

/** Why nothing was run, where the output says that the list could not be kept. */
export function executableFailure(output: string): string | undefined {
  return new RegExp(`^${COMPLAINT}([^\\n]+)\\n?$`).exec(output)?.[1];
}
