// A command line as its simple commands, by the rules of POSIX `sh` and bash (POSIX.1-2024, XCU 2.2–2.10).
// It does not try to understand everything: whatever expands, nests or cannot be read sets a doubt, and
// reading goes on, so that what hides in a substitution is still seen by the deny rules and the search for danger.

export interface Word {
  /** As it stands in the text. */
  readonly raw: string;
  /** With quotes and escapes removed; expansions stay as they are written. */
  readonly value: string;
  readonly quoted: boolean;
  /** Holds an unquoted `*`, `?` or `[`. */
  readonly glob: boolean;
}

export interface Redirect {
  readonly operator: '<' | '>' | '<<' | '<<<' | '<>';
  readonly target: Word;
}

export type Operator = '&&' | '||' | ';' | '|' | '&' | '\n' | '(' | ')' | '';

export interface SimpleCommand {
  readonly assignments: readonly Word[];
  readonly words: readonly Word[];
  readonly redirects: readonly Redirect[];
  /** What stands before and after it; empty at the ends of the text. */
  readonly before: Operator;
  readonly after: Operator;
}

export interface Script {
  readonly commands: readonly SimpleCommand[];
  /** Why the text cannot be judged as it stands, as the end of a sentence: it … */
  readonly doubt: string | undefined;
}

export const MAX_COMMAND_BYTES = 10_000;
export const MAX_COMMAND_PARTS = 50;
const MAX_DEPTH = 50;

// Controls but for tab and newline, and the invisible characters that show a line as another than it is.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;
const KEYWORDS = new Set(
  'if then else elif fi for while until do done case esac in select function { } [[ ]] coproc'.split(' '),
);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
const CONNECTORS = new Set<Operator>(['&&', '||', '|']);
const META = new Set([' ', '\t', '\n', ';', '&', '|', '<', '>', '(', ')']);

export function tokenize(text: string): Script {
  const reader = new Reader(text);
  reader.readScript(undefined, 0);
  return { commands: reader.commands, doubt: reader.doubt };
}

interface Draft {
  readonly words: Word[];
  readonly redirects: Redirect[];
  before: Operator;
}

class Reader {
  readonly commands: SimpleCommand[] = [];
  doubt: string | undefined;
  readonly #text: string;
  #at = 0;
  readonly #heredocs: { readonly end: string; readonly literal: boolean }[] = [];

  constructor(text: string) {
    this.#text = text;
    if (UNSEEN.test(text)) this.#doubtful('holds characters that cannot be seen');
    if (text.length > MAX_COMMAND_BYTES || new TextEncoder().encode(text).length > MAX_COMMAND_BYTES)
      this.#doubtful(`is longer than ${MAX_COMMAND_BYTES} bytes`);
  }

  #doubtful(reason: string): void {
    this.doubt ??= reason;
  }

  /** Reads up to the end, or past `closing`. */
  readScript(closing: ')' | undefined, depth: number): void {
    let draft: Draft = { words: [], redirects: [], before: '' };
    while (this.#at < this.#text.length) {
      const operator = this.#operator();
      if (operator === undefined) {
        this.#readItem(draft, depth);
        continue;
      }
      // A newline behind `&&`, `||` or `|` does not end the command.
      if (operator === '\n' && isEmpty(draft) && CONNECTORS.has(draft.before)) continue;
      this.#finish(draft, operator);
      if (operator === ')' && closing !== undefined) return;
      if (operator === '\n') this.#readHeredocs(depth);
      if (operator === '(' || operator === ')') this.#doubtful('uses a subshell or a function');
      if (operator === '(' && depth < MAX_DEPTH) this.readScript(')', depth + 1);
      draft = { words: [], redirects: [], before: operator };
    }
    this.#finish(draft, '');
    if (closing !== undefined || this.#heredocs.length > 0) this.#doubtful('ends before it is complete');
  }

  #operator(): Operator | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 2);
    const double = rest === '&&' || rest === '||' ? rest : undefined;
    const single = rest[0];
    if (double !== undefined) {
      this.#at += 2;
      return double;
    }
    if (rest === '|&') {
      this.#at += 2;
      return '|';
    }
    if (single === '&' && rest[1] === '>') return undefined;
    if (single === ';' || single === '|' || single === '&' || single === '\n') {
      this.#at += 1;
      return single;
    }
    if (single === '(' || single === ')') {
      this.#at += 1;
      return single;
    }
    return undefined;
  }

  #finish(draft: Draft, after: Operator): void {
    const { words, redirects, before } = draft;
    if (isEmpty(draft)) {
      // `a ;` and `a &` may end a text; anything else that is empty between operators is no command line.
      const ends = after === '' || after === '\n' || after === '(' || after === ')';
      if (!ends || CONNECTORS.has(before)) this.#doubtful('is incomplete');
      return;
    }
    let first = 0;
    for (let word = words[0]; word !== undefined && isKeyword(word); word = words[first]) {
      if (word.raw !== '!') this.#doubtful(`uses the shell keyword ${word.raw}`);
      first += 1;
    }
    let program = first;
    while (ASSIGNMENT.test(words[program]?.raw ?? '')) program += 1;
    const assignments = words.slice(first, program);
    this.commands.push({ assignments, words: words.slice(program), redirects, before, after });
    if (this.commands.length > MAX_COMMAND_PARTS) this.#doubtful(`has more than ${MAX_COMMAND_PARTS} parts`);
  }

  /** A blank, a comment, a redirection or a word. */
  #readItem(draft: Draft, depth: number): void {
    const text = this.#text;
    const character = text[this.#at];
    if (character === ' ' || character === '\t') {
      this.#at += 1;
    } else if (character === '\\' && text[this.#at + 1] === '\n') {
      this.#at += 2;
    } else if (character === '#') {
      const end = text.indexOf('\n', this.#at);
      this.#at = end === -1 ? text.length : end;
    } else if (character === '<' || character === '>' || character === '&') {
      this.#readRedirect(draft, depth);
    } else {
      const start = this.#at;
      const word = this.#readWord(depth);
      const next = text[this.#at];
      // Digits that touch a redirection are its file descriptor.
      if ((next === '<' || next === '>') && /^\d+$/.test(word.raw)) this.#readRedirect(draft, depth);
      else if (this.#at > start) draft.words.push(word);
    }
  }

  #readRedirect(draft: Draft, depth: number): void {
    const text = this.#text;
    const sign = /^(?:&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<\(|>\(|<|>)/.exec(
      text.slice(this.#at, this.#at + 3),
    )?.[0];
    if (sign === undefined) {
      this.#at += 1;
      this.#doubtful('cannot be read');
      return;
    }
    this.#at += sign.length;
    if (sign.endsWith('(')) {
      this.#doubtful('uses process substitution');
      if (depth < MAX_DEPTH) this.readScript(')', depth + 1);
      return;
    }
    while (text[this.#at] === ' ' || text[this.#at] === '\t') this.#at += 1;
    const target = this.#readWord(depth);
    if (target.raw === '') {
      this.#doubtful('has a redirection to nothing');
      return;
    }
    if ((sign === '>&' || sign === '<&') && /^(?:\d+-?|-)$/.test(target.raw)) return;
    if (sign === '<<' || sign === '<<-') {
      this.#doubtful('uses a here-document');
      this.#heredocs.push({ end: target.value, literal: target.quoted });
    }
    draft.redirects.push({ operator: redirectOperator(sign), target });
  }

  /** Bodies follow the line that announces them. They are data, but an unquoted one is expanded. */
  #readHeredocs(depth: number): void {
    for (const { end, literal } of this.#heredocs.splice(0)) {
      let closed = false;
      while (!closed && this.#at < this.#text.length) {
        const newline = this.#text.indexOf('\n', this.#at);
        const stop = newline === -1 ? this.#text.length : newline;
        const line = this.#text.slice(this.#at, stop);
        this.#at = stop + 1;
        closed = line.replace(/^\t+/, '') === end;
        if (!closed && !literal) this.#readHidden(line, depth);
      }
    }
  }

  /** Substitutions inside a text that is otherwise data. */
  #readHidden(text: string, depth: number): void {
    if (depth >= MAX_DEPTH || !/[`$]/.test(text)) return;
    const inner = new Reader(`"${text.replaceAll('"', '')}"`);
    inner.readScript(undefined, depth + 1);
    this.commands.push(...inner.commands.slice(0, -1));
  }

  #readWord(depth: number): Word {
    const start = this.#at;
    const text = this.#text;
    const word = { value: '', quoted: false, glob: false, brace: false };
    while (this.#at < text.length) {
      const character = text[this.#at] ?? '';
      if (META.has(character)) break;
      if (character === "'") this.#readSingle(word);
      else if (character === '"') this.#readDouble(word, depth);
      else if (character === '\\') this.#readEscape(word);
      else if (character === '$' || character === '`') word.value += this.#readExpansion(false, depth);
      else {
        this.#notice(word, character, this.#at === start);
        word.value += character;
        this.#at += 1;
      }
    }
    return { raw: text.slice(start, this.#at), value: word.value, quoted: word.quoted, glob: word.glob };
  }

  #notice(word: { glob: boolean; brace: boolean }, character: string, first: boolean): void {
    const next = this.#text[this.#at + 1] ?? ' ';
    if (character === '*' || character === '?' || character === '[') word.glob = true;
    else if (character === '{') word.brace = true;
    else if (word.brace && (character === ',' || (character === '.' && next === '.')))
      this.#doubtful('uses brace expansion');
    else if (first && character === '~' && next !== '/' && !META.has(next))
      this.#doubtful("names another user's home folder");
  }

  #readSingle(word: { value: string; quoted: boolean }): void {
    const end = this.#text.indexOf("'", this.#at + 1);
    if (end === -1) this.#doubtful('has a quote that is not closed');
    const stop = end === -1 ? this.#text.length : end;
    word.quoted = true;
    word.value += this.#text.slice(this.#at + 1, stop);
    this.#at = stop + 1;
  }

  #readDouble(word: { value: string; quoted: boolean }, depth: number): void {
    word.quoted = true;
    this.#at += 1;
    while (this.#at < this.#text.length) {
      const character = this.#text[this.#at] ?? '';
      const next = this.#text[this.#at + 1] ?? '';
      if (character === '"') {
        this.#at += 1;
        return;
      }
      if (character === '\\' && '$`"\\\n'.includes(next) && next !== '') {
        if (next !== '\n') word.value += next;
        this.#at += 2;
      } else if (character === '$' || character === '`') {
        word.value += this.#readExpansion(true, depth);
      } else {
        word.value += character;
        this.#at += 1;
      }
    }
    this.#doubtful('has a quote that is not closed');
  }

  #readEscape(word: { value: string; quoted: boolean }): void {
    const next = this.#text[this.#at + 1];
    if (next === undefined) this.#doubtful('ends before it is complete');
    else if (next !== '\n') {
      word.quoted = true;
      word.value += next;
    }
    this.#at += 2;
  }

  /** At `$` or a backquote. Returns the text that stands for it in the word's value. */
  #readExpansion(inDouble: boolean, depth: number): string {
    const start = this.#at;
    const next = this.#text[start + 1] ?? '';
    if (this.#text[start] === '`') {
      this.#doubtful('uses command substitution');
      this.#readBackquoted(depth);
    } else if (next === '(') {
      this.#doubtful('uses command substitution');
      this.#at += 2;
      if (depth < MAX_DEPTH) this.readScript(')', depth + 1);
    } else if (next !== '' && /[A-Za-z0-9_{@*#?$!\-[]/.test(next)) {
      this.#doubtful('uses a variable');
      this.#at += 2;
    } else if (!inDouble && next === "'") {
      this.#doubtful('uses an escaped string');
      return this.#readAnsiString();
    } else if (!inDouble && next === '"') {
      this.#doubtful('uses a translated string');
      this.#at += 1;
      return '';
    } else this.#at += 1;
    return this.#text.slice(start, this.#at);
  }

  #readBackquoted(depth: number): void {
    const match = /^`((?:[^`\\]|\\[\s\S])*)(`|$)/.exec(this.#text.slice(this.#at));
    const inner = match?.[1] ?? '';
    if (match?.[2] !== '`') this.#doubtful('has a quote that is not closed');
    this.#at += match === null ? 1 : match[0].length;
    if (depth >= MAX_DEPTH) return;
    const reader = new Reader(inner.replace(/\\([`\\$])/g, '$1'));
    reader.readScript(undefined, depth + 1);
    this.commands.push(...reader.commands);
  }

  #readAnsiString(): string {
    this.#at += 2;
    const start = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== "'")
      this.#at += this.#text[this.#at] === '\\' ? 2 : 1;
    const body = this.#text.slice(start, this.#at);
    this.#at += 1;
    return ansiString(body);
  }
}

/** `$'\x72m'` names a program as well as `rm` does, and the search for danger has to see it. */
function ansiString(body: string): string {
  const named: Record<string, string> = { n: '\n', t: '\t' };
  return body.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|([0-7]{1,3})|([\s\S]))/g,
    (_, hex: string | undefined, unicode: string | undefined, octal: string | undefined, other: string) => {
      if (hex !== undefined || unicode !== undefined)
        return String.fromCharCode(Number.parseInt(hex ?? unicode ?? '0', 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return named[other] ?? other;
    },
  );
}

function isEmpty({ words, redirects }: Draft): boolean {
  return words.length === 0 && redirects.length === 0;
}

function isKeyword(word: Word): boolean {
  return word.raw === '!' || KEYWORDS.has(word.raw);
}

function redirectOperator(sign: string): Redirect['operator'] {
  if (sign === '<<' || sign === '<<-') return '<<';
  if (sign === '<<<' || sign === '<>') return sign;
  return sign.startsWith('<') ? '<' : '>';
}
