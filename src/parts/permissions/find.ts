// `find`: a reader whose arguments are a small program of their own. Only what can be read in full is understood; one
// that could write or start another program than a reader is unknown or dangerous.

import { dangerous, type Effect, reads, unknown, unknownOption, writes } from './effect.ts';
import type { Word } from './script.ts';
import { expressionMeansSecrets, nameMeansSecrets } from './secret-files.ts';

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

/** With these it finds links, or what lies behind them. */
const FOLLOWING = ['-L', '-follow', '-lname', '-ilname', '-xtype'];

/** Whether what it finds may be links that lead anywhere, by its arguments. */
export function findsLinks(values: readonly string[]): boolean {
  const isAsked = values.some((each, index) => /(?:^|,)l(?:,|$)/.test(each) && values[index - 1] === '-type');
  return isAsked || FOLLOWING.some((each) => values.includes(each));
}

const FIND_REPLACED = unknown('gives find a pattern that the shell would replace first');

/** `run` judges what `-exec` runs. */
export function findEffect(args: readonly Word[], run: (words: readonly Word[]) => Effect): Effect {
  const values = args.map(({ value }) => value);
  if (values.includes('-delete')) return dangerous('deletes what find finds');
  const paths: Word[] = [];
  const written: Word[] = [];
  let expression = false;
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at];
    if (word === undefined) break;
    const { value } = word;
    if (!expression && FIND_LEADING.has(value)) continue;
    // The expression has begun, but some take these words anywhere.
    if (value === '-L') return unknownOption('find', value);
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
    } else if (FIND_RUNS.has(value)) {
      const end = args.findIndex(
        (each, index) =>
          index > at &&
          (each.value === ';' ||
            (each.value === '+' && args[index - 1]?.value === '{}' && !value.startsWith('-ok'))),
      );
      const effect = end === -1 ? undefined : run(foundBy(args.slice(at + 1, end), paths, args));
      if (findsLinks(values)) return unknown('opens what links that find finds lead to');
      if (effect?.kind !== 'read') return effect ?? dangerous('runs a program on what find finds');
      paths.push(...effect.reads);
      at = end;
    } else if (!FIND_PLAIN.has(value)) return unknownOption('find', value);
  }
  return written.length > 0 ? writes(written, 'writes a file', paths) : reads(paths);
}

/** The words of `-exec` with what is found in the place of `{}`. */
function foundBy(words: readonly Word[], [start]: readonly Word[], args: readonly Word[]): readonly Word[] {
  const found = foundIn(start, args);
  // A word that holds more than the braces is something else with every file.
  return words.map((word) =>
    word.value === '{}'
      ? { raw: '{}', value: found, quoted: false, glob: true }
      : word.value.includes('{}')
        ? { ...word, open: 'text', known: 0 }
        : word,
  );
}

function foundIn(start: Word | undefined, args: readonly Word[]): string {
  return `${start?.value.replace(/\/$/, '') ?? '.'}/${soughtName(args)}`;
}

/** What stands for the names that it hands to what it runs, by its arguments. */
export function foundName(args: readonly Word[]): string {
  const [start] = args.filter(({ value }) => !FIND_LEADING.has(value));
  return foundIn(start === undefined || /^[-!(]/.test(start.value) ? undefined : start, args);
}

/** The pattern that stands for what it finds: the one that may mean secrets, where there is one. */
export function soughtName(args: readonly Word[]): string {
  const names = args.flatMap(({ value }, at) =>
    /^-(?:i?name|i?path|i?wholename)$/.test(args[at - 1]?.value ?? '')
      ? [value.split('/').at(-1) ?? '*']
      : [],
  );
  const sought = args.some(
    ({ value }, at) => /^-i?regex$/.test(args[at - 1]?.value ?? '') && expressionMeansSecrets(value),
  );
  return sought || names.some(nameMeansSecrets) ? '.env' : '*';
}
