// Ends what this process has started when it is killed and can end nothing itself. A shell of its own session reads from
// a pipe whose other end is here: no signal can keep the end of it from coming. One for all programs and not one around
// each, so that a command costs a line in a pipe, and its terminal, its jobs and its exit status are its own.

import { type ChildProcess, spawn } from 'node:child_process';
import type { Tree } from './tree.ts';

/**
 * Reads `*`, something begins, `+ PID` and `- PID`, groups that are there and gone, and `=`, nothing of all that is left. At the end of the input
 * it ends with it, or kills the groups that are left, and on
 * Linux whoever has the mark (its argument) in its environment, with their children: again until a look finds nobody, since
 * one may have been starting. A group of zombies that nobody collects is found each time.
 */
const SCRIPT = `
trap '' HUP INT QUIT TERM
groups=' '
unswept=
while read -r sign pid; do
  case $sign in
    '*') unswept=1;;
    =) unswept=;;
    +) groups="$groups$pid ";;
    -) groups="\${groups%%" $pid "*} \${groups#*" $pid "}";;
  esac
done
[ -n "$unswept" ] || exit 0
end() {
  for task in /proc/"$1"/task/*/children; do
    children=
    read -r children <"$task"
    set -- "$@" $children
  done
  kill -KILL "$1"
  shift
  for child; do end "$child"; done
}
exec 2>/dev/null
looks=0
nobody=0
while [ $looks -lt 40 ] && [ $nobody -lt 2 ]; do
  looks=$((looks + 1))
  nobody=$((nobody + 1))
  for file in $(grep -lsF -e "CRAB_CALL=$1" -e ";$1" /proc/[0-9]*/environ); do
    nobody=0
    file=\${file%/environ}
    end "\${file#/proc/}"
  done
  for pid in $groups; do kill -KILL -- "-$pid" && nobody=0; done
  sleep 0.05
done
`;

/** And never the person's own: a folder of a project may be in that, with a `grep` in it. */
const PATH = '/usr/bin:/bin:/run/current-system/sw/bin';

export class Reaper {
  readonly #mark: string;
  /** Main processes that lead a group. */
  readonly #groups = new Set<number>();
  #starting = 0;
  #shell: ChildProcess | undefined;
  #hasFailed = false;

  /** `mark` is what every marker of a tree begins with. */
  constructor(mark: string) {
    this.#mark = mark;
  }

  /** Before anything is started that needs it. Whoever fails to start leaves it on its guard, which costs a look at the end. */
  begin(): void {
    if (this.#hasFailed || process.platform === 'win32') return;
    if (this.#shell === undefined) this.#start();
    this.#starting++;
    this.#tell('*\n');
  }

  /** What was begun runs. */
  add({ pid }: Tree): void {
    this.#starting--;
    this.#groups.add(pid);
    this.#tell(`+ ${pid}\n`);
  }

  /** Nothing of it is left. */
  remove({ pid }: Tree): void {
    if (this.#groups.delete(pid)) this.#tell(`- ${pid}\n`);
  }

  /** Nothing is left of any program that is over. */
  swept(): void {
    if (this.#groups.size + this.#starting === 0) this.#tell('=\n');
  }

  #tell(line: string): void {
    this.#shell?.stdin?.write(line);
  }

  #start(): void {
    const shell = spawn('/bin/sh', ['-c', SCRIPT, 'crab-reaper', this.#mark], {
      cwd: '/',
      // It carries no mark: whoever ends the tree that this process belongs to need not wait for it.
      env: { PATH },
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    });
    shell.once('error', () => {
      this.#hasFailed = true;
    });
    // Another one takes its place with the next program.
    shell.once('exit', () => {
      this.#shell = undefined;
    });
    shell.unref();
    const { stdin } = shell;
    stdin?.on('error', () => {});
    if (stdin !== null && 'unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
    this.#shell = shell;
    for (const pid of this.#groups) this.#tell(`*\n+ ${pid}\n`);
  }
}
