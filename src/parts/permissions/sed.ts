// `sed`: a script is read command by command, as GNU sed 4.9 and the BSDs do; where they differ, or a letter is not
// known, it is not understood. Reading on past the first doubt would be guessing where a text ends and a command begins.

import { dangerous, type Effect, reads, unknown, unknownOption, writes } from './effect.ts';
import { readOptions } from './options.ts';
import { isHarmlessDevice } from './path-scope.ts';
import { textWord, type Word } from './script.ts';

const OPTIONS =
  '-n -E -r -s -u -z -l: -e: --quiet --silent --regexp-extended --separate --null-data --posix --expression: --debug --sandbox -i? --in-place?';

export function sedEffect(args: readonly Word[]): Effect {
  if (args.some(({ raw, settled }) => settled !== true && /^[*?[]/.test(raw)))
    return unknown('gives sed a pattern that could turn into an option');
  // `-i` takes a suffix only when it touches; anything after it in a cluster is that suffix.
  const { seen, given, operands, unknown: strange } = readOptions(args, OPTIONS);
  if (strange !== undefined) return unknownOption('sed', strange);
  // To some it takes no length, and then the script follows.
  if (seen.has('-l') && !/^\d+$/.test(seen.get('-l')?.value ?? '')) return unknownOption('sed', '-l');
  const scripts = given.flatMap(([name, { value }]) =>
    name === '-e' || name === '--expression' ? [value] : [],
  );
  const script = scripts.length > 0 ? scripts.join('\n') : operands[0]?.value;
  const files = scripts.length > 0 ? operands : operands.slice(1);
  // GNU sed puts `*` and `/` of a suffix to use as the name of a file elsewhere.
  const suffix = (seen.get('-i') ?? seen.get('--in-place'))?.value ?? '';
  if (!/^[\w.~-]*$/.test(suffix)) return unknown('keeps copies in another folder');
  const found = script === undefined ? undefined : new SedScript(script).read();
  if (found === 'runs') return dangerous('runs a program from sed');
  if (found === undefined) return unknown('runs a sed script that may do more than print');
  const read = [...files, ...found.reads.map(textWord)];
  const written = found.writes.filter((path) => !isHarmlessDevice(path)).map(textWord);
  if (seen.has('-i') || seen.has('--in-place'))
    return writes([...files, ...written], 'changes files in place', read);
  return written.length > 0 ? writes(written, 'writes a file', read) : reads(read);
}

interface Files {
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

const ADDRESS = /(?:\d+(?:~\d+)?|\$|[+~]\d+)/y;
const PLAIN = /[=dDgGhHnNpPxzF]/y;
const NUMBERED = /[lLqQ][ \t]*\d*/y;
const BRANCH = /(?::[ \t]*|[btT][ \t]*)([\w.-]*)/y;
/** One line of text, with the line's end behind `a\` where it has one. */
const TEXT = /[aic](?:[ \t]*\\\n)?([^\n]*)/y;
const FILE = /[rRwW][ \t]*([^\n]+)/y;
const FLAGS = /[gpiImM\d]*/y;
const BLANKS = /[\s;]*/y;
const LINE_BLANKS = /[ \t]*/y;

/** What a script reads and writes beside its input, `runs` when it starts a program, undefined when it is not understood. */
class SedScript {
  readonly #text: string;
  #at = 0;
  readonly #reads: string[] = [];
  readonly #writes: string[] = [];
  /** A label may take the rest of its line, and what follows there with it. */
  #branched = false;

  constructor(text: string) {
    this.#text = text;
  }

  read(): Files | 'runs' | undefined {
    let depth = 0;
    let commands = 0;
    for (;;) {
      this.#take(BLANKS);
      if (this.#at >= this.#text.length) break;
      commands += 1;
      if (this.#take(/#[^\n]*/y) !== undefined) continue;
      if (!this.#addresses()) return undefined;
      const letter = this.#text[this.#at] ?? '';
      if (letter === 'e') return 'runs';
      if (letter === '{' || letter === '}') {
        depth += letter === '{' ? 1 : -1;
        this.#at += 1;
        if (depth < 0) return undefined;
        if (letter === '{') continue;
      } else {
        const done = this.#command(letter);
        if (done !== true) return done;
      }
      if (!this.#ends()) return undefined;
    }
    return depth === 0 && commands > 0 ? { reads: this.#reads, writes: this.#writes } : undefined;
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match !== null) this.#at += match[0].length;
    return match ?? undefined;
  }

  #ends(): boolean {
    this.#take(LINE_BLANKS);
    return this.#at >= this.#text.length || /[\n;}#]/.test(this.#text[this.#at] ?? '');
  }

  /** False when they cannot be read. */
  #addresses(): boolean {
    if (!this.#address()) return false;
    if (this.#take(/[ \t]*,[ \t]*/y) !== undefined && !this.#address()) return false;
    this.#take(/[ \t]*(?:![ \t]*)*/y);
    return true;
  }

  #address(): boolean {
    if (this.#take(ADDRESS) !== undefined) return true;
    const mark = this.#take(/\/|\\[^\n\w\\]/y);
    if (mark === undefined) return true;
    if (!this.#until(mark[0].at(-1) ?? '', true)) return false;
    this.#take(/[IM]*/y);
    return true;
  }

  /** True when the command was read to its end. */
  #command(letter: string): true | 'runs' | undefined {
    if (this.#take(PLAIN) !== undefined || this.#take(NUMBERED) !== undefined) return true;
    if (letter === 's') return this.#substitution();
    if (letter === 'y') {
      const mark = this.#mark();
      return mark !== undefined && this.#until(mark, false) && this.#until(mark, false) ? true : undefined;
    }
    if (this.#take(BRANCH) !== undefined) {
      this.#branched = true;
      return true;
    }
    const from = this.#at;
    const text = this.#take(TEXT)?.[1];
    // A backslash at the end makes the next line text as well, and not to every sed in the same way.
    if (text !== undefined) {
      const spans = this.#branched && this.#text.slice(from, this.#at).includes('\n');
      return text !== '' && !text.endsWith('\\') && !/[{}]/.test(text) && !spans ? true : undefined;
    }
    const file = this.#take(FILE)?.[1];
    if (file === undefined) return undefined;
    this.#files(letter, file);
    return true;
  }

  #files(letter: string, file: string): void {
    (letter.toLowerCase() === 'w' ? this.#writes : this.#reads).push(file.trim());
  }

  #substitution(): true | 'runs' | undefined {
    const mark = this.#mark();
    if (mark === undefined || !this.#until(mark, true) || !this.#until(mark, false)) return undefined;
    this.#take(FLAGS);
    const letter = this.#text[this.#at];
    if (letter === 'e') return 'runs';
    const file = letter === 'w' ? this.#take(FILE)?.[1] : undefined;
    if (file !== undefined) this.#files('w', file);
    return letter === 'w' && file === undefined ? undefined : true;
  }

  /** The letter that separates the parts of `s` and `y`, which it has passed then. */
  #mark(): string | undefined {
    const mark = this.#text[this.#at + 1];
    this.#at += 2;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: only what can be seen separates.
    return mark === undefined || /[\\\u0000-\u001f\u007f-\uffff]/.test(mark) ? undefined : mark;
  }

  /**
   * Passes a part and the mark behind it. A bracket that holds the mark ends the pattern in GNU sed and not in BSD's,
   * so it is not read at all.
   */
  #until(mark: string, isPattern: boolean): boolean {
    while (this.#at < this.#text.length) {
      const letter = this.#text[this.#at] ?? '';
      if (letter === mark) {
        this.#at += 1;
        return true;
      }
      if (letter === '\n') return false;
      if (letter === '[' && isPattern) {
        const bracket = this.#take(/\[\^?\]?(?:\[[:.=][a-z]*[:.=]\]|[^\]\n])*\]/y);
        if (bracket === undefined || bracket[0].includes(mark)) return false;
      } else this.#at += letter === '\\' ? 2 : 1;
    }
    return false;
  }
}
