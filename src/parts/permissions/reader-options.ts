// Options beside those in `readers.ts` that only change what a reader prints, by program, as their manuals list them
// (GNU coreutils 9.7, diffutils 3.12, util-linux 2.41, procps 4, binutils 2.44, findutils and their BSD kin). What writes a
// file, sets something, asks a server or runs another program is left out.

const BINARY_UNICODE = '-U: --unicode: --target:';

export const FURTHER_OPTIONS: Readonly<Record<string, string>> = {
  ls:
    '--escape --ignore-backups --dired --dereference-command-line --dereference-command-line-symlink-to-dir --kibibytes ' +
    '--hide-control-chars --show-control-chars --quoting-style: --tabsize: --context',
  nl:
    '--body-numbering: --section-delimiter: --footer-numbering: --header-numbering: --line-increment: --join-blank-lines: ' +
    '--number-format: --no-renumber --number-separator: --starting-line-number: --number-width:',
  du: '--dereference-args --inodes --dereference --count-links --no-dereference --time-style:',
  df: '-v --si --no-sync --exclude-type:',
  uname: '--nodename --kernel-version --processor --hardware-platform --operating-system',
  hostname: '-a --alias --domain --long --ip-address --all-ip-addresses',
  nproc: '--ignore:',
  uptime: '-r --since --raw --container',
  free: '--bytes --kilo --tera --peta --kibi --mebi --gibi --tebi --pebi --si -l --lohi -t -v -w --committed --wide --line -L',
  lscpu:
    '-B --bytes -C? --caches? -c --offline --online -J --json -e? --extended? -p? --parse? -x --hex -y --physical --output-all --raw',
  date: '--debug --resolution -f@ --file@',
  id: '-a -Z --context --zero',
  ps:
    '-C: -G: -H -L -M -N -O: -T -V -c -d -g: -j -m -n: -q: -s: -t: -y -# --Group: --User: --cols: --columns: --context --cumulative ' +
    '--deselect --group: --headers --lines: --no-heading --ppid: --quick-pid: --rows: --sid: --signames --tty: --user: --width:',
  realpath: '--logical --physical --quiet --zero -E --canonicalize',
  readlink: '--canonicalize-existing --canonicalize-missing --quiet --silent --verbose --zero',
  paste: '--zero-terminated',
  join: '--ignore-case --nocheck-order --zero-terminated',
  comm: '--zero-terminated',
  fold: '--bytes --characters',
  unexpand: '--first-only',
  diff:
    '-v -F: -S: -D: --normal --ed --rcs --left-column --show-c-function --show-function-line: --expand-tabs --initial-tab --tabsize: ' +
    '--suppress-blank-empty --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case --starting-file: ' +
    '--ignore-tab-expansion --ignore-matching-lines: --ifdef: --line-format: --old-line-format: --new-line-format: ' +
    '--unchanged-line-format: --old-group-format: --new-group-format: --changed-group-format: --unchanged-group-format: ' +
    '--horizon-lines: --palette:',
  cmp: '-v',
  grep: '-V --directories: --devices: --group-separator: --no-group-separator --binary',
  rg:
    '--sort-files --no-ignore-parent --no-ignore-dot --no-ignore-exclude --no-ignore-global --no-ignore-files --no-ignore-messages ' +
    '--ignore-file@ --ignore-file-case-insensitive --crlf --auto-hybrid-regex --engine: --dfa-size-limit: --regex-size-limit: ' +
    '--field-context-separator: --field-match-separator: --max-columns-preview --null-data --one-file-system --path-separator: ' +
    '--no-pcre2 --no-hidden --no-column --no-follow --no-stats --no-trim --no-binary --binary --mmap --no-mmap --no-unicode --unicode ' +
    '--include-zero --invert-match --ignore --ignore-vcs --no-fixed-strings --no-multiline --no-text --no-json --no-crlf --no-encoding ' +
    '--hyperlink-format: --stop-on-nonmatch --type-add: --type-clear: --maxdepth: --no-require-git --require-git --no-context-separator',
  'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum': '-w',
  b2sum: '-w -l: --length:',
  cksum: '-w -l: --length: --untagged --debug --base64 --raw',
  shasum: '-0 -q -s -w --portable --UNIVERSAL',
  file:
    '-0 -e: -F: -P: --exclude: --exclude-quiet: --separator: --apple --extension --keep-going --no-dereference --no-buffer ' +
    '--no-pad --print0 --parameter: --raw --special-files',
  strings: `-d --data --print-file-name --include-all-whitespace -T: --encoding: -s: --output-separator: ${BINARY_UNICODE}`,
  od: '-a -f -h -l --endian: --strings? --output-duplicates --width? --traditional',
  'hexdump hd':
    '--one-byte-octal --one-byte-hex --one-byte-char --canonical --two-bytes-decimal --two-bytes-octal --two-bytes-hex -X -L? --color? --format: -f@ ' +
    '--format-file@ --length: --skip: --no-squeezing',
  base64: '-b: --break:',
  numfmt: '--debug --invalid: -z --zero-terminated --unit-separator:',
  pr:
    '--columns: --across --show-control-chars --double-space -D: --date-format: -e? --expand-tabs? --form-feed --header: -i? --output-tabs? -J ' +
    '--join-lines --length: --merge --number-lines? -N: --first-line-number: --indent: -r --no-file-warnings -s? --separator? -S? --sep-string? ' +
    '--omit-header --omit-pagination -v --show-nonprinting --width: --page-width:',
  lsblk:
    '-A --noempty -D --discard -E: --dedup: -I: --include: -M --merge -O --output-all --pairs -S --scsi -T? --tree? --all --nodeps -e: --exclude: ' +
    '--ascii --perms --raw -s --inverse --topology -w: --width: --sort: -y --shell -z --zoned -N --nvme -H --list-columns',
  vmstat:
    '--active -f --forks -m --slabs -n --one-header --stats --disk -D --disk-sum -p: --partition: --unit: --wide --timestamp -y --no-first',
  who: '-l -p -t -T -w --all --boot --dead --heading --ips --login --process --count --runlevel --short --time --mesg --users --message --writable',
  w: '-o -c --no-header --no-current --short --from --old-style --ip-addr --container --pids',
  last: '-F -R -w -s: -t: -p: --fulltimes --limit: --nohostname --since: --until: --present: --fullnames --system --time-format:',
  pgrep:
    '-w -g: -G: -F@ -r: -t: -O: -A -H --delimiter: --inverse --lightweight --pgroup: --group: --ignore-case --newest --oldest --older: --parent: ' +
    '--session: --terminal: --euid: --uid: --pidfile@ --runstates: --ignore-ancestors --cgroup: --ns: --nslist: --quiet',
  pidof: '-q -w -S: -t -o:',
  pstree:
    '-C: -g -G -H: -N: -S -t -T -Z --arguments --ascii --compact-not --color: --show-pgids --vt100 --highlight-all --highlight-pid: --long ' +
    '--numeric-sort --ns-sort: --show-pids --show-parents --ns-changes --thread-names --hide-threads --uid-changes --unicode --security-context',
  iconv: '--silent --verbose',
  nm:
    '-B -j -o -P -U -X: -V --debug-syms --print-file-name --no-demangle --recurse-limit --no-recurse-limit --format: --extern-only --ifunc-chars: ' +
    '--just-symbols --numeric-sort --no-sort --portability --reverse-sort --print-size --print-armap --quiet --size-sort --special-syms ' +
    '--synthetic --radix: --target: --undefined-only --defined-only --unicode: --no-weak --with-symbol-versions --without-symbol-versions',
  size: '-o --common --format: --radix: --totals --target:',
  readelf:
    '-c -I -L -N -R: -V -z --all --file-header --segments --section-groups --section-details --syms --dyn-syms --lto-syms --sym-base: --no-demangle ' +
    '--recurse-limit --no-recurse-limit --notes --relocs --unwind --arch-specific --archive-index --use-dynamic --lint --hex-dump: --string-dump: ' +
    '--relocated-dump: --decompress --histogram --version-info --got-contents',
  objdump:
    '-v -i -H -j: -m: -M: -b: -F -R -EB -EL -z -w --archive-headers --private-headers -P: --private: --disassemble-all --full-contents --debugging ' +
    '--stabs --syms --dynamic-syms --reloc --dynamic-reloc --info --target: --architecture: --section: --disassembler-options: --endian: ' +
    '--file-offsets --recurse-limit --no-recurse-limit --disassemble-zeroes --start-address: --stop-address: --prefix-addresses ' +
    '--show-raw-insn --no-show-raw-insn --insn-width: --no-addresses --disassembler-color: --visualize-jumps?',
  locale: '-v --all-locales --charmaps --category-name --keyword-name --verbose',
  dmesg: '-J -p -W --json --force-prefix --raw --noescape --follow-new --show-delta --reltime',
  findmnt:
    '-b -C -c -d: -e -f -i -k -m -N: -O: -q -s -U -v -w: -x -y -M: -I --ascii --bytes --canonicalize --nocanonicalize --direction: --evaluate ' +
    '--first-only --invert --task: --noheadings --options: --output-all --pairs --pseudo --shadowed --submounts --raw --real --source: --target: ' +
    '--tree --mountpoint: --uniq --notruncate --nofsroot --shell --verify --verbose --vfs-all --kernel --mtab --deleted --dfi --hyperlink?',
  tree: '--filesfirst --metafirst --timefmt: --charset: --nolinks --device --gitfile@ --infofile@ --info --fromfile --compress: --sort?',
  'fd fdfind':
    '--no-follow --search-path@ --base-directory@ --format: --threads: -j: -c: -q -d: --quiet --show-errors --owner: --and: --newer: --older: ' +
    '--changed-after: --relative-path --path-separator: --one-file-system --no-ignore-vcs --no-ignore-parent --no-hidden --ignore --regex --maxdepth: ' +
    '--ignore-file@ --no-require-git --hyperlink? --max-buffer-time: --no-global-ignore-file',
  'bat batcat':
    '-f -P -s -S -d -u -m: --wrap: --tabs: --terminal-width: --file-name: --map-syntax: --highlight-line: --chop-long-lines --force-colorization ' +
    '--show-all --squeeze-blank --squeeze-limit: --nonprintable-notation: --italic-text: --strip-ansi: --unbuffered --binary: --no-config -L --list-languages --list-themes',
  'eza exa lsd':
    '-b -B -f -I: -M -o -w: -X -Z -# -@ --absolute --accessed --binary --blocksize --bytes --classify? --color-scale? --created --dereference ' +
    '--extended --git-ignore --git-repos --group --hyperlink --ignore-glob: --inode --links --modified --no-filesize --no-quotes --numeric ' +
    '--octal-permissions --oneline --only-dirs --only-files --recurse --sort: --time: --time-style: --total-size --width: --blocks: --date: --depth: --human-readable --almost-all',
  'sw_vers iostat mpstat clear':
    '-productVersion -productName -buildVersion --productVersion --productName --buildVersion -N -P: -t -z -p? -A -u -I: --human --dec:',
  'cal ncal':
    '-b -C -e -h -J -M -N -o -p -S -w -c: -d: -H: --three --monday --sunday --year --week --color? --months: --twelve --julian --iso --reform:',
  look: '-a --alternative --alphanum --ignore-case --terminate:',
  column:
    '-E: -W: -L -T: -O: -d -e -H: -r: -i: -p: -l: -C: -m -V --table-columns: --table-name: --table-right: --table-hide: --table-noheadings --table-truncate: ' +
    '--table-wrap: --table-empty-lines --table-order: --table-column: --table-header-repeat --table-noextreme: --table-columns-limit: --json --fillrows --tree: ' +
    '--tree-id: --tree-parent: --output-width: --keep-empty-lines --input-separator: --use-spaces:',
  cut: '--no-partial --whitespace-delimited?',
  whereis: '-l',
  getconf: '-v:',
  seq: '-t:',
  stat: '-n -q -l -F --cached:',
  zipinfo: '-z -C -T -M --h --t',
  tail: '--zero-terminated --max-unchanged-stats:',
  head: '--zero-terminated',
  wc: '--debug',
  tac: '--before --regex',
  'pkg-config pkgconf':
    '--cflags-only-I --cflags-only-other --libs-only-L --libs-only-l --libs-only-other --exact-version: --max-version: --define-variable: --print-provides ' +
    '--print-requires --print-requires-private --short-errors --errors-to-stdout --list-package-names --keep-system-cflags --keep-system-libs --path',
  'cloc tokei scc':
    '--quiet --csv --md --yaml --hide-rate --include-lang: --exclude-lang: --exclude-ext: --include-ext: --fullpath --by-percent: --sum-one ' +
    '--skip-uniqueness --progress-rate: --compact --no-ignore --no-cocomo --no-complexity --no-min --wide',
};
