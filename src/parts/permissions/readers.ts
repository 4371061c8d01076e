// Programs that only read, each with the options that keep it so (GNU coreutils 9, findutils, grep, ripgrep,
// jq and their BSD kin). `sharp` marks those that have an option which does more: there a pattern such as `*`
// must not stand first in a word, because a file name that begins with a dash would become that option.

import { ARCHIVES } from './archives.ts';
import { type Effect, reads, unknown, unknownOption, writes } from './effect.ts';
import { readOptions } from './options.ts';
import { FURTHER_OPTIONS } from './reader-options.ts';
import { startsWithGlob, type Word } from './script.ts';
import { BUILTINS } from './shell-builtins.ts';
import { mayBeSecret } from './variables.ts';

interface Reader {
  readonly options: string;
  /** What its operands are. `pattern`: the first is text unless `-e` or `-f` gave it. */
  readonly operands: 'paths' | 'text' | 'pattern' | 'none';
  readonly sharp?: true;
  /** An address stands for what is there. */
  readonly fetches?: true;
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
  '--max-filesize: --context-separator: --line-buffered --byte-offset --debug --trace --glob-case-insensitive';
const DIGEST =
  '-b -c -t -z -a: --binary --check --text --tag --zero --quiet --status --strict --warn --ignore-missing --algorithm:';

const READERS: Readonly<Record<string, Reader>> = {
  'true false : groups caller': { options: '--help', operands: 'text' },
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
    options: '-L -f? -c: -t -x -s -r --dereference --file-system --format: --printf: --terse',
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
  hostname: { options: '-f -s -I --fqdn --short', operands: 'none' },
  date: {
    options:
      '-u -R -d: -r@ -I? -j --utc --universal --date: --iso-8601? --rfc-3339: --rfc-email --reference@',
    operands: 'text',
  },
  id: { options: '-u -g -G -n -r -z --user --group --groups --name --real', operands: 'text' },
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
  'fold expand unexpand': {
    options: '-a -b -c -i -s -t: -u -w: -# --width: --spaces --tabs: --initial --all',
    operands: 'paths',
  },
  // To it alone `-t` is a flag.
  fmt: {
    options:
      '-c -g: -p: -s -t -u -w: -# --crown-margin --goal: --prefix: --split-only --tagged-paragraph --uniform-spacing --width:',
    operands: 'paths',
  },
  column: {
    options: '-t -s: -o: -c: -n -x -N: -R: -J --table --separator: --output-separator:',
    operands: 'paths',
  },
  diff: {
    options:
      '-a -b -B -c -C: -d -e -E -i -I: -n -N -p -q -r -s -t -T -u -U: -w -W: -x: -X@ -y -Z -# --text --brief --color? --context? ' +
      '--exclude: --exclude-from@ --from-file@ --to-file@ --ignore-all-space --ignore-blank-lines --ignore-case --ignore-space-change ' +
      '--ignore-trailing-space --label: --minimal --new-file --recursive --report-identical-files --side-by-side --speed-large-files ' +
      '--strip-trailing-cr --suppress-common-lines --unified? --width: --no-dereference',
    operands: 'paths',
  },
  cmp: {
    options: '-b -i: -l -n: -s --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent',
    operands: 'paths',
  },
  'grep egrep fgrep zgrep zegrep zfgrep bzgrep xzgrep zstdgrep': { options: GREP, operands: 'pattern' },
  rg: { options: RG, operands: 'pattern', sharp: true },
  'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum': {
    options: DIGEST,
    operands: 'paths',
  },
  md5: { options: '-q -r -n -s:', operands: 'paths' },
  file: {
    options: '-b -i -I -k -L -h -n -N -r -s --brief --mime --mime-type --mime-encoding --dereference',
    operands: 'paths',
  },
  strings: {
    options: '-a -f -n: -o -t: -e: -w -# --all --bytes: --radix:',
    operands: 'paths',
    sharp: true,
  },
  od: {
    options:
      '-A: -b -c -d -i -j: -N: -o -s -S: -t: -v -w: -x --address-radix: --format: --read-bytes: --skip-bytes:',
    operands: 'paths',
  },
  'hexdump hd': { options: '-b -c -C -d -n: -o -s: -v -x -e:', operands: 'paths' },
  'base64 base32 basenc': {
    options: '-d -D -w: -i@ --decode --wrap: --ignore-garbage --base64 --base64url --base32 --base16',
    operands: 'paths',
  },
  'zcat bzcat xzcat': { options: '-f -q', operands: 'paths' },
  seq: { options: '-f: -s: -w --format: --separator: --equal-width -#', operands: 'text' },
  sleep: { options: '-#', operands: 'text' },
  'expr factor yes': { options: '--help', operands: 'text' },
  'cal ncal': { options: '-1 -3 -m -y -j -s -n: -A: -B: -#', operands: 'text' },
  diffstat: {
    options: '-b -C -c -f: -k -l -m -n: -N: -p: -q -r: -R -s -S: -t -T -u -v -w:',
    operands: 'paths',
    sharp: true,
  },
  numfmt: {
    options:
      '-d: --delimiter: --field: --format: --from: --to: --from-unit: --to-unit: --header? --padding: --round: --suffix: --grouping',
    operands: 'text',
  },
  'tsort sum': { options: '-r -s --sysv', operands: 'paths' },
  pr: { options: '-a -c -d -F -f -h: -l: -m -n? -o: -t -T -w: -W: -#', operands: 'paths' },
  pathchk: { options: '-p -P --portability', operands: 'text' },
  look: { options: '-b -d -f -t:', operands: 'pattern' },
  'lsblk lsmod': {
    options:
      '-a -b -d -f -i -J -l -m -n -o: -p -P -r -t -v -k -x: --json --output: --bytes --fs --list --noheadings --paths',
    operands: 'none',
  },
  lspci: { options: '-b -D -k -m -n -t -v -x -s: -d:', operands: 'none' },
  lsusb: { options: '-t -v -s: -d:', operands: 'none' },
  'lsmem lsns lsipc lslocks lslogins ipcs lastlog': {
    options:
      '-a -b -c -e -J -l -m -n -o: -p: -P -q -r -s -S: -t: -T? -u -y --all --bytes --json --list --noheadings --output: --output-all --pairs --raw ' +
      '--split: --summary? --type: --task: --time --user: --before: --limits --human --tree?',
    operands: 'none',
  },
  modinfo: {
    options: '-a -d -l -n -p -0 -F: --author --description --license --parameters --filename --field:',
    operands: 'paths',
  },
  'getfacl lsattr': {
    options:
      '-a -c -d -e -E -l -n -p -R -s -t -v -V --access --default --omit-header --all-effective --no-effective --skip-base --recursive --tabular --numeric --absolute-names',
    operands: 'paths',
  },
  getcap: { options: '-n -r -v', operands: 'paths' },
  namei: {
    options: '-l -m -n -o -v -x -Z --long --modes --nosymlinks --owners --vertical --mountpoints',
    operands: 'paths',
  },
  addr2line: {
    options:
      '-a -b: -C? -e@ -f -i -j: -p -s --addresses --target: --demangle? --exe@ --functions --inlines --pretty-print --section: --basenames',
    operands: 'text',
  },
  'c++filt': {
    options: '-_ -n -p -t -i -s: --strip-underscore --no-strip-underscore --no-params --types --format:',
    operands: 'text',
  },
  diff3: {
    options:
      '-A -e -E -3 -x -X -i -m -a -T -L: --show-all --ed --show-overlap --easy-only --overlap-only --merge --text --initial-tab --strip-trailing-cr --label:',
    operands: 'paths',
    sharp: true,
  },
  col: { options: '-b -f -h -p -x -l:', operands: 'none' },
  'colrm ul': { options: '-i -t: --indicated --terminal:', operands: 'text' },
  hexyl: {
    options: '-n: -s: -c: -p -v -u --length: --skip: --bytes: --plain --no-squeezing --border: --color:',
    operands: 'paths',
  },
  'otool lipo mdls': {
    options: '-a -D -f -h -l -L -r -t -tv -tV -T -v -V -x -info -archs -detailed_info -name: -raw',
    operands: 'paths',
  },
  vmstat: { options: '-a -d -s -w -S: -t', operands: 'text' },
  'who w last': { options: '-a -b -d -H -m -q -r -s -u -h -f -i -n: -#', operands: 'none' },
  'pgrep pidof': {
    options: '-a -d: -f -i -l -n -o -P: -s -u: -U: -v -x -c --list-name --list-full --full --exact --count',
    operands: 'text',
  },
  pstree: { options: '-a -c -h -l -n -p -s -u -A -U', operands: 'text' },
  getconf: { options: '-a', operands: 'text' },
  locale: { options: '-a -m -c -k', operands: 'text' },
  whereis: { options: '-b -m -s -u', operands: 'text' },
  iconv: {
    options: '-f: -t: -l -c -s --from-code: --to-code: --list',
    operands: 'paths',
    sharp: true,
  },
  'nm size readelf': {
    options:
      '-a -A -C -d -D -e -f -g -h -l -n -p -r -s -S -t -T -u -W -x --all-headers --demangle? --dynamic --symbols --sections --file-headers --disassemble --headers --section-headers --program-headers --wide',
    operands: 'paths',
    sharp: true,
  },
  // Without `-S`, which shows the files that the one it reads names as its sources.
  objdump: {
    options:
      '-a -C -d -D -f -g -h -l -p -r -s -t -T -x --all-headers --demangle? --disassemble? --file-headers --headers --section-headers --dynamic --symbols --wide',
    operands: 'paths',
    sharp: true,
  },
  'zipinfo xzcat zstdcat lzcat lz4cat': { options: '-1 -2 -l -s -m -v -h -t -q -f -k', operands: 'paths' },
  'cloc tokei scc': {
    options:
      '-e: -t: -s: -f -C --exclude: --exclude-dir: --files --sort: --type: --types: --json --hidden --by-file',
    operands: 'paths',
    sharp: true,
  },
  'eza exa lsd': {
    options:
      '-1 -a -A -d -D -F -g -h -H -i -l -L: -m -r -R -s: -S -t: -T -u -U -x --all --tree --long --level: --git --icons? --color? --group-directories-first --sort: --reverse --header --no-permissions --no-user --no-time',
    operands: 'paths',
  },
  'fd fdfind': {
    options:
      '-H -I -u -s -i -g -F -a -l -L -p -0 -d: -t: -e: -E: -S: -o: -1 --hidden --no-ignore --unrestricted --case-sensitive --ignore-case --glob --fixed-strings --absolute-path --list-details --follow --full-path --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --size: --changed-within: --changed-before: --color: --max-results: --prune --strip-cwd-prefix',
    operands: 'pattern',
    sharp: true,
  },
  ag: {
    options:
      '-i -l -L -n -r -w -v -c -o -s -S -Q -A: -B: -C: -G: -a -u -U -z --ignore: --hidden --nocolor --color --files-with-matches --depth: --literal',
    operands: 'pattern',
    sharp: true,
  },
  'bat batcat': {
    options:
      '-p -pp -n -A -l: -r: -H: --plain --number --style: --language: --color: --line-range: --theme: --decorations:',
    operands: 'paths',
    sharp: true,
  },
  bc: { options: '-l -q -s -w', operands: 'paths' },
  sdiff: {
    options:
      '-a -b -B -d -E -i -I: -l -s -t -w: -W -Z --text --ignore-case --ignore-all-space --suppress-common-lines --width: --minimal',
    operands: 'paths',
    sharp: true,
  },
  dmesg: {
    options:
      '-d -e -f: -H -k -l: -L? -P -r -S -t -T -u -w -x --color? --ctime --decode --facility: --follow --human --kernel --level: --notime --nopager --since: --time-format: --until: --userspace',
    operands: 'none',
  },
  shellcheck: {
    options: '-a -C? -e: -f: -i: -o: -s: -S: -x --color? --exclude: --format: --severity: --shell: --norc',
    operands: 'paths',
    sharp: true,
  },
  findmnt: {
    options: '-A -a -D -J -l -n -o: -P -R -r -S: -t: -T: -u --df --fstab --json --list --output: --types:',
    operands: 'text',
  },
  yamllint: { options: '-f: -s --format: --strict --no-warnings', operands: 'paths', sharp: true },
  'pkg-config pkgconf': {
    options:
      '--modversion --cflags --libs --exists --list-all --variable: --print-errors --silence-errors --print-variables --atleast-version: --static',
    operands: 'paths',
  },
  // A name behind it would be looked up in the network.
  arp: { options: '-a -e -n -v', operands: 'none' },
  pdfinfo: { options: '-f: -l: -box -isodates', operands: 'paths', sharp: true, fetches: true },
  infocmp: { options: '-1 -L -x', operands: 'none' },
  lsb_release: {
    options: '-a -c -d -i -r -s -v --all --short --codename --description --id --release',
    operands: 'none',
  },
  'sw_vers iostat mpstat clear': { options: '-c -d -k -m -x -h -y', operands: 'none' },
  locate: {
    options: '-b -c -e -i -l: -n: -q -r: -S -w --basename --count --ignore-case --limit:',
    operands: 'text',
  },
  ack: {
    options:
      '-i -l -L -n -w -v -c -o -s -S -Q -x -A: -B: -C: -m: -g -h -H --type: --ignore-case --files-with-matches --count --nocolor --color --noenv --nogroup',
    operands: 'pattern',
    sharp: true,
  },
  'whatis apropos': { options: '-a -e -l -r -s: -w', operands: 'text' },
};

const FURTHER = new Map(
  Object.entries(FURTHER_OPTIONS).flatMap(([names, options]) =>
    names.split(' ').map((name) => [name, options] as const),
  ),
);

const BY_NAME = new Map(
  Object.entries(READERS).flatMap(([names, reader]) =>
    names.split(' ').map((name) => {
      const options = [reader.options, ...(FURTHER.get(name) ?? '').split(' ')].join(' ');
      return [name, { ...reader, options }] as const;
    }),
  ),
);

/** Undefined when the program is not one of these. */
export function readerEffect(program: string, args: readonly Word[]): Effect | undefined {
  for (const table of [SPECIAL, BUILTINS, ARCHIVES])
    if (Object.hasOwn(table, program)) return table[program]?.(args);
  const reader = BY_NAME.get(program);
  if (reader === undefined) return undefined;
  return tableEffect(program, reader, args);
}

const TEXTUAL = new Set('basename dirname expr seq sleep which type true false :'.split(' '));

/** They take the words of a file for their own where its name stands behind `@`, and so any option. */
const RESPONDING = new Set('nm size readelf objdump strings addr2line c++filt'.split(' '));

function tableEffect(program: string, reader: Reader, args: readonly Word[]): Effect {
  const responds = RESPONDING.has(program);
  if ((reader.sharp || responds) && args.some(startsWithGlob)) return globFirst(program);
  if (responds && args.some(({ value }) => value.startsWith('@')))
    return unknown(`gives ${program} a file of options`);
  // To these any word is text, and no option does more than change how it is printed.
  const words = TEXTUAL.has(program) ? args.filter(({ open }) => open === undefined) : args;
  const { seen, operands, reads: named, unknown: strange } = readOptions(words, reader.options);
  if (strange !== undefined) return unknownOption(program, strange);
  if (program === 'date' && operands.some(({ value }) => !value.startsWith('+')))
    return unknown('may set the clock');
  if (reader.operands === 'none' && operands.length > 0) return unknown(`gives ${program} more than options`);
  if (reader.operands === 'text' || reader.operands === 'none') return reads(named);
  const patternGiven = ['-e', '-f', '--regexp', '--file', '--files', '--type-list'].some((name) =>
    seen.has(name),
  );
  const paths = reader.operands === 'pattern' && !patternGiven ? operands.slice(1) : operands;
  if (reader.fetches && operands.some(({ value }) => value.includes('://')))
    return unknown('may ask the network');
  return reads([...named, ...paths]);
}

function globFirst(program: string): Effect {
  return unknown(`gives ${program} a pattern that could turn into an option`);
}

/** Those that a list of options does not tell in full. */
const SPECIAL: Readonly<Record<string, (args: readonly Word[]) => Effect>> = {
  sort(args) {
    if (args.some(startsWithGlob)) return globFirst('sort');
    const list =
      '-b -d -f -g -h -i -M -n -R -r -V -c -C -k: -m -s -S: -t: -u -z -o> --ignore-leading-blanks --dictionary-order --ignore-case ' +
      '--general-numeric-sort --human-numeric-sort --month-sort --numeric-sort --random-sort --reverse --version-sort --check? --key: ' +
      '--merge --output> --stable --buffer-size: --field-separator: --unique --zero-terminated --parallel: --sort: --ignore-nonprinting ' +
      '--random-source@ --batch-size: --debug --files0-from@';
    const { operands, reads: named, writes: written, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('sort', strange);
    const read = [...named, ...operands];
    return written.length > 0 ? writes(written, 'writes a file', read) : reads(read);
  },
  uniq(args) {
    // The second of the names that a pattern stands for would be written.
    if (args.some(({ glob }) => glob)) return globFirst('uniq');
    const list =
      '-c -d -D -f: -i -s: -u -z -w: -# --count --repeated --all-repeated? --skip-fields: --ignore-case --skip-chars: --unique --check-chars: --group? --zero-terminated';
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('uniq', strange);
    const [input, ...outputs] = operands;
    const named = input === undefined ? [] : [input];
    return outputs.length > 0 ? writes(outputs, 'writes a file', named) : reads(named);
  },
  shuf(args) {
    const list =
      '-e -i: -n: -r -z -o> --echo --input-range: --head-count: --repeat --zero-terminated --output> --random-source@';
    if (args.some(startsWithGlob)) return globFirst('shuf');
    const { operands, seen, reads: named, writes: written, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('shuf', strange);
    const files = seen.has('-e') || seen.has('--echo') ? [] : operands;
    return written.length > 0 ? writes(written, 'writes a file', files) : reads([...named, ...files]);
  },
  openssl(args) {
    if (args[0]?.value === 'version' && args.slice(1).every(({ value }) => /^-[abdefoprv]$/.test(value)))
      return reads([]);
    if (/^(?:x509|req|crl)$/.test(args[0]?.value ?? '')) {
      const shown = readOptions(
        args.slice(1),
        '-in@ -inform: -noout -text -subject -issuer -dates -startdate -enddate -lastupdate -nextupdate -serial -fingerprint -sha256 -sha1 ' +
          '-purpose -email -modulus -ext: -nameopt:',
      );
      if (shown.unknown === undefined && shown.operands.length === 0 && shown.seen.has('-noout'))
        return reads(shown.reads);
    }
    const { operands, unknown: strange } = readOptions(
      args.slice(1),
      '-sha1 -sha256 -sha384 -sha512 -md5 -r -hex',
    );
    return args[0]?.value === 'dgst' && strange === undefined
      ? reads(operands)
      : unknown('uses keys or makes files');
  },
  // Without the dash it writes a file beside the one that it reads.
  pdftotext(args) {
    const list = '-layout -raw -table -nopgbrk -q -f: -l: -r: -x: -y: -W: -H: -enc:';
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('pdftotext', strange);
    const [file, target, ...more] = operands;
    return file !== undefined && !file.glob && target?.value === '-' && more.length === 0
      ? reads([file])
      : unknown('writes the text of a document');
  },
  mktemp(args) {
    const { seen, unknown: strange } = readOptions(
      args,
      '-u -d -q -t --dry-run --directory --quiet --suffix:',
    );
    if (strange !== undefined) return unknownOption('mktemp', strange);
    return seen.has('-u') || seen.has('--dry-run') ? reads([]) : unknown('makes a file or a folder');
  },
  patch(args) {
    const list =
      '--dry-run -p: -R -N -f -t -s -l -u -c -n -E -Z -T -F: -i@ --strip: --reverse --forward --force --batch --silent --quiet --verbose ' +
      '--ignore-whitespace --unified --context --normal --fuzz: --input@ --binary';
    if (args.some(startsWithGlob)) return globFirst('patch');
    const { operands, seen, reads: named, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('patch', strange);
    return seen.has('--dry-run')
      ? reads([...named, ...operands])
      : unknown('changes the files that a patch names');
  },
  rsync(args) {
    const list =
      '-n -a -v -r -l -t -p -g -o -D -z -h -i -u -c -x -H -A -X -P -R -q -O -J -m -d -L --dry-run --archive --verbose --recursive --links ' +
      '--times --perms --group --owner --compress --human-readable --itemize-changes --update --checksum --stats --progress --existing ' +
      '--ignore-existing --size-only --delete --delete-excluded --prune-empty-dirs --exclude: --include: --exclude-from@ --include-from@';
    // Any name that a pattern stands for could be that of a machine.
    if (args.some(({ glob }) => glob)) return globFirst('rsync');
    const { operands, seen, reads: named, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('rsync', strange);
    const isLocal = operands.every(({ value, open }) => open === undefined && !value.includes(':'));
    return isLocal && (seen.has('-n') || seen.has('--dry-run'))
      ? reads([...named, ...operands])
      : unknown('copies files with rsync');
  },
  xmllint(args) {
    const list = '--noout --format --xpath: --nonet --nowarning --recover --html --pretty: --timing';
    if (args.some(startsWithGlob)) return globFirst('xmllint');
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('xmllint', strange);
    return operands.some(({ value }) => value.includes('://'))
      ? unknown('may ask the network')
      : reads(operands);
  },
  printenv(args) {
    const { operands, unknown: strange } = readOptions(args, '-0 --null');
    if (strange !== undefined) return unknownOption('printenv', strange);
    return operands.some(({ value }) => mayBeSecret(value))
      ? unknown('shows a variable that may hold a secret')
      : reads([]);
  },
  yq(args) {
    const list =
      '-r -c -n -S -M -C -j -e -o: -p: -P -N -I: --raw-output --output-format: --input-format: --prettyPrint --no-colors --indent: --unwrapScalar?';
    if (args.some(startsWithGlob)) return globFirst('yq');
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('yq', strange);
    const words = /^(?:e|ea|eval|eval-all)$/.test(operands[0]?.value ?? '') ? operands.slice(1) : operands;
    return /load|system|env|eval\s*\(/.test(words[0]?.value ?? '')
      ? unknown('runs a yq program that may do more than print')
      : reads(words.slice(1));
  },
  top(args) {
    const options = '-b -c -H -i -n: -d: -o: -p: -u: -U: -w? -E: -e: -1 -S -s: -l:';
    const { seen, operands, unknown: strange } = readOptions(args, options);
    // That of BSD tells with `-l` how often it shows, as this one does with `-n`.
    return strange === undefined && operands.length === 0 && (seen.has('-b') || seen.has('-l'))
      ? reads([])
      : unknown('takes over the terminal');
  },
  // Whatever stands behind it, it does nothing.
  ':': () => reads([]),
  getent: (args) =>
    /^(?:passwd|group|services|protocols)$/.test(args[0]?.value ?? '')
      ? reads([])
      : unknown('may ask the network'),
  xxd(args) {
    if (args.some(({ glob }) => glob)) return globFirst('xxd');
    // It heeds the first letter of a word and skips the others.
    const together = args.find(
      ({ value }) => /^-./.test(value) && !/^-(?:[abeipuE]|[cgls][-+]?[\da-fx]*)$/.test(value),
    );
    if (together !== undefined) return unknownOption('xxd', together.value);
    const { operands, unknown: strange } = readOptions(args, '-a -b -c: -e -g: -i -l: -p -s: -u -E');
    if (strange !== undefined) return unknownOption('xxd', strange);
    const [input, ...outputs] = operands;
    const named = input === undefined ? [] : [input];
    return outputs.length > 0 ? writes(outputs, 'writes a file', named) : reads(named);
  },
  jq(args) {
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
    const filter = filterGiven ? '' : (operands[0]?.value ?? '');
    if (/(?<![.\w"])env\b|\$ENV/.test(filter) && mayBeSecret(filter))
      return unknown('shows a variable that may hold a secret');
    if (/\b(?:import|include|module)\b\s*["#{]/.test(filter)) return unknown('reads further programs of jq');
    return reads([...named, ...files, ...(filterGiven ? operands : operands.slice(1))]);
  },
  // What stands behind `+` is typed into it when it starts, and `!` there runs a program.
  less(args) {
    if (args.some(startsWithGlob)) return globFirst('less');
    // Behind a number further options follow in the same word.
    if (args.some(({ value }) => /^-[A-Za-z]*[xhbjyz][\d.,*]*[^\d.,*]/.test(value)))
      return unknown('gives less options behind a number');
    const files = args.filter(({ value, open }) => open !== undefined || !/^\+(?:[GgF]|\d+)$/.test(value));
    const list =
      '-N -n -R -r -S -F -X -E -e -I -i -M -m -s -f -g -G -q -Q -w -W -x: -h: -b: -j: -y: -z: --LINE-NUMBERS --chop-long-lines ' +
      '--quit-if-one-screen --RAW-CONTROL-CHARS --no-init --quit-at-eof --ignore-case --squeeze-blank-lines';
    const { operands, unknown: strange } = readOptions(files, list);
    if (strange !== undefined) return unknownOption('less', strange);
    return operands.some(({ value }) => value.startsWith('+'))
      ? unknown('types a command into less')
      : reads(operands);
  },
  man(args) {
    if (args.some(startsWithGlob)) return globFirst('man');
    const { operands, unknown: strange } = readOptions(
      args,
      '-a -e: -f -i -I -k -s: -S: -w -7 --all --whatis --apropos --where --path --location --sections: --extension: --ignore-case --match-case ' +
        '--regex --wildcard --names-only --no-subpages --ascii --encoding: --no-hyphenation --nh --no-justification --nj',
    );
    if (strange !== undefined) return unknownOption('man', strange);
    // A name with a slash is a file, and its format can name programs that prepare it.
    return operands.every(({ value, open }) => open === undefined && /^[\w:.+@-]+$/.test(value))
      ? reads([])
      : unknown('formats a page that is not installed');
  },
  // What stands behind `+` is typed into it when it starts.
  more(args) {
    const { operands, unknown: strange } = readOptions(args, '-d -e -f -l -c -s -u -n: -#');
    if (strange !== undefined) return unknownOption('more', strange);
    const files = operands.filter(({ value }) => !/^\+\d+$/.test(value));
    return files.some(({ value, glob }) => value.startsWith('+') || (glob && /^[*?[]/.test(value)))
      ? unknown('types a command into more')
      : reads(files);
  },
  tput: (args) =>
    args.every(
      ({ value, open }) => open === undefined && /^(?!init$|reset$|rs\d$|is\d$)[a-z]\w*$|^\d+$/.test(value),
    )
      ? reads([])
      : unknown('sets up the terminal'),
  ps(args) {
    const list =
      '-e -f -A -a -x -u: -p: -o: -l -w -L -H -j -d -T -m -y -Z -N -C: -G: -g: -U: -s: -t: -q: --forest --sort: --headers --no-headers ' +
      '--no-headings --pid: --ppid: --user: --tty: --format: --deselect --context --cols: --width: --rows:';
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('ps', strange);
    // Among its letters without a dash, and in `-auxe`, which it takes for them, `e` shows the environment of programs.
    const letters = [...operands, ...args.filter(({ value }) => /^-[a-z]*[ux][a-z]*$/i.test(value))];
    return letters.some(({ value }) => /[a-z]*e/i.test(value.replace(/^-e/, '')))
      ? unknown('shows the environment of programs')
      : reads([]);
  },
  tree(args) {
    if (args.some(startsWithGlob)) return globFirst('tree');
    const list =
      '-a -d -l -f -x -L: -P: -I: -p -u -g -s -h -D -F -q -N -n -C -A -S -i -r -t -c -U -v -X -J --noreport --dirsfirst --prune ' +
      '--filelimit: --gitignore --matchdirs --ignore-case --du --si --inodes --sort:';
    const { operands, unknown: strange } = readOptions(args, list);
    if (strange !== undefined) return unknownOption('tree', strange);
    // Letters behind one with a value are options of their own, and the values are the next words.
    return args.some(({ value }) => /^-[A-Za-z]*(?:[PI].|L\d*[^\d])/.test(value))
      ? unknown('gives tree options behind one with a value')
      : reads(operands);
  },
  stty: (args) =>
    args.every(({ value }) => /^(?:-a|--all|-g|--save|size|speed)$/.test(value))
      ? reads([])
      : unknown('changes the terminal'),
  env(args) {
    return args.length === 0 ? reads([]) : unknown('runs another program in a way that is not known');
  },
};
