// What a git command does, by subcommand and option (git 2.50). Git can be told to start programs by its
// configuration and by a few options; those are dangerous or unknown, never overlooked.

import { dangerous, type Effect, outwardPaths, reads, unknown, unknownOption, writes } from './effect.ts';
import { type Options, readOptions } from './options.ts';
import type { Word } from './tokenize.ts';

const GLOBAL =
  '-C@ -c: --no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --icase-pathspecs';
const HARMLESS_SETTING =
  /^(?:color\.[\w.]+|core\.quotepath|core\.abbrev|core\.pager=(?:cat|)$|user\.(?:name|email)|advice\.\w+|log\.\w+|diff\.(?:renames|noprefix|mnemonicprefix|context|algorithm)|commit\.gpgsign=false|tag\.gpgsign=false|init\.defaultbranch|safe\.directory|column\.ui|status\.\w+)(?:=|$)/i;

const DIFF =
  '-p -u -U: -s -w -b -B? -M? -C? -D -R -a -z -r -t -m -c -S: -G: -O: -l: -W -# --patch --no-patch --stat? --shortstat --numstat --dirstat? ' +
  '--summary --name-only --name-status --raw --compact-summary --cached --staged --unified: --minimal --patience --histogram ' +
  '--diff-algorithm: --color? --no-color --color-words? --word-diff? --word-diff-regex: --color-moved? --no-renames --find-renames? ' +
  '--find-copies? --find-copies-harder --diff-filter: --pickaxe-all --pickaxe-regex --relative? --text --ignore-space-at-eol ' +
  '--ignore-cr-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context: --function-context ' +
  '--exit-code --quiet --no-ext-diff --no-textconv --submodule? --src-prefix: --dst-prefix: --no-prefix --full-index --binary --abbrev? ' +
  '--no-index --merge-base --check --output> --no-index --ignore-submodules? --base --ours --theirs';
const LOG =
  `${DIFF} -n: -i -E -F -P -g -L: --oneline --graph --all --branches? --tags? --remotes? --glob: --decorate? --no-decorate --max-count: ` +
  '--skip: --since: --after: --until: --before: --author: --committer: --grep: --all-match --invert-grep --regexp-ignore-case ' +
  '--fixed-strings --extended-regexp --perl-regexp --merges --no-merges --first-parent --follow --reverse --date: --pretty? --format: ' +
  '--abbrev-commit --no-abbrev-commit --topo-order --date-order --author-date-order --simplify-by-decoration --full-history --cc ' +
  '--left-right --cherry --cherry-pick --cherry-mark --ancestry-path? --boundary --walk-reflogs --relative-date ' +
  '--parents --children --count --source --no-notes --notes? --mailmap --use-mailmap --diff-merges: --not --dense --sparse --objects';

const READING: Readonly<Record<string, string>> = {
  status:
    '-s -b -u? -v -z --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --ignore-submodules? --show-stash ' +
    '--ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --column? --no-column',
  'log show whatchanged reflog': LOG,
  'diff diff-tree diff-index diff-files': `${DIFF} --stdin --root --no-commit-id`,
  'rev-list': LOG,
  shortlog: `${LOG} -s -e -w? --numbered --summary --email --group:`,
  blame:
    '-b -c -C? -e -f -l -L: -M? -n -p -s -t -w --root --show-stats --porcelain --line-porcelain --incremental --date: --color-lines ' +
    '--color-by-age --show-name --show-number --show-email --since: --first-parent --reverse --abbrev: --ignore-rev: --ignore-revs-file@',
  'rev-parse':
    '--abbrev-ref? --short? --verify -q --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir ' +
    '--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --show-superproject-working-tree ' +
    '--all --branches? --tags? --remotes? --revs-only --no-revs --flags --no-flags --git-path: --show-object-format?',
  'ls-files':
    '-c -d -m -o -i -s -u -k -z -t -v -x: -X@ --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory ' +
    '--no-empty-directory --exclude: --exclude-from@ --exclude-per-directory: --exclude-standard --error-unmatch --full-name --abbrev? --eol --deduplicate --format: --recurse-submodules',
  'ls-tree':
    '-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:',
  describe:
    '--all --tags --contains --abbrev: --candidates: --exact-match --debug --long --match: --exclude: --always --first-parent --dirty? --broken?',
  'cat-file': '-t -s -e -p --batch? --batch-check? --batch-all-objects --unordered --buffer',
  grep:
    '-a -i -I -w -v -h -H -E -G -P -F -n -l -L -z -o -c -p -W -q -r -e: -f@ -m: -A: -B: -C: -# --text --ignore-case --word-regexp --invert-match ' +
    '--extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only ' +
    '--files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --function-context ' +
    '--context: --after-context: --before-context: --and --or --not --all-match --quiet --cached --untracked --no-index --recurse-submodules --max-depth: --threads: --max-count:',
  'for-each-ref show-ref':
    '--format: --sort: --count: --points-at: --merged: --no-merged: --contains: --no-contains: --heads --branches --tags --verify -q --quiet --hash? --abbrev? -d --dereference -s --head',
  'merge-base': '-a --all --octopus --independent --is-ancestor --fork-point',
  'name-rev': '--tags --refs: --all --name-only --no-undefined --always',
  'check-ignore check-attr':
    '-q -v -z -n -a --quiet --verbose --stdin --non-matching --no-index --all --cached',
  'count-objects version': '-v -H --verbose --human-readable --build-options',
};

const WRITING: Readonly<Record<string, string>> = {
  add: '-n -v -f -i -p -u -A -N --dry-run --verbose --force --patch --update --all --no-all --intent-to-add --refresh --ignore-errors --renormalize --chmod:',
  commit:
    '-a -p -m: -F@ -C: -c: -s -S? -n -v -q -e -o -i -u? -t@ --all --patch --message: --file@ --reuse-message: --reedit-message: --fixup: --squash: ' +
    '--reset-author --author: --date: --signoff --no-signoff --no-verify --allow-empty --allow-empty-message --amend --no-edit --edit --only ' +
    '--include --quiet --verbose --dry-run --short --gpg-sign? --no-gpg-sign --no-status --status --trailer: --cleanup: --no-post-rewrite',
  mv: '-k -n -v --dry-run --verbose',
  rm: '-n -r -q --cached --dry-run --ignore-unmatch --quiet',
  merge:
    '-m: -n -q -v -S? --no-commit --commit --ff --no-ff --ff-only --squash --no-squash --abort --continue --quit --stat --no-stat --message: -s: -X: --strategy: --strategy-option: --no-edit --edit --signoff --log? --allow-unrelated-histories --autostash --no-verify',
  rebase:
    '-i -m -q -v -r? -X: -s: --onto: --continue --skip --abort --quit --interactive --autosquash --no-autosquash --autostash --keep-base --merge --root --no-verify --rebase-merges? --update-refs --committer-date-is-author-date',
  'cherry-pick revert':
    '-e -n -x -s -m: -X: -S? --edit --no-edit --no-commit --signoff --mainline: --continue --skip --abort --quit --ff --allow-empty --keep-redundant-commits --strategy: --strategy-option:',
  switch:
    '-c: -d -t -q -m --create: --detach --track? --no-track --guess --no-guess --quiet --merge --orphan:',
  init: '-b: -q --initial-branch: --quiet --bare',
  notes: '-m: -F@',
};

const NETWORK = new Set(['fetch', 'pull', 'clone', 'ls-remote', 'send-email', 'request-pull', 'submodule']);
const DESTRUCTIVE: Readonly<Record<string, string>> = {
  'filter-branch': 'rewrites the whole history',
  'filter-repo': 'rewrites the whole history',
  'update-ref': 'moves references by hand',
  'fast-import': 'writes objects by hand',
  prune: 'deletes objects for good',
  gc: 'deletes objects for good',
  replace: 'puts other objects in the place of recorded ones',
  daemon: 'serves the repository',
  instaweb: 'serves the repository',
  difftool: 'runs a program that git is configured with',
  mergetool: 'runs a program that git is configured with',
};

/** The subcommand and what follows: `git -C x --no-pager push` is as much a `git push`. */
export function gitSubcommand(args: readonly string[]): readonly string[] {
  let at = 0;
  while (args[at]?.startsWith('-'))
    at += /^(?:-[Cc]|--(?:git-dir|work-tree|namespace|exec-path|config-env))$/.test(args[at] ?? '') ? 2 : 1;
  return args.slice(at);
}

export function gitEffect(args: readonly Word[]): Effect {
  const before = readOptions(args, GLOBAL, true);
  const at = args.length - before.operands.length;
  const setting = args
    .slice(0, at)
    .find((word, index) => args[index - 1]?.value === '-c' && !HARMLESS_SETTING.test(word.value));
  if (setting !== undefined || args.slice(0, at).some(({ value }) => /^-c./.test(value)))
    return dangerous('gives git a setting that can start any program');
  if (before.unknown !== undefined) return unknownOption('git', before.unknown);
  const [subcommand, ...rest] = before.operands;
  if (subcommand === undefined) return reads(before.reads);
  const effect = subcommandEffect(subcommand.value, rest);
  return { ...effect, reads: [...before.reads, ...effect.reads] };
}

function subcommandEffect(name: string, args: readonly Word[]): Effect {
  const own = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
  const special = own?.(args);
  if (special !== undefined) return special;
  if (Object.hasOwn(DESTRUCTIVE, name)) return dangerous(DESTRUCTIVE[name] ?? '');
  if (NETWORK.has(name)) return unknown('reaches the network');
  const reading = listFor(READING, name);
  const list = reading ?? listFor(WRITING, name);
  if (list === undefined) return unknown(`runs git ${name}, which is not known`);
  const options = readOptions(args, list);
  if (options.unknown !== undefined) return unknownOption(`git ${name}`, options.unknown);
  if (reading === undefined) return changes(args, options);
  const paths = [...options.reads, ...outwardPaths(options.operands)];
  return options.writes.length > 0 ? writes(options.writes, 'writes a file', paths) : reads(paths);
}

function listFor(table: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(table).find(([names]) => names.split(' ').includes(name))?.[1];
}

function changes(args: readonly Word[], options?: Options): Effect {
  return writes([], 'changes the repository', [...(options?.reads ?? []), ...outwardPaths(args)]);
}

function has(args: readonly Word[], pattern: RegExp): boolean {
  return args.some(({ value }) => pattern.test(value));
}

/** Subcommands that read, write or destroy by their arguments. Undefined leaves it to the tables. */
const OWN: Readonly<Record<string, (args: readonly Word[]) => Effect | undefined>> = {
  push(args) {
    const forced =
      has(args, /^(?:-[a-zA-Z]*[fd][a-zA-Z]*|--force.*|--mirror|--delete|--prune)$/) || has(args, /^[+:]./);
    return forced ? dangerous('overwrites or deletes what others have') : unknown('reaches the network');
  },
  reset(args) {
    if (has(args, /^--(?:hard|merge|keep)$/)) return dangerous('throws away uncommitted work');
    const { unknown: strange } = readOptions(
      args,
      '-q -p -N --soft --mixed --quiet --patch --intent-to-add --no-refresh',
    );
    return strange === undefined ? changes(args) : unknownOption('git reset', strange);
  },
  clean(args) {
    const { seen, unknown: strange } = readOptions(
      args,
      '-n -d -x -X -q -f -e: --dry-run --quiet --exclude: --force',
    );
    if (strange === undefined && (seen.has('-n') || seen.has('--dry-run'))) return reads(outwardPaths(args));
    return dangerous('deletes files that git does not keep');
  },
  checkout(args) {
    const {
      seen,
      operands,
      unknown: strange,
    } = readOptions(args, '-b: -q -t -d --track? --no-track --detach --quiet --guess --orphan:');
    if (strange !== undefined || has(args, /^--$/) || operands.length > 1)
      return seen.has('-b') && strange === undefined
        ? changes(args)
        : dangerous('may throw away uncommitted work');
    // A name with a dot may be a file, and then its changes are lost.
    return seen.has('-b') || !has(operands, /\./)
      ? changes(args)
      : dangerous('may throw away uncommitted work');
  },
  restore(args) {
    const { seen, unknown: strange } = readOptions(args, '-S -q -s: --staged --quiet --source:');
    const staged = strange === undefined && (seen.has('-S') || seen.has('--staged'));
    return staged ? changes(args) : dangerous('may throw away uncommitted work');
  },
  switch: (args) =>
    has(args, /^(?:-[a-z]*[fC][a-z]*|--force.*|--discard-changes)$/)
      ? dangerous('may throw away uncommitted work')
      : undefined,
  rm: (args) =>
    has(args, /^(?:-[a-z]*f[a-z]*|--force)$/) ? dangerous('deletes files with their changes') : undefined,
  mv: (args) => (has(args, /^(?:-[a-z]*f[a-z]*|--force)$/) ? dangerous('overwrites files') : undefined),
  rebase: (args) =>
    has(args, /^(?:-x.*|--exec.*)$/) ? dangerous('runs a program on every commit') : undefined,
  bisect: (args) => (args[0]?.value === 'run' ? dangerous('runs a program on every commit') : undefined),
  submodule: (args) =>
    args[0]?.value === 'foreach' ? dangerous('runs a program in every submodule') : undefined,
  branch(args) {
    if (has(args, /^(?:-[a-z]*[DMCf][a-zDMCf]*|--force)$/)) return dangerous('deletes or moves a branch');
    const list =
      '-a -r -v -q -i --all --remotes --verbose --list --show-current --contains? --no-contains? --merged? --no-merged? --points-at: ' +
      '--sort: --format: --color? --no-color --column? --no-column --abbrev: --no-abbrev --ignore-case -l';
    const { seen, operands, unknown: strange } = readOptions(args, list);
    const listing = [
      '-a',
      '-r',
      '-l',
      '--all',
      '--remotes',
      '--list',
      '--contains',
      '--merged',
      '--no-merged',
      '--no-contains',
    ];
    if (strange === undefined && (operands.length === 0 || listing.some((name) => seen.has(name))))
      return reads([]);
    const other = readOptions(
      args,
      `${list} -d -m -c -u: -t --delete --move --copy --track? --no-track --set-upstream-to: --unset-upstream`,
    );
    return other.unknown === undefined ? changes(args) : unknownOption('git branch', other.unknown);
  },
  tag(args) {
    if (has(args, /^(?:-[a-z]*[df][a-z]*|--delete|--force)$/)) return dangerous('deletes or moves a tag');
    const list =
      '-l -n? -i --list --contains? --no-contains? --merged? --no-merged? --points-at: --sort: --format: --column? --color?';
    const { seen, operands, unknown: strange } = readOptions(args, list);
    if (strange === undefined && (operands.length === 0 || seen.has('-l') || seen.has('--list')))
      return reads([]);
    const other = readOptions(args, '-a -s -m: -F@ --annotate --sign --message: --file@ --no-sign');
    return other.unknown === undefined ? changes(args, other) : unknownOption('git tag', other.unknown);
  },
  remote(args) {
    const { operands, unknown: strange } = readOptions(args, '-v --verbose --all --push');
    const [verb] = operands;
    if (strange === undefined && (verb === undefined || verb.value === 'get-url')) return reads([]);
    return unknown('changes or asks other repositories');
  },
  stash(args) {
    const [verb, ...rest] = args;
    if (verb?.value === 'drop' || verb?.value === 'clear') return dangerous('deletes stashed work');
    if (verb?.value === 'list' || verb?.value === 'show') return subcommandEffect('log', rest);
    const list =
      '-u -a -k -p -q -m: -S --include-untracked --all --keep-index --no-keep-index --patch --quiet --message: --staged --index';
    const { unknown: strange } = readOptions(args, list);
    return strange === undefined ? changes(args) : unknownOption('git stash', strange);
  },
  worktree(args) {
    const [verb, ...rest] = args;
    if (verb?.value === 'list') return reads([]);
    return verb?.value === 'add' && !has(rest, /^(?:-[a-zB]*[fB].*|--force)$/)
      ? writes(
          rest.filter(({ value }) => value.includes('/')),
          'makes a work tree',
        )
      : unknown('changes work trees');
  },
  config(args) {
    const {
      seen,
      operands,
      unknown: strange,
    } = readOptions(
      args,
      '-l -z --list --get --get-all --get-regexp --get-urlmatch --global --local --system --worktree --show-origin --show-scope --name-only --null --includes --type: --bool --int --path --default:',
    );
    const verb = operands[0]?.value;
    const asks = ['-l', '--list', '--get', '--get-all', '--get-regexp', '--get-urlmatch'].some((name) =>
      seen.has(name),
    );
    if (strange === undefined && (asks || verb === 'list' || verb === 'get' || operands.length === 1))
      return reads([]);
    const key = operands.find(({ value }) => value.includes('.'))?.value ?? '';
    if (HARMLESS_SETTING.test(key) && !/^(?:core\.pager|safe)/i.test(key))
      return unknown('changes the configuration of git');
    return dangerous('changes a setting of git that can start any program');
  },
  reflog(args) {
    const verb = args[0]?.value;
    if (verb === 'expire' || verb === 'delete' || verb === 'drop')
      return dangerous('deletes the way back to old commits');
    return verb === 'show' ? subcommandEffect('log', args.slice(1)) : undefined;
  },
  notes: (args) =>
    args.length === 0 || args[0]?.value === 'list' || args[0]?.value === 'show' ? reads([]) : undefined,
  'cat-file': (args) =>
    has(args, /^--(?:textconv|filters)/) ? unknown('runs a filter that git is configured with') : undefined,
};
