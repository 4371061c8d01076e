// Programs that only read, each with the options that keep it so (GNU coreutils 9, findutils, grep, ripgrep,
// jq and their BSD kin). `sharp` marks those that have an option which does more: there a pattern such as `*`
// must not stand first in a word, because a file name that begins with a dash would become that option.

import { type Effect, reads, unknown, unknownOption, writes } from './effect.ts';
import { readOptions } from './options.ts';
import type { Word } from './tokenize.ts';

interface Reader {
  readonly options: string;
  /** What its operands are. `pattern`: the first is text unless `-e` or `-f` gave it. */
  readonly operands: 'paths' | 'text' | 'pattern' | 'none';
  readonly sharp?: true;
}

const GREP =
  '-E -F -G -P -i -y -v -w -x -c -l -L -q -s -b -H -h -n -T -Z -z -o -r -R -a -I -U -e: -f@ -m: -A: -B: -C: -D: -d: -# ' +
  '--extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case --invert-match ' +
  '--word-regexp --line-regexp --count --color? --colour? --files-with-matches --files-without-match --only-matching ' +
  '--quiet --silent --no-messages --byte-offset --with-filename --no-filename --line-number --null --text --recursive ' +
  '--dereference-recursive --regexp: --file@ --max-count: --after-context: --before-context: --context: --include: ' +
  '--exclude: --exclude-dir: --exclude-from@ --label: --binary-files: --line-buffered --initial-tab --null-data';
const RG =
  '-e: -f@ -g: -t: -T: -m: -A: -B: -C: -M: -j: -d: -E: -r: -i -S -s -v -w -x -c -l -n -N -o -q -F -P -U -H -I -0 -a -u -L -p -. ' +
  '--regexp: --file@ --glob: --iglob: --type: --type-not: --type-list --max-count: --after-context: --before-context: --context: ' +
  '--max-columns: --threads: --max-depth: --encoding: --replace: --ignore-case --smart-case --case-sensitive --invert-match ' +
  '--word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --files --line-number ' +
  '--no-line-number --only-matching --quiet --fixed-strings --pcre2 --multiline --multiline-dotall --with-filename ' +
  '--no-filename --null --text --unrestricted --follow --pretty --hidden --no-ignore --no-ignore-vcs --no-config --heading ' +
  '--no-heading --color: --colors: --column --json --stats --sort: --sortr: --trim --vimgrep --passthru --no-messages ' +
  '--max-filesize: --context-separator: --line-buffered --byte-offset';
const DIGEST =
  '-b -c -t -z -a: --binary --check --text --tag --zero --quiet --status --strict --warn --ignore-missing --algorithm:';

const READERS: Readonly<Record<string, Reader>> = {
  'true false : groups': { options: '--help', operands: 'text' },
  'pwd whoami tty logname nproc uptime free arch hostid users lscpu': {
    options: '-L -P -h -m -g -b -k -s -p --all --pretty --human --mega --giga --total',
    operands: 'none',
  },
  ls: {
    options:
      '-a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -T: -u -U -v -w: -x -X -Z -1 -O -e -@ ' +
      '--all --almost-all --author --block-size: --classify? --color? --directory --dereference --file-type --format: --full-time ' +
      '--group-directories-first --human-readable --hide: --hyperlink? --ignore: --indicator-style: --inode --literal --no-group ' +
      '--numeric-uid-gid --quote-name --recursive --reverse --si --size --sort: --time: --time-style: --width: --zero',
    operands: 'paths',
  },
  cat: {
    options:
      '-A -b -e -E -n -s -t -T -u -v -l --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting',
    operands: 'paths',
  },
  'tac rev': { options: '-b -r -s: --before --regex --separator:', operands: 'paths' },
  nl: { options: '-b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w:', operands: 'paths' },
  head: { options: '-n: -c: -q -v -z -# --lines: --bytes: --quiet --silent --verbose', operands: 'paths' },
  tail: {
    options:
      '-n: -c: -f -F -q -v -s: -r -z -# --lines: --bytes: --follow? --quiet --silent --verbose --retry --pid: --sleep-interval:',
    operands: 'paths',
  },
  wc: {
    options: '-c -m -l -L -w --bytes --chars --lines --words --max-line-length --total: --files0-from@',
    operands: 'paths',
  },
  stat: {
    options: '-L -f -c: -t -x -s -r --dereference --file-system --format: --printf: --terse',
    operands: 'paths',
  },
  du: {
    options:
      '-a -A -b -B: -c -d: -D -g -h -H -k -l -L -m -P -s -S -t: -x -0 --all --apparent-size --block-size: --bytes --total --max-depth: ' +
      '--human-readable --si --summarize --separate-dirs --one-file-system --exclude: --time? --null --threshold:',
    operands: 'paths',
  },
  df: {
    options:
      '-a -B: -h -H -i -k -l -m -P -t: -T -x: --all --block-size: --human-readable --inodes --local --output? --portability --print-type --total --type:',
    operands: 'paths',
  },
  'which type': { options: '-a -s -f -p -P -t --all', operands: 'text' },
  uname: {
    options: '-a -s -n -r -v -m -p -i -o --all --kernel-name --kernel-release --machine',
    operands: 'none',
  },
  hostname: { options: '-f -s -i -I -d -A --fqdn --short', operands: 'none' },
  date: {
    options:
      '-u -R -d: -r@ -I? -j --utc --universal --date: --iso-8601? --rfc-3339: --rfc-email --reference@',
    operands: 'text',
  },
  id: { options: '-u -g -G -n -r -z --user --group --groups --name --real', operands: 'text' },
  printenv: { options: '-0 --null', operands: 'text' },
  ps: {
    options: '-e -f -A -a -x -u: -p: -o: -l -w --forest --sort: --no-headers --pid: --format:',
    operands: 'text',
  },
  basename: { options: '-a -s: -z --multiple --suffix: --zero', operands: 'text' },
  dirname: { options: '-z --zero', operands: 'text' },
  realpath: {
    options:
      '-e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --relative-to: --relative-base: --strip --no-symlinks',
    operands: 'paths',
  },
  readlink: { options: '-f -e -m -n -q -s -v -z --canonicalize --no-newline', operands: 'paths' },
  cut: {
    options:
      '-b: -c: -d: -f: -n -s -w -z --bytes: --characters: --delimiter: --fields: --complement --only-delimited --output-delimiter:',
    operands: 'paths',
  },
  paste: { options: '-d: -s -z --delimiters: --serial', operands: 'paths' },
  join: { options: '-a: -e: -i -j: -o: -t: -v: -1: -2: -z --header --check-order', operands: 'paths' },
  comm: {
    options: '-1 -2 -3 -12 -13 -23 -z --check-order --nocheck-order --output-delimiter: --total',
    operands: 'paths',
  },
  tr: { options: '-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1', operands: 'text' },
  'fold fmt expand unexpand': {
    options: '-a -b -c -i -s -t: -u -w: -# --width: --spaces --tabs: --initial --all',
    operands: 'paths',
  },
  column: {
    options: '-t -s: -o: -c: -n -x -N: -R: -J --table --separator: --output-separator:',
    operands: 'paths',
  },
  diff: {
    options:
      '-a -b -B -c -C: -d -e -E -i -I: -l -n -N -p -q -r -s -t -T -u -U: -w -W: -x: -X@ -y -Z -# --text --brief --color? --context? ' +
      '--exclude: --exclude-from@ --from-file@ --to-file@ --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change ' +
      '--ignore-trailing-space --label: --minimal --new-file --recursive --report-identical-files --side-by-side --speed-large-files ' +
      '--strip-trailing-cr --suppress-common-lines --unified? --width: --no-dereference',
    operands: 'paths',
  },
  cmp: {
    options: '-b -i: -l -n: -s --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent',
    operands: 'paths',
  },
  'grep egrep fgrep zgrep': { options: GREP, operands: 'pattern' },
  rg: { options: RG, operands: 'pattern', sharp: true },
  'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum': {
    options: DIGEST,
    operands: 'paths',
  },
  md5: { options: '-q -r -n -s:', operands: 'paths' },
  file: {
    options: '-b -i -I -k -L -h -n -N -p -r -s -z --brief --mime --mime-type --mime-encoding --dereference',
    operands: 'paths',
  },
  strings: { options: '-a -f -n: -o -t: -e: -w -# --all --bytes: --radix:', operands: 'paths' },
  od: {
    options:
      '-A: -b -c -d -i -j: -N: -o -s -S: -t: -v -w: -x --address-radix: --format: --read-bytes: --skip-bytes:',
    operands: 'paths',
  },
  'hexdump hd': { options: '-b -c -C -d -n: -o -s: -v -x -e:', operands: 'paths' },
  base64: { options: '-d -D -w: -i@ --decode --wrap: --ignore-garbage', operands: 'paths' },
  'zcat bzcat xzcat': { options: '-f -q', operands: 'paths' },
  seq: { options: '-f: -s: -w --format: --separator: --equal-width -#', operands: 'text' },
  sleep: { options: '-#', operands: 'text' },
  tree: {
    options:
      '-a -d -l -f -x -L: -P: -I: -p -u -g -s -h -D -F -q -N -n -C -A -S -i -r -t -c -U -v -X -J --noreport --dirsfirst --prune ' +
      '--filelimit: --gitignore --matchdirs --ignore-case --du --si --inodes --sort:',
    operands: 'paths',
    sharp: true,
  },
};

const BY_NAME = new Map(
  Object.entries(READERS).flatMap(([names, reader]) =>
    names.split(' ').map((name) => [name, reader] as const),
  ),
);

/** Undefined when the program is not one of these. */
export function readerEffect(program: string, args: readonly Word[]): Effect | undefined {
  const special = SPECIAL[program];
  if (special !== undefined) return special(args);
  const reader = BY_NAME.get(program);
  if (reader === undefined) return undefined;
  return tableEffect(program, reader, args);
}

function tableEffect(program: string, reader: Reader, args: readonly Word[]): Effect {
  const option = reader.sharp && args.find(startsWithGlob);
  if (option) return globFirst(program);
  const { seen, operands, reads: named, unknown: strange } = readOptions(args, reader.options);
  if (strange !== undefined) return unknownOption(program, strange);
  if (program === 'date' && operands.some(({ value }) => !value.startsWith('+')))
    return unknown('may set the clock');
  if (reader.operands === 'none' && operands.length > 0) return unknown(`gives ${program} more than options`);
  if (reader.operands === 'text' || reader.operands === 'none') return reads(named);
  const patternGiven = ['-e', '-f', '--regexp', '--file', '--files', '--type-list'].some((name) =>
    seen.has(name),
  );
  const paths = reader.operands === 'pattern' && !patternGiven ? operands.slice(1) : operands;
  return reads([...named, ...paths]);
}

function startsWithGlob({ raw }: Word): boolean {
  return /^[*?[]/.test(raw);
}

function globFirst(program: string): Effect {
  return unknown(`gives ${program} a pattern that could turn into an option`);
}

const SPECIAL: Readonly<Record<string, (args: readonly Word[]) => Effect>> = {
  sort(args) {
    if (args.some(startsWithGlob)) return globFirst('sort');
    const list =
      '-b -d -f -g -h -i -M -n -R -r -V -c -C -k: -m -s -S: -t: -u -z -o> --ignore-leading-blanks --dictionary-order --ignore-case ' +
      '--general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --random-sort --reverse --version-sort --check? --key: ' +
      '--merge --output> --stable --buffer-size: --field-separator: --unique --zero-terminated --parallel: --sort:';
    const { operands, writes: written, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('sort', strange);
    return written.length > 0 ? writes(written, 'writes a file', operands) : reads(operands);
  },
  uniq(args) {
    if (args.some(startsWithGlob)) return globFirst('uniq');
    const list =
      '-c -d -D -f: -i -s: -u -z -w: -# --count --repeated --all-repeated? --skip-fields: --ignore-case --skip-chars: --unique --check-chars:';
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('uniq', strange);
    const [input, ...outputs] = operands;
    const named = input === undefined ? [] : [input];
    return outputs.length > 0 ? writes(outputs, 'writes a file', named) : reads(named);
  },
  xxd(args) {
    const { operands, unknown: strange } = readOptions(args, '-a -b -c: -e -g: -i -l: -p -s: -u -E');
    if (strange !== undefined) return unknownOption('xxd', strange);
    const [input, ...outputs] = operands;
    const named = input === undefined ? [] : [input];
    return outputs.length > 0 ? writes(outputs, 'writes a file', named) : reads(named);
  },
  jq(args) {
    if (args.some(startsWithGlob)) return globFirst('jq');
    // `--arg NAME VALUE` and its kin take two words, which the lists of options have no sign for.
    const rest: Word[] = [];
    const files: Word[] = [];
    for (let at = 0; at < args.length; at += 1) {
      const value = args[at]?.value ?? '';
      const pair = /^--(arg|argjson|slurpfile|rawfile)$/.exec(value);
      const file = args[at + 2];
      if (pair === null) rest.push(...args.slice(at, at + 1));
      else {
        if (value.endsWith('file') && file !== undefined) files.push(file);
        at += 2;
      }
    }
    const list =
      '-r -c -e -s -n -S -M -C -j -a -R -f@ --raw-output --compact-output --exit-status --slurp --null-input --sort-keys --raw-input ' +
      '--monochrome-output --color-output --join-output --ascii-output --tab --indent: --from-file@ --unbuffered --stream --seq';
    const { seen, operands, reads: named, unknown: strange } = readOptions(rest, list);
    if (strange !== undefined) return unknownOption('jq', strange);
    const filterGiven = seen.has('-f') || seen.has('--from-file');
    return reads([...named, ...files, ...(filterGiven ? operands : operands.slice(1))]);
  },
  // Their words are text, but for a pattern, which tells the names in a folder.
  echo: (args) => reads(args.filter(({ glob }) => glob)),
  printf: (args) =>
    withoutVariable(
      args,
      args.filter(({ glob }) => glob),
    ),
  test: (args) => withoutVariable(args, pathsOfTest(args)),
  '[': (args) => withoutVariable(args, pathsOfTest(args)),
  tar(args) {
    // Listing, in the two spellings that people use; everything else of tar writes or may start a program.
    const [letters, archive, ...members] = args;
    const lists = /^-?[vzjJ]*t[vzjJ]*f$/.test(letters?.value ?? '') && archive !== undefined;
    const plain =
      lists && members.every(({ value }) => !value.startsWith('-')) && !members.some(startsWithGlob);
    // `host:file` is an archive of another machine.
    if (!plain || archive.value.includes(':')) return unknown('packs or unpacks files');
    return reads([archive]);
  },
  cd(args) {
    if (args.some(({ value }) => value.startsWith('-')))
      return unknown('changes to a folder that is not named');
    return reads(args.length === 0 ? [{ raw: '~', value: '~', quoted: false, glob: false }] : args);
  },
  env(args) {
    return args.length === 0 ? reads([]) : unknown('runs another program in a way that is not known');
  },
  command(args) {
    return /^-[vV]$/.test(args[0]?.value ?? '')
      ? reads([])
      : unknown('runs another program in a way that is not known');
  },
};

function pathsOfTest(args: readonly Word[]): readonly Word[] {
  return args.filter(({ value }) => value.includes('/'));
}

/** `-v` takes the name of a variable, and bash evaluates what stands in its subscript, quoted or not. */
function withoutVariable(args: readonly Word[], paths: readonly Word[]): Effect {
  return args.some(({ value }) => value.startsWith('-v'))
    ? unknown('evaluates the name of a variable')
    : reads(paths);
}
