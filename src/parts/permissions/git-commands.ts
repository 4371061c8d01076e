// What a git command does, by subcommand and option (git 2.50). Git can be told to start programs by its
// configuration and by a few options; those are dangerous or unknown, never overlooked.

import { dangerous, type Effect, outwardPaths, reads, unknown, unknownOption, writes } from './effect.ts';
import { type Options, readOptions } from './options.ts';
import { startsWithGlob, textWord, type Word } from './script.ts';
import { isSecretFile } from './secret-files.ts';

const GLOBAL =
  '--git-dir: --work-tree: --no-advice --glob-pathspecs --noglob-pathspecs --no-lazy-fetch -C@ -c: --no-pager -P --no-optional-locks --literal-pathspecs --no-replace-objects --icase-pathspecs';
const HARMLESS_SETTING =
  /^(?:color\.[\w.]+|core\.quotepath|core\.abbrev|core\.pager=(?:cat|)$|user\.(?:name|email)|advice\.\w+|log\.(?!showsignature)\w+|diff\.(?:renames|noprefix|mnemonicprefix|context|algorithm)|commit\.gpgsign=false|tag\.gpgsign=false|init\.defaultbranch|column\.\w+|status\.\w+|grep\.(?:linenumber|column|patterntype|extendedregexp|fullname)|blame\.(?:coloring|date|showemail|showroot|blankboundary)|(?:format\.pretty|pretty\.\w+)(?!=.*%(?:g|\(signature))|versionsort\.\w+|(?:branch|tag)\.sort|core\.(?:ignorecase|precomposeunicode|commentchar|preloadindex|untrackedcache|whitespace|filemode|symlinks)|diff\.(?:colormoved|colormovedws|submodule|ignoresubmodules|relative|indentheuristic|renamelimit|interhunkcontext|statgraphwidth|statnamewidth|wordregex|wserrorhighlight|suppressblankempty|dirstat)|pager\.\w+=(?:false|true|cat|)$|core\.(?:fsmonitor=false|hookspath=\/dev\/null)$|gc\.auto=0$|maintenance\.auto=false$)(?:=|$)/i;

const DIFF =
  '-p -u -U: -s -w -b -B? -M? -C? -D -R -a -z -r -t -m -c -S: -G: -O@ -l: -W -# --patch --no-patch --stat? --shortstat --numstat --dirstat? ' +
  '--summary --name-only --name-status --raw --compact-summary --cached --staged --unified: --minimal --patience --histogram ' +
  '--diff-algorithm: --color? --no-color --color-words? --word-diff? --word-diff-regex: --color-moved? --no-renames --find-renames? ' +
  '--find-copies? --find-copies-harder --diff-filter: --pickaxe-all --pickaxe-regex --relative? --text --ignore-space-at-eol ' +
  '--ignore-cr-at-eol --ignore-space-change --ignore-all-space --ignore-blank-lines --inter-hunk-context: --function-context ' +
  '--exit-code --quiet --no-ext-diff --no-textconv --submodule? --src-prefix: --dst-prefix: --no-prefix --full-index --binary --abbrev? ' +
  '--no-index --merge-base --check --output> --no-index --ignore-submodules? --base --ours --theirs ' +
  '-q -I: -X? --patch-with-stat --patch-with-raw --cumulative --dirstat-by-file? --ignore-matching-lines: --stat-width: --stat-name-width: ' +
  '--stat-graph-width: --stat-count: --rename-empty --no-rename-empty --indent-heuristic --no-indent-heuristic --anchored: --color-moved-ws: ' +
  '--no-color-moved --no-color-moved-ws --ws-error-highlight: --irreversible-delete --break-rewrites? --find-object: --line-prefix: --default-prefix ' +
  '--output-indicator-new: --output-indicator-old: --output-indicator-context: --rotate-to: --skip-to: --ita-invisible-in-index ' +
  '--ita-visible-in-index --no-relative --combined-all-paths --no-abbrev --no-exit-code --no-function-context';
const LOG =
  `${DIFF} -n: -i -E -F -P -g -L: --oneline --graph --all --branches? --tags? --remotes? --glob: --decorate? --no-decorate --max-count: ` +
  '--skip: --since: --after: --until: --before: --author: --committer: --grep: --all-match --invert-grep --regexp-ignore-case ' +
  '--fixed-strings --extended-regexp --perl-regexp --merges --no-merges --first-parent --follow --reverse --date: --pretty? --format: ' +
  '--abbrev-commit --no-abbrev-commit --topo-order --date-order --author-date-order --simplify-by-decoration --full-history --cc ' +
  '--left-right --cherry --cherry-pick --cherry-mark --ancestry-path? --boundary --walk-reflogs --relative-date ' +
  '--clear-decorations --decorate-refs: --decorate-refs-exclude: --max-parents: --min-parents: --no-min-parents --no-max-parents --max-age: ' +
  '--min-age: --remove-empty --exclude: --exclude-hidden: --reflog --alternate-refs --single-worktree --ignore-missing --left-only --right-only ' +
  '--no-cherry --merge --simplify-merges --show-pulls --show-linear-break? --no-walk? --do-walk --header --no-commit-header --commit-header ' +
  '--encoding: --expand-tabs? --no-expand-tabs --show-notes? --no-show-notes --standard-notes --log-size --full-diff --no-graph --no-show-signature ' +
  '--dd --no-diff-merges --basic-regexp --since-as-filter: --in-commit-order --no-object-names --object-names --disk-usage? --objects-edge ' +
  '--unpacked --filter: --no-filter --missing: --timestamp --exclude-first-parent-only --grep-reflog: --bisect --bisect-all --bisect-vars ' +
  '--indexed-objects --no-mailmap --no-use-mailmap --no-abbrev --show-all --stdin ' +
  '--parents --children --count --source --no-notes --notes? --mailmap --use-mailmap --diff-merges: --not --dense --sparse --objects';

const READING: Readonly<Record<string, string>> = {
  status:
    '-s -b -u? -v -z --short --branch --porcelain? --long --verbose --untracked-files? --ignored? --ignore-submodules? --show-stash ' +
    '--null --ahead-behind --no-ahead-behind --renames --no-renames --find-renames? --column? --no-column',
  'log show whatchanged reflog': LOG,
  'diff diff-tree diff-index diff-files': `${DIFF} --stdin --root --no-commit-id`,
  'rev-list': LOG,
  shortlog: `-s -n -e -w? -c --numbered --summary --email --group: --committer ${LOG.replace('-n: ', '')}`,
  blame:
    '-b -c -C? -e -f -l -L: -M? -n -p -s -t -w --root --show-stats --porcelain --line-porcelain --incremental --date: --color-lines ' +
    '--color-by-age --show-name --show-number --show-email --since: --first-parent --reverse --abbrev: --ignore-rev: --ignore-revs-file@ --progress --no-progress --minimal --score-debug -S@ --contents@ --no-abbrev --diff-algorithm: --blank-boundary --encoding:',
  'rev-parse':
    '--abbrev-ref? --short? --verify -q --quiet --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir ' +
    '--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --show-superproject-working-tree ' +
    '--all --branches? --tags? --remotes? --revs-only --no-revs --flags --no-flags --git-path: --show-object-format? --path-format: --local-env-vars --is-shallow-repository --show-ref-format --default: --sq --not ' +
    '--disambiguate: --exclude: --exclude-hidden: --glob: --since: --after: --until: --before: --shared-index-path --end-of-options',
  'ls-files':
    '-c -d -m -o -i -s -u -k -z -t -v -x: -X@ --cached --deleted --modified --others --ignored --stage --unmerged --killed --directory ' +
    '--no-empty-directory --exclude: --exclude-from@ --exclude-per-directory: --exclude-standard --error-unmatch --full-name --abbrev? --eol --deduplicate --format: --recurse-submodules -f --empty-directory --resolve-undo --with-tree: --debug --sparse',
  'ls-tree':
    '-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:',
  describe:
    '--all --tags --contains --abbrev: --candidates: --exact-match --debug --long --match: --exclude: --always --first-parent --dirty? --broken?',
  'cat-file':
    '-t -s -e -p -z -Z --batch? --batch-check? --batch-command? --batch-all-objects --unordered --buffer --follow-symlinks --use-mailmap --mailmap --no-mailmap --allow-unknown-type',
  grep:
    '-a -i -I -w -v -h -H -E -G -P -F -n -l -L -z -o -c -p -W -q -r -e: -f@ -m: -A: -B: -C: -# --text --ignore-case --word-regexp --invert-match ' +
    '--extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only ' +
    '--files-without-match --null --only-matching --count --color? --no-color --break --heading --show-function --function-context ' +
    '--context: --after-context: --before-context: --and --or --not --all-match --quiet --cached --untracked --no-index --recurse-submodules --max-depth: --threads: --max-count: --exclude-standard --no-exclude-standard --recursive --no-recursive --full-name --no-full-name --no-textconv --no-column',
  'for-each-ref show-ref':
    '--format: --sort: --count: --points-at: --merged: --no-merged: --contains: --no-contains: --heads --branches --tags --verify -q --quiet --hash? --abbrev? -d --dereference -s --head --shell -p --perl --python --tcl --color? --ignore-case --omit-empty --include-root-refs --exclude: --exists --stdin',
  fsck: '--full --strict --unreachable --dangling --no-dangling --no-reflogs --connectivity-only --progress --no-progress --verbose -v --tags --root --cache --reflogs --name-objects --no-full --references --no-references',
  archive: '-l -v --list --verbose --format: --prefix:',
  help: '-a -c -g -m --all --config --guides --man --no-external-commands --no-aliases --user-interfaces --developer-interfaces',
  'symbolic-ref var': '-q --quiet --short --no-recurse -l',
  'cherry show-branch':
    '-v --verbose --abbrev? -a -r --all --remotes --current --list --topics --sha1-name --no-name --color? --no-color --more: --merge-base --independent ' +
    '--topo-order --sparse --date-order -g? --reflog?',
  'range-diff': `${DIFF} --creation-factor: --no-dual-color --dual-color --notes? --no-notes --left-only --right-only --diff-merges:`,
  annotate:
    '-b -l -t -f -n -e -p -w -s -c -C? -M? -L: --date: --root --porcelain --line-porcelain --incremental --abbrev: --since:',
  'check-ref-format': '--branch --allow-onelevel --normalize',
  'interpret-trailers': '--parse --only-trailers --only-input --unfold --no-divider',
  stripspace: '-s -c --strip-comments --comment-lines',
  'hash-object': '-t: --stdin --stdin-paths --path: --no-filters --literally',
  'verify-pack': '-v -s --verbose --stat-only --object-format:',
  'show-index': '--object-format:',
  'merge-base': '-a --all --octopus --independent --is-ancestor --fork-point',
  'name-rev':
    '--tags --refs: --exclude: --all --name-only --no-undefined --undefined --always --stdin --annotate-stdin',
  'patch-id': '--stable --unstable --verbatim',
  'get-tar-commit-id': '',
  column: '--mode: --raw-mode: --width: --indent: --nl: --padding:',
  'check-mailmap': '--stdin --mailmap-file@ --mailmap-blob:',
  'fmt-merge-msg': '-F@ --file@ --log? --no-log -m: --message: --into-name:',
  'check-ignore check-attr':
    '-q -v -z -n -a --quiet --verbose --stdin --non-matching --no-index --all --cached --source:',
  apply:
    '--stat --numstat --summary --check -p: -C: --directory: --include: --exclude: -R --reverse --index --cached --3way -v --verbose -q --quiet -N -z --intent-to-add --whitespace: --ignore-space-change --ignore-whitespace --unidiff-zero --allow-overlap ' +
    '--inaccurate-eof --recount --allow-empty --no-add',
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
  if (/^--(?:exec-path|config-env)$/.test(before.unknown ?? ''))
    return dangerous('gives git a setting that can start any program');
  if (before.unknown !== undefined) return unknownOption('git', before.unknown);
  // Another folder brings settings of its own, and those name programs.
  if (
    before.given.some(
      ([name, { value, open }]) => name === '--git-dir' && (open !== undefined || value !== '.git'),
    )
  )
    return unknown('takes its settings from a folder that is named');
  const trees = before.given.flatMap(([name, value]) => (name === '--work-tree' ? [value] : []));
  const [subcommand, ...rest] = before.operands;
  if (subcommand === undefined) return reads(before.reads);
  if (!HAS_ONLY_READING_OPTIONS.has(subcommand.value) && hasLeadingGlob(rest))
    return unknown('gives git a pattern that could turn into an option');
  if (rest.some(({ value }) => ASKS_FOR_SIGNATURES.test(value)))
    return unknown('has signatures checked by the program that git is configured with');
  const effect = subcommandEffect(subcommand.value, rest);
  const shown = effect.kind === 'read' ? shownFiles(subcommand.value, rest) : [];
  return { ...effect, reads: [...before.reads, ...trees, ...effect.reads, ...shown] };
}

/** No option of theirs writes a file or starts a program. */
const HAS_ONLY_READING_OPTIONS = new Set(
  'status ls-files ls-tree check-ignore check-attr rev-parse add rm mv commit'.split(' '),
);
/** A format for commits, tags and branches that has them verified. */
const ASKS_FOR_SIGNATURES = /^--(?:format|pretty)=.*(?:%G|%\(signature)/s;
const SHOWS_CONTENT = new Set(
  'show diff blame annotate grep cat-file archive diff-tree diff-index diff-files'.split(' '),
);

/** Files that it shows, although they are named as a part of a commit, or lie where git would not look by itself. */
function shownFiles(name: string, args: readonly Word[]): readonly Word[] {
  const showsPatches =
    /^(?:log|whatchanged|reflog|stash)$/.test(name) && has(args, /^-(?:-patch|-cc|[a-z]*[pucmLWU])/);
  if (!SHOWS_CONTENT.has(name) && !showsPatches) return [];
  const elsewhere = has(args, /^--no-index$/);
  return args.flatMap((word) => {
    const { value } = word;
    if (value.startsWith('-') && !value.startsWith('-L')) return [];
    const path = value.replace(/^.*:(?=[^:]+$)/s, '');
    if (elsewhere) return [word];
    // Of a commit it is the name that tells, wherever the file would lie.
    return isSecretFile(path) ? [textWord(path.split('/').at(-1) ?? path)] : [];
  });
}

function hasLeadingGlob(args: readonly Word[]): boolean {
  const end = args.findIndex(({ value }) => value === '--');
  return args.slice(0, end === -1 ? args.length : end).some(startsWithGlob);
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

/** It only says what it would do, with no option about that does more than choose. */
function isRehearsal(args: readonly Word[], letters: string): boolean {
  const plain = new RegExp(
    `^(?:-[${letters}]+|--(?:dry-run|verbose|all|quiet|cached|ignore-unmatch|ignore-missing|ignore-removal|update|sparse)|--|[^-].*)$`,
  );
  return has(args, /^(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run)$/) && args.every(({ value }) => plain.test(value));
}

function has(args: readonly Word[], pattern: RegExp): boolean {
  return args.some(({ value }) => pattern.test(value));
}

function verifies(args: readonly Word[]): Effect {
  const [verb, ...options] = args;
  return verb?.value === 'verify' &&
    options.every(({ value }) => /^--(?:no-)?(?:shallow|progress)$/.test(value))
    ? reads([])
    : unknown('writes what git looks up faster');
}

const SECRET_SETTING = /extraheader|passw|secret|token/i;

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
  rm(args) {
    if (has(args, /^(?:-[a-z]*f[a-z]*|--force)$/)) return dangerous('deletes files with their changes');
    return isRehearsal(args, 'nrq') ? reads(outwardPaths(args)) : undefined;
  },
  commit: (args) =>
    args.length > 0 &&
    args.every(({ value }) => /^--(?:dry-run|short|porcelain|long|branch)$/.test(value)) &&
    has(args, /^--dry-run$/)
      ? reads([])
      : undefined,
  // Without one of these it changes the files.
  apply: (args) =>
    has(args, /^--(?:stat|numstat|summary|check)$/) && !has(args, /^--(?:apply|build-fake-ancestor.*)$/)
      ? undefined
      : unknown('changes files as a patch says'),
  'hash-object': (args) => (has(args, /^-[a-z]*w/) ? unknown('writes an object') : undefined),
  'interpret-trailers': (args) =>
    has(args, /^--parse$/) ? undefined : unknown('may run what git is configured with'),
  mv(args) {
    if (has(args, /^(?:-[a-z]*f[a-z]*|--force)$/)) return dangerous('overwrites files');
    return isRehearsal(args, 'nvk') ? reads(outwardPaths(args)) : undefined;
  },
  // Without it, it writes a file for each commit.
  'format-patch'(args) {
    const list = `${LOG.replace('-n: ', '')} -n --stdout --cover-letter --subject-prefix: --rfc? -N --no-numbered --numbered --start-number: -v: --reroll-count: --to: --cc: --signoff --no-signoff --signature: --no-signature --zero-commit --base: --keep-subject -k --no-binary --thread? --no-thread --attach? --inline?`;
    const { seen, operands, writes: written, unknown: strange } = readOptions(args, list);
    return strange === undefined && seen.has('--stdout') && written.length === 0
      ? reads(outwardPaths(operands))
      : unknown('writes patches');
  },
  bundle(args) {
    const [verb, ...rest] = args.filter(({ value }) => !/^(?:-q|--quiet)$/.test(value));
    const [file, ...references] = rest;
    const shows = verb?.value === 'verify' || verb?.value === 'list-heads';
    return shows && file !== undefined && !file.value.startsWith('-') && !has(references, /^-/)
      ? reads([file])
      : unknown('packs or unpacks commits');
  },
  rerere: (args) =>
    args.length === 1 && has(args, /^(?:status|diff|remaining)$/)
      ? reads([])
      : unknown('changes what was resolved'),
  'sparse-checkout': (args) =>
    args.length === 1 && has(args, /^list$/) ? reads([]) : unknown('changes which files are there'),
  'merge-file': (args) =>
    has(args, /^(?:-p|--stdout)$/) &&
    args.every(({ value }) =>
      /^(?:-[pq]|--stdout|--quiet|--ours|--theirs|--union|--diff3|[^-].*)$/.test(value),
    )
      ? reads(args.filter(({ value }) => !value.startsWith('-')))
      : unknown('changes files'),
  'commit-graph': verifies,
  'multi-pack-index': verifies,
  refs: (args) =>
    /^(?:list|exists|verify)$/.test(args[0]?.value ?? '')
      ? subcommandEffect('for-each-ref', args.slice(1))
      : undefined,
  prune: (args) =>
    has(args, /^(?:-n|--dry-run)$/) &&
    args.every(({ value }) => /^(?:-[nv]+|--dry-run|--verbose|--expire=\S+)$/.test(value))
      ? reads([])
      : undefined,
  rebase: (args) =>
    has(args, /^(?:-x.*|--exec.*)$/) ? dangerous('runs a program on every commit') : undefined,
  bisect(args) {
    if (args[0]?.value === 'run') return dangerous('runs a program on every commit');
    return /^(?:log|terms)$/.test(args[0]?.value ?? '') && args.length === 1 ? reads([]) : undefined;
  },
  submodule(args) {
    const [verb, ...rest] = args.filter(({ value }) => value !== '--quiet');
    if (verb?.value === 'foreach') return dangerous('runs a program in every submodule');
    const { unknown: strange } = readOptions(rest, '--cached --recursive --files -n: --summary-limit:');
    const shows = verb === undefined || verb.value === 'status' || verb.value === 'summary';
    return shows && strange === undefined ? reads([]) : undefined;
  },
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
    const lists = [
      '-l',
      '-n',
      '--list',
      '--contains',
      '--no-contains',
      '--merged',
      '--no-merged',
      '--points-at',
    ];
    if (strange === undefined && (operands.length === 0 || lists.some((name) => seen.has(name))))
      return reads([]);
    const other = readOptions(args, '-a -s -m: -F@ --annotate --sign --message: --file@ --no-sign');
    return other.unknown === undefined ? changes(args, other) : unknownOption('git tag', other.unknown);
  },
  remote(args) {
    const { operands, seen, unknown: strange } = readOptions(args, '-v -n --verbose --all --push');
    const [verb] = operands;
    if (
      strange === undefined &&
      (verb === undefined ||
        verb.value === 'get-url' ||
        (verb.value === 'show' && (operands.length === 1 || seen.has('-n'))))
    )
      return reads([]);
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
  grep: (args) =>
    has(args, /^(?:-[a-zA-Z]*O|--open-files)/) ? dangerous('starts a program on what it finds') : undefined,
  add: (args) => (isRehearsal(args, 'nvAu') ? reads(outwardPaths(args)) : undefined),
  worktree(args) {
    const [verb, ...rest] = args;
    if (verb?.value === 'remove' && has(rest, /^(?:-f+|--force)$/))
      return dangerous('throws away uncommitted work');
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
      reads: files,
      unknown: strange,
    } = readOptions(
      args,
      '-l -z --list --get --get-all --get-regexp --get-urlmatch --global --local --system --worktree --show-origin --show-scope --name-only --null --includes --no-includes --type: --bool --int --path --default: -t: --no-type --bool-or-int --bool-or-str --expiry-date --fixed-value --show-names --no-show-names --regexp --value: --url: --all -f@ --file@ --blob: --get-color --get-colorbool',
    );
    const verb = operands[0]?.value;
    if (/^(?:edit|set|unset|rename-section|remove-section)$/.test(verb ?? ''))
      return dangerous('changes a setting of git that can start any program');
    const asks = [
      '-l',
      '--list',
      '--get',
      '--get-all',
      '--get-regexp',
      '--get-urlmatch',
      '--get-color',
      '--get-colorbool',
    ].some((name) => seen.has(name));
    const asksKey = operands.length === 1 && verb?.includes('.') === true;
    if (seen.has('--blob')) return unknown('shows what a commit holds');
    if (asks || asksKey || verb === 'get')
      if (has(operands, SECRET_SETTING)) return unknown('shows a setting that may hold a secret');
    if (strange === undefined && (asks || verb === 'list' || verb === 'get' || asksKey)) return reads(files);
    const key = operands.find(({ value }) => value.includes('.'))?.value ?? '';
    if (HARMLESS_SETTING.test(key) && !/^(?:core\.pager|safe)/i.test(key))
      return unknown('changes the configuration of git');
    return dangerous('changes a setting of git that can start any program');
  },
  reflog(args) {
    const verb = args[0]?.value;
    if (verb === 'write') return dangerous('moves references by hand');
    if (verb === 'expire' || verb === 'delete' || verb === 'drop')
      return dangerous('deletes the way back to old commits');
    return verb === 'show' ? subcommandEffect('log', args.slice(1)) : undefined;
  },
  'symbolic-ref': (args) =>
    args.filter(({ value }) => !value.startsWith('-')).length > 1 || has(args, /^(?:-d|--delete|-m)$/)
      ? dangerous('moves references by hand')
      : undefined,
  'ls-remote': (args) => (args.length === 1 && has(args, /^--get-url$/) ? reads([]) : undefined),
  notes: (args) =>
    args.length === 0 || args[0]?.value === 'list' || args[0]?.value === 'show' ? reads([]) : undefined,
  'cat-file'(args) {
    if (has(args, /^--(?:textconv|filters)/)) return unknown('runs a filter that git is configured with');
    return has(args, /^--batch(?:$|=|-co)/)
      ? unknown('shows whatever it is told of when it runs')
      : undefined;
  },
};
