// Packers: they list, test or print what is packed, and everything else that they do writes files or may start a
// program.

import { type Effect, reads, unknown } from './effect.ts';
import { readOptions } from './options.ts';
import { startsWithGlob, textWord, type Word } from './script.ts';

export const ARCHIVES: Readonly<Record<string, (args: readonly Word[]) => Effect>> = {
  unzip(args) {
    if (args.some(startsWithGlob)) return PATTERN;
    const {
      operands,
      seen,
      unknown: strange,
    } = readOptions(args, '-l -v -t -Z -q -1 -2 -p -c -a -C -L -M -h -s -m');
    const lists = ['-l', '-v', '-t', '-Z', '-p', '-c'].some((name) => seen.has(name));
    return strange === undefined && lists ? reads(operands.slice(0, 1)) : unknown('unpacks files');
  },
  gzip: archiveEffect,
  xz: archiveEffect,
  zstd: archiveEffect,
  bzip2: archiveEffect,
  gunzip: archiveEffect,
  bunzip2: archiveEffect,
  unxz: archiveEffect,
  unzstd: archiveEffect,
  tar: tarEffect,
  bsdtar: tarEffect,
  cpio(args) {
    const options = '-i -t -v -n -F@ --list --quiet --numeric-uid-gid --extract --file@ --verbose';
    const { seen, reads: archives, unknown: strange } = readOptions(args, options);
    const lists = seen.has('-t') || seen.has('--list');
    return strange === undefined && lists && !archives.some(isRemote)
      ? reads(archives)
      : unknown('packs or unpacks files');
  },
  // What it takes behind `@` is a file of options.
  ar(args) {
    const [letters, ...files] = args;
    return /^-?[tp][vOPV]*$/.test(letters?.value ?? '') && !files.some(mayBeMore)
      ? reads(files)
      : unknown('packs or unpacks files');
  },
  jar(args) {
    const [letters, archive, ...members] = args;
    const lists = /^-?(?:tv?f|vtf)$/.test(letters?.value ?? '') && !members.some(mayBeMore);
    return lists && archive !== undefined && !mayBeMore(archive)
      ? reads([archive])
      : unknown('packs or unpacks files');
  },
  '7z': sevenZipEffect,
  '7za': sevenZipEffect,
  '7zr': sevenZipEffect,
  '7zz': sevenZipEffect,
  unrar(args) {
    const [verb, archive, ...members] = args;
    return /^(?:l[bt]*|v[bt]*|t)$/.test(verb?.value ?? '') && archive !== undefined && !args.some(mayBeMore)
      ? reads([archive, ...members.filter(({ value }) => value.includes('/'))])
      : unknown('packs or unpacks files');
  },
};

/** The name of a file could be an option that unpacks. */
const PATTERN = unknown('gives a packer a pattern that could turn into an option');

/** It may turn out to be an option, or a file of them. */
function mayBeMore(word: Word): boolean {
  return /^[-@]/.test(word.value) || startsWithGlob(word) || word.open !== undefined;
}

/** `host:file` is an archive of another machine. */
function isRemote({ value }: Word): boolean {
  return value.includes(':');
}

/** Only what changes which members are shown, and how. */
const TAR =
  '-t -v -z -j -J -f@ -a -O -x -d -p -k -m -s -i -B -R -C@ -X@ -h -l --list --verbose --file@ --gzip --gunzip --ungzip --bzip2 --xz --zstd ' +
  '--lzip --lzma --lzop --auto-compress --extract --get --to-stdout --diff --compare --directory@ --exclude: --exclude-from@ --wildcards ' +
  '--no-wildcards --wildcards-match-slash --no-wildcards-match-slash --anchored --no-anchored --ignore-case --no-ignore-case ' +
  '--strip-components: --full-time --numeric-owner --quoting-style: --show-transformed-names --no-recursion --utc --block-number --totals?';

function tarEffect(args: readonly Word[]): Effect {
  const other = unknown('packs or unpacks files');
  if (args.some(startsWithGlob)) return other;
  const [first, ...rest] = args;
  // The old spelling without a dash: what its letters take follows in their order, here the archive alone.
  const old = /^[tdxvzjJOpi]+f?$/.test(first?.value ?? '') && first !== undefined && !first.glob;
  const {
    operands,
    seen,
    reads: named,
    unknown: strange,
  } = readOptions(old ? [textWord(`-${first.value}`), ...rest] : args, TAR);
  if (strange !== undefined || named.some(isRemote)) return other;
  const has = (...names: readonly string[]) => names.some((name) => seen.has(name));
  const unpacks = has('-x', '--extract', '--get');
  const verbs = [unpacks, has('-t', '--list'), has('-d', '--diff', '--compare')].filter(Boolean);
  if (verbs.length !== 1 || (unpacks && !has('-O', '--to-stdout'))) return other;
  // To compare is to read what is beside the archive.
  return reads(has('-d', '--diff', '--compare') ? [...named, ...operands] : named);
}

function sevenZipEffect(args: readonly Word[]): Effect {
  const [verb, archive, ...more] = args;
  const plain = more.every(
    (word) => /^-(?:slt|ba|r-?|bb[0-3]|scrc\w*)$/.test(word.value) || !mayBeMore(word),
  );
  return /^[lt]$/.test(verb?.value ?? '') && archive !== undefined && !mayBeMore(archive) && plain
    ? reads([archive])
    : unknown('packs or unpacks files');
}

/** Lists, tests, or prints what is packed or would be. */
function archiveEffect(args: readonly Word[]): Effect {
  const {
    operands,
    seen,
    unknown: strange,
  } = readOptions(
    args,
    '-l -v -t -c -d -k -q -n -N -e -s -f -z -# -T? --list --test --verbose --stdout --to-stdout --decompress --uncompress --keep --quiet ' +
      '--no-name --name --fast --best --extreme --small --force --threads?',
  );
  if (args.some(startsWithGlob)) return PATTERN;
  const has = (...names: readonly string[]) => names.some((name) => seen.has(name));
  // To most of them the last of what they are to do counts.
  const packs = has('-d', '-z', '--decompress', '--uncompress');
  const lists = !packs && has('-l', '-t', '--list', '--test');
  // Without a file it passes on what it is given.
  const filters = operands.length === 0 || (operands.length === 1 && operands[0]?.value === '-');
  const shows = lists || filters || has('-c', '--stdout', '--to-stdout');
  return strange === undefined && shows ? reads(operands) : unknown('packs or unpacks files');
}
