// What a pipeline prints, as far as its commands tell: names of files below the folder, numbers, identifiers of
// commits, a folder. Whoever gets that as an argument can be judged although the words are only known when it runs.

import { findsLinks, soughtName } from './find.ts';
import { readOptions } from './options.ts';
import type { Word } from './script.ts';
import { expressionMeansSecrets, globMeansSecrets, isSecretFile } from './secret-files.ts';
import type { Known } from './variables.ts';

export type Pipeline = readonly (readonly Word[])[];

export interface Whereabouts {
  /** Absolute folders in which it may run. */
  readonly folders: readonly string[];
  /** Whether there is a folder of this absolute path. */
  readonly isFolder?: ((path: string) => boolean) | undefined;
}

const NUMBER: readonly Known[] = [{ text: '0', glob: false }];
const NAME: readonly Known[] = [{ text: 'name', glob: false }];
const COMMIT: readonly Known[] = [{ text: 'c0ffee', glob: false }];
/** No blank and no pattern can stand in the name of a branch or tag, but one that others made may begin with a dash. */
const REFERENCE: readonly Known[] = [
  { text: 'ref', glob: false },
  { text: '--ref', glob: false },
];
const FULL_REFERENCE: readonly Known[] = [{ text: 'refs/ref', glob: false }];

/** The values that one word of it may have; undefined when that is not known. */
export function printedBy(pipeline: Pipeline | undefined, where: Whereabouts): readonly Known[] | undefined {
  const last = pipeline?.at(-1);
  if (pipeline === undefined || last === undefined) return undefined;
  if (printsNumbers(last, pipeline.length > 1)) return NUMBER;
  if (pipeline.length === 1 && printsName(last)) return NAME;
  const [first, ...filters] = pipeline;
  if (first === undefined || !filters.every(isFilter)) return undefined;
  if (printsCommits(first)) return COMMIT;
  const reference = printsReferences(first);
  if (reference !== undefined) return reference;
  const pattern = namesFiles(first);
  const sought = [first, ...filters].some(choosesSecrets);
  if (pattern !== undefined && sought) return [{ text: '.env', glob: false }];
  if (pattern !== undefined) return [{ text: pattern, glob: true }];
  return filters.length === 0 ? (nameParts(first) ?? folderOf(first, where)) : undefined;
}

/** One word that begins with a letter. */
function printsName(words: readonly Word[]): boolean {
  return /^(?:whoami|logname|arch|id -[ug]n|id -n[ug]|uname(?: -[smro])?|hostname(?: -s)?)$/.test(
    valuesOf(words)?.join(' ') ?? '',
  );
}

/** With these options they pass on some of the lines that they are handed, each as it is. */
const FILTERS: Readonly<Record<string, string>> = {
  sort: '-b -d -f -g -h -i -M -n -r -R -V -k: -s -t: -u --key: --field-separator: --reverse --unique --numeric-sort --version-sort --ignore-case',
  uniq: '-d -u -i -f: -s: -w: --repeated --unique --ignore-case',
  head: '-n: -q -# --lines: --quiet',
  tail: '-n: -q -# --lines: --quiet',
  grep:
    '-v -i -y -E -F -G -P -w -x -a -h -s -e: -m: --invert-match --ignore-case --extended-regexp --fixed-strings --perl-regexp --regexp: ' +
    '--word-regexp --line-regexp --max-count: --color? --line-buffered',
  tac: '',
};

function isFilter([program, ...args]: readonly Word[]): boolean {
  const name = program?.value ?? '';
  if (!Object.hasOwn(FILTERS, name)) return false;
  const { operands, seen, unknown } = readOptions(args, FILTERS[name] ?? '');
  const isPatternNext = name === 'grep' && !seen.has('-e') && !seen.has('--regexp');
  return unknown === undefined && operands.length === (isPatternNext ? 1 : 0);
}

function valuesOf(words: readonly Word[]): readonly string[] | undefined {
  return words.every(({ open }) => open === undefined) ? words.map(({ value }) => value) : undefined;
}

/** It looks for names that secrets have. */
function choosesSecrets([program, ...args]: readonly Word[]): boolean {
  if (!/^(?:grep|egrep|fgrep|fd|fdfind)$/.test(program?.value ?? '')) return false;
  const leavesOut = args.some(({ value }) => /^(?:-[a-zA-Z]*v|--invert)/.test(value));
  return !leavesOut && args.some(({ value }) => !value.startsWith('-') && expressionMeansSecrets(value));
}

/** `pipes` tells that it reads what another command prints. */
function printsNumbers(words: readonly Word[], pipes: boolean): boolean {
  const values = valuesOf(words);
  if (values === undefined) return false;
  const [name = '', ...args] = values;
  const line = args.join(' ');
  switch (name) {
    case 'nproc':
      return args.length === 0;
    case 'id':
      return /^-[ug]$/.test(line);
    case 'seq':
      return /^-?\d+(?: -?\d+){0,2}$/.test(line);
    case 'wc':
      return /^-[lwcm]$/.test(line);
    case 'date':
      return /^\+%(?:s|Y|m|d|H|M|S|j)$/.test(line);
    case 'stat':
      return /^-c %[sYXZ] [^*?[]+$/.test(line);
    case 'grep':
      return args.includes('-c') && pipes && args.length === 2;
    case 'pgrep':
      return !args.some((value) => /^(?:-[a-z]*[adl]|--(?:list|delim))/.test(value));
    case 'git':
      if (args[0] === 'log' || args[0] === 'show')
        return /^(?:-s|-1|-n 1|--no-patch)? ?--(?:format|pretty)=(?:format:)?%[ac]t(?: [\w.~^@-]+)?$/.test(
          line.slice(args[0].length + 1),
        );
      return args[0] === 'rev-list' && args.includes('--count') && !args.includes('--left-right');
    default:
      return false;
  }
}

function printsCommits(words: readonly Word[]): boolean {
  const [git, verb = '', ...args] = valuesOf(words) ?? [];
  if (git !== 'git') return false;
  const plain = (pattern: RegExp) => args.every((value) => !value.startsWith('-') || pattern.test(value));
  if (verb === 'merge-base') return plain(/^(?:-a|--all|--fork-point|--octopus)$/);
  if (verb === 'rev-parse') return args.length > 0 && plain(/^--(?:short(?:=\d+)?|verify|quiet)$/);
  if (verb === 'rev-list')
    return plain(
      /^(?:-\d+|-n\d*|--(?:all|reverse|no-merges|merges|first-parent|max-count=\d+|since=.*|until=.*))$/,
    );
  const format = args.filter((value) => /^--(?:format|pretty)=/.test(value));
  return (verb === 'log' || verb === 'show') &&
    /^--(?:format|pretty)=(?:format:)?%[hH]$/.test(format.join(' '))
    ? plain(
        /^(?:-s|-n\d*|-\d+|--(?:format|pretty|since|until|author|max-count)=.*|--(?:all|reverse|no-merges|no-patch))$/,
      )
    : false;
}

function printsReferences(words: readonly Word[]): readonly Known[] | undefined {
  const [git, verb = '', ...args] = valuesOf(words) ?? [];
  if (git !== 'git') return undefined;
  const format = args.filter((value) => value.startsWith('--format='));
  const plain = args.every((value) => !/^-(?!-)/.test(value) || value === '-r' || value === '-a');
  if (verb === 'describe')
    return args.every((value) =>
      /^(?:--(?:tags|all|always|long|abbrev=\d+|match=\S+|exact-match)|[\w.^~@/]+)$/.test(value),
    )
      ? REFERENCE
      : undefined;
  if (verb === 'branch' && args.join(' ') === '--show-current') return REFERENCE;
  if (verb === 'symbolic-ref')
    return /^(?:(?:-q|--quiet) )?--short [\w./]+$/.test(args.join(' ')) ? REFERENCE : undefined;
  if (verb === 'rev-parse') return /^--abbrev-ref [\w.^~@/{}]+$/.test(args.join(' ')) ? REFERENCE : undefined;
  if (verb === 'tag')
    return args.every((value) => /^(?:-l|--list|--sort=\S+|--merged|[\w.*]+)$/.test(value))
      ? REFERENCE
      : undefined;
  if ((verb !== 'branch' && verb !== 'for-each-ref') || !plain || format.length !== 1) return undefined;
  if (format[0] === '--format=%(refname)') return FULL_REFERENCE;
  return /^--format=%\(refname:(?:short|lstrip=\d|strip=\d)\)$/.test(format[0] ?? '') ? REFERENCE : undefined;
}

/** `dirname a/b` and `basename a/b`, of what is known or of what a pattern matches. */
function nameParts(words: readonly Word[]): readonly Known[] | undefined {
  const [program, path, ...more] = words;
  const { value = '', glob = false, open } = path ?? {};
  if (path === undefined || open !== undefined || more.length > 0 || /^-|\/$/.test(value)) return undefined;
  const cut = value.lastIndexOf('/');
  const folder = cut > 0 ? value.slice(0, cut) : cut === 0 ? '/' : '.';
  if (program?.value === 'dirname')
    return /[*?[]/.test(folder) ? undefined : [{ text: glob ? `${folder}/*` : folder, glob }];
  return program?.value === 'basename' ? [{ text: value.slice(cut + 1), glob }] : undefined;
}

/** The pattern that stands for the names; one that begins with a dot where no name can be taken for an option. */
function namesFiles(words: readonly Word[]): string | undefined {
  const values = valuesOf(words);
  if (values === undefined) return undefined;
  const [name = '', ...args] = values;
  if (values.some((value) => /^[/~]|(?:^|\/)\.\.(?:\/|$)/.test(value))) return undefined;
  if (values.some((value) => /^-printf$|^-exec|^-ls$|^-fprint/.test(value))) return undefined;
  const sought = soughtName(words);
  if (name === 'find' && findsLinks(args)) return undefined;
  if (name === 'find') return args[0] !== undefined && /^\.(?:\/|$)/.test(args[0]) ? `./${sought}` : sought;
  const asked = args.find(
    (value) => !value.startsWith('-') && (isSecretFile(value) || globMeansSecrets(value)),
  );
  if (asked !== undefined && name !== 'grep' && name !== 'rg') return asked;
  return listsNames(words) ? '*' : undefined;
}

/** With these options they print names of files, and nothing with them. */
const LISTERS: Readonly<Record<string, string>> = {
  ls:
    '-1 -B -c -C -d -F -h -H -I: -k -L -N -p -r -S -t -u -U -v -w: -x -X --classify? --color? --directory --file-type ' +
    '--group-directories-first --hide: --ignore: --ignore-backups --reverse --sort: --time: --width: --zero',
  fd:
    '-0 -1 -a -d: -e: -E: -F -g -H -i -I -p -s -S: -t: -u --absolute-path --case-sensitive --changed-before: --changed-within: --color: ' +
    '--exclude: --extension: --fixed-strings --full-path --glob --hidden --ignore-case --max-depth: --max-results: --min-depth: ' +
    '--no-ignore --print0 --size: --strip-cwd-prefix --type: --unrestricted',
  'ls-files':
    '-c -d -i -k -m -o -x: -X@ -z --cached --deduplicate --deleted --directory --error-unmatch --exclude: --exclude-from@ --exclude-standard ' +
    '--full-name --ignored --modified --no-empty-directory --others --recurse-submodules',
  diff: '-b -M? -r -R -w -z --cached --diff-filter: --ignore-all-space --merge-base --name-only --no-renames --relative? --staged',
  rg:
    '-. -0 -a -d: -e: -F -g: -H -i -I -j: -l -L -m: -n -N -P -s -S -t: -T: -u -U -v -w -x --case-sensitive --color: --files --files-with-matches ' +
    '--files-without-match --fixed-strings --follow --glob: --hidden --iglob: --ignore-case --invert-match --max-count: --max-depth: --multiline ' +
    '--no-config --no-ignore --no-messages --null --pcre2 --regexp: --smart-case --sort: --sortr: --type: --type-not: --unrestricted --word-regexp',
  grep:
    '-a -d: -D: -e: -E -F -G -h -H -i -I -l -L -m: -n -P -r -R -s -v -w -x -y -Z --color? --exclude: --exclude-dir: --extended-regexp ' +
    '--files-with-matches --files-without-match --fixed-strings --ignore-case --include: --invert-match --max-count: --no-messages --null ' +
    '--perl-regexp --recursive --regexp: --word-regexp',
};

function listsNames([program, ...args]: readonly Word[]): boolean {
  const isGit = program?.value === 'git';
  const name = (isGit ? args[0]?.value : program?.value?.replace(/^fdfind$/, 'fd')) ?? '';
  if (isGit !== /^(?:ls-files|diff)$/.test(name) || !Object.hasOwn(LISTERS, name)) return false;
  const { given, operands, seen, unknown } = readOptions(isGit ? args.slice(1) : args, LISTERS[name] ?? '');
  if (unknown !== undefined) return false;
  // From the top of the repository, which may lie around the folder.
  if (isGit && operands.some(({ value }) => /^:(?:\/|\([^)]*top)/.test(value))) return false;
  if (name === 'diff') return seen.has('--name-only');
  if (name === 'fd')
    return !given.some(
      ([option, { value }]) => /^-(?:t|-type)$/.test(option) && /^(?:l|symlink)$/.test(value),
    );
  if (name !== 'rg' && name !== 'grep') return true;
  return ['-l', '-L', '--files', '--files-with-matches', '--files-without-match'].some(
    (option) => seen.has(option) && !(name === 'rg' && option === '-L'),
  );
}

function folderOf(words: readonly Word[], { folders, isFolder }: Whereabouts): readonly Known[] | undefined {
  const line = valuesOf(words)?.join(' ');
  if (line === 'pwd') return folders.map((text) => ({ text, glob: false }));
  if (line !== 'git rev-parse --show-toplevel' || isFolder === undefined) return undefined;
  const [folder, ...others] = folders;
  if (folder === undefined || others.length > 0 || folder.split('/').includes('..')) return undefined;
  for (let at = folder; at.length > 1; at = at.slice(0, at.lastIndexOf('/')))
    if (isFolder(`${at}/.git`)) return [{ text: at, glob: false }];
  return undefined;
}
