// `sed`, `awk` and `find`: readers whose arguments are small programs of their own. Only the forms that can be
// read in full are understood; a program that could write or start another is unknown or dangerous.

import { dangerous, type Effect, reads, unknown, unknownOption, writes } from './effect.ts';
import { readOptions } from './options.ts';
import type { Word } from './tokenize.ts';

const SED_OPTIONS =
  '-n -E -r -s -u -z -l: -e: --quiet --silent --regexp-extended --separate --null-data --posix --expression: -i? --in-place?';

export function sedEffect(args: readonly Word[]): Effect {
  if (args.some(({ raw }) => /^[*?[]/.test(raw)))
    return unknown('gives sed a pattern that could turn into an option');
  // `-i` takes a suffix only when it touches; anything after it in a cluster is that suffix.
  const { seen, operands, unknown: strange } = readOptions(args, SED_OPTIONS);
  if (strange !== undefined) return unknownOption('sed', strange);
  if (args.filter(({ value }) => /^(?:-[nErsuz]*e|--expression)/.test(value)).length > 1)
    return unknown('gives sed several scripts');
  const given = seen.get('-e') ?? seen.get('--expression');
  const script = given ?? operands[0];
  const files = given === undefined ? operands.slice(1) : operands;
  // GNU sed puts `*` and `/` of a suffix to use as the name of a file elsewhere.
  const suffix = (seen.get('-i') ?? seen.get('--in-place'))?.value ?? '';
  if (!/^[\w.~-]*$/.test(suffix)) return unknown('keeps copies in another folder');
  if (script !== undefined && /(?:^|[;\n{}])\s*[\d$,!]*e\b/.test(script.value))
    return dangerous('runs a program from sed');
  if (script === undefined || !isPlainSed(script.value))
    return unknown('runs a sed script that may do more than print');
  if (!seen.has('-i') && !seen.has('--in-place')) return reads(files);
  return writes(files, 'changes files in place', files);
}

// A bracket that holds the delimiter ends the pattern in GNU sed and not in BSD's, so it is not read at all.
const SED_ADDRESS = String.raw`(?:\d+(?:~\d+)?|\$|/(?:[^/\\\n[]|\\.|\[[^\]/\\\n]+\])*/I?)`;
const SED_STATEMENT = new RegExp(
  String.raw`\s*(?:${SED_ADDRESS}(?:,\s*(?:${SED_ADDRESS}|[+~]\d+))?)?\s*!?\s*` +
    String.raw`(?:[pdqQ=nNPDhHgGxl]|s([/|#,:@!%])(?:(?!\1)[^\\\n[]|\\.|\[(?:(?!\1)[^\]\\\n])+\])*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*)\s*(?:[;\n]|$)`,
  'y',
);

/** Every statement only selects, substitutes or prints. */
function isPlainSed(script: string): boolean {
  if (script.trim() === '') return false;
  let at = 0;
  while (at < script.length) {
    SED_STATEMENT.lastIndex = at;
    const match = SED_STATEMENT.exec(script);
    if (match === null || match[0] === '') return script.slice(at).trim() === '';
    at = SED_STATEMENT.lastIndex;
  }
  return true;
}

export function awkEffect(args: readonly Word[]): Effect {
  const { operands, unknown: strange } = readOptions(args, '-F: -v: --field-separator: --assign:', true);
  if (strange !== undefined) return unknownOption('awk', strange);
  const [program, ...files] = operands;
  if (program === undefined) return unknown('runs an awk program that is not named');
  const { value } = program;
  if (/\bsystem\b/.test(value)) return dangerous('runs a program from awk');
  // A `>` writes inside braces and compares outside them; with strings or patterns about, braces prove nothing.
  if (/\bgetline\b|@/.test(value) || value.replaceAll('||', '').includes('|'))
    return unknown('runs an awk program that may do more than print');
  if (value.includes('>') && (/["/\\]/.test(value) || comparesInBraces(value)))
    return unknown('runs an awk program that may write files');
  return reads(files.filter((word) => !/^[A-Za-z_]\w*=/.test(word.value)));
}

function comparesInBraces(program: string): boolean {
  let depth = 0;
  for (const character of program) {
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    else if (character === '>' && depth > 0) return true;
  }
  return false;
}

const FIND_LEADING = new Set(['-H', '-L', '-P']);
const FIND_PLAIN = new Set(
  (
    '-a -and -o -or -not ! ( ) , -print -print0 -ls -prune -quit -true -false -daystart -depth -d -follow -mount -xdev -empty ' +
    '-executable -readable -writable -nouser -nogroup -noleaf -warn -nowarn -E'
  ).split(' '),
);
const FIND_VALUED = new Set(
  (
    '-amin -atime -cmin -ctime -mmin -mtime -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname -ilname ' +
    '-type -xtype -size -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -used -fstype -printf'
  ).split(' '),
);
const FIND_FILE = new Set(['-newer', '-anewer', '-cnewer', '-samefile']);
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
const FIND_WRITES = new Set(['-fprint', '-fprint0', '-fprintf', '-fls']);

const FIND_REPLACED = unknown('gives find a pattern that the shell would replace first');

export function findEffect(args: readonly Word[]): Effect {
  const values = args.map(({ value }) => value);
  if (values.some((value) => FIND_RUNS.has(value))) return dangerous('runs a program on what find finds');
  if (values.includes('-delete')) return dangerous('deletes what find finds');
  const paths: Word[] = [];
  const written: Word[] = [];
  let expression = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined) break;
    const { value } = word;
    if (!expression && FIND_LEADING.has(value)) continue;
    expression ||= /^[-!(,]/.test(value);
    if (word.glob && (expression || /^[*?[]/.test(word.raw))) return FIND_REPLACED;
    if (!expression) paths.push(word);
    else if (FIND_VALUED.has(value)) {
      if (args[at + 1]?.glob) return FIND_REPLACED;
      at += 1;
    } else if (FIND_FILE.has(value) || /^-newer[aBcm][aBcmt]$/.test(value)) {
      const file = args[at + 1];
      if (file !== undefined && !value.endsWith('t')) paths.push(file);
      at += 1;
    } else if (FIND_WRITES.has(value)) {
      const file = args[at + 1];
      if (file !== undefined) written.push(file);
      at += value === '-fprintf' ? 2 : 1;
    } else if (!FIND_PLAIN.has(value)) return unknownOption('find', value);
  }
  return written.length > 0 ? writes(written, 'writes a file', paths) : reads(paths);
}
