// Finds tool calls that a model printed into its text, as local servers let it happen when template and model do not
// match. What may still become a call is held back; what turns out to be none is text again, unchanged. Nothing is
// taken for a call that stands in a code block or between backticks, or that names a tool which is not offered.

import type { ToolSchema } from '../../core/model.ts';
import { BARE, FENCE, type ReadCall, type SchemaOf, TAGGED, type TextDialect } from './text-call-dialects.ts';

/** Characters that an opening begins with. */
const MARK = /[<[`]/;
const MARKS = /[<[`{]/g;
const LONGEST_CLOSE = 32;
const LONGEST_HEAD = 40;
/** Characters that are held back at most (law 5). */
const LONGEST_CALL = 1024 * 1024;
/** Ends behind which there was no call; a model that prints one opening after the other is not followed for ever. */
const MOST_FAILURES = 32;

interface Region {
  readonly dialect: TextDialect;
  /** It begins as a call does. */
  sure: boolean;
  /** Where in the body an end is looked for. */
  searched: number;
}

export class TextCalls {
  readonly found: ReadCall[] = [];
  readonly #tools: ReadonlyMap<string, ToolSchema>;
  readonly #schemaOf: SchemaOf;
  /** What is not decided. Within a region it begins with the opening. */
  #rest = '';
  #region: Region | undefined;
  /** The last characters of a region. */
  #window = '';
  /** What is there does not suffice to decide. */
  #waiting = false;
  #inFence = false;
  #failures = 0;
  /** Text was shown. */
  #begun = false;
  /** Blank lines before an answer and around calls are not shown. */
  #trim = true;
  #lastShown = '';

  constructor(tools: readonly ToolSchema[]) {
    this.#tools = new Map(tools.map((tool) => [tool.name, tool]));
    this.#schemaOf = (tool, argument) => this.#tools.get(tool)?.input.properties?.[argument];
  }

  /** Takes a piece of text; returns what of the text so far can be shown. */
  push(delta: string): string {
    const region = this.#region;
    if (region === undefined) {
      const plain = this.#failures > MOST_FAILURES || !MARK.test(delta);
      if (plain && this.#rest === '' && !this.#trim) {
        this.#lastShown = delta;
        return delta;
      }
    } else if (region.sure && this.#rest.length < LONGEST_CALL) {
      const window = this.#window + delta;
      this.#window = window.slice(-LONGEST_CLOSE);
      if (!region.dialect.close.some((close) => window.includes(close))) {
        this.#rest += delta;
        return '';
      }
    }
    this.#rest += delta;
    return this.#advance(false);
  }

  /** The answer is over; returns what was held back and is no call. */
  end(): string {
    return this.#advance(true);
  }

  #advance(final: boolean): string {
    let shown = '';
    this.#waiting = false;
    while (this.#rest !== '' && !this.#waiting)
      if (this.#failures > MOST_FAILURES) shown += this.#show(this.#rest.length);
      else shown += this.#region === undefined ? this.#open(final) : this.#close(this.#region, final);
    return shown;
  }

  /** Shows the text before the next opening; the opening begins a region. */
  #open(final: boolean): string {
    if (this.#trim) this.#rest = this.#rest.trimStart();
    for (const { 0: mark, index } of this.#rest.matchAll(MARKS)) {
      const dialect = this.#dialectAt(mark, index, final);
      if (dialect === undefined) continue;
      const shown = this.#show(index);
      if (dialect === 'perhaps') this.#waiting = true;
      else this.#region = { dialect, sure: dialect.heads === undefined, searched: 0 };
      return shown;
    }
    return this.#show(this.#rest.length);
  }

  /** What begins at a mark; `perhaps` when there is too little of it to tell. */
  #dialectAt(mark: string, at: number, final: boolean): TextDialect | 'perhaps' | undefined {
    const rest = this.#rest;
    if (mark === '`') {
      if (rest[at - 1] === '`') return undefined;
      const run = /^`+/.exec(rest.slice(at, at + FENCE.open.length))?.[0] ?? '';
      if (run !== FENCE.open) return !final && at + run.length === rest.length ? 'perhaps' : undefined;
      if (!this.#inFence) return FENCE;
      this.#inFence = false;
      return undefined;
    }
    const previous = at > 0 ? rest[at - 1] : this.#lastShown.at(-1);
    if (this.#inFence || previous === '`') return undefined;
    for (const dialect of TAGGED) {
      if (rest.startsWith(dialect.open, at)) return dialect;
      if (!final && rest.length - at < dialect.open.length && dialect.open.startsWith(rest.slice(at)))
        return 'perhaps';
    }
    return !this.#begun && at === 0 && mark !== '<' ? BARE : undefined;
  }

  #show(length: number): string {
    const shown = this.#rest.slice(0, length);
    this.#rest = this.#rest.slice(length);
    if (shown === '') return '';
    this.#begun = true;
    this.#trim = false;
    this.#lastShown = shown;
    return shown;
  }

  /** Takes the region's calls out, or shows what is certainly none. */
  #close(region: Region, final: boolean): string {
    const { dialect } = region;
    const body = this.#rest.slice(dialect.open.length);
    if (!region.sure) {
      const fits = this.#fits(body, dialect);
      if (fits === undefined && !final) return this.#wait();
      if (fits === false) return this.#giveUp(dialect);
      region.sure = true;
    }
    for (let end = endOf(body, dialect, region.searched); end !== undefined; ) {
      const calls = this.#callsIn(body.slice(0, end.at), dialect);
      if (calls !== undefined) return this.#take(calls, body.slice(end.at + end.length));
      region.searched = end.at + 1;
      if (this.#failures > MOST_FAILURES) return this.#giveUp(dialect);
      end = endOf(body, dialect, region.searched);
    }
    region.searched = Math.max(region.searched, body.length - LONGEST_CLOSE);
    if (!final && body.length < LONGEST_CALL) return this.#wait();
    const calls = final ? this.#callsIn(body, dialect) : undefined;
    return calls === undefined ? this.#giveUp(dialect) : this.#take(calls, '');
  }

  #wait(): string {
    this.#waiting = true;
    this.#window = this.#rest.slice(-LONGEST_CLOSE);
    return '';
  }

  #take(calls: readonly ReadCall[], rest: string): string {
    this.found.push(...calls);
    this.#region = undefined;
    this.#rest = rest;
    this.#trim = true;
    this.#begun = true;
    return '';
  }

  /** What looked like a call is text; what follows the opening is looked at again. */
  #giveUp({ open }: TextDialect): string {
    this.#region = undefined;
    if (open === FENCE.open) this.#inFence = true;
    return this.#show(Math.max(open.length, 1));
  }

  /** Whether a body begins as a call does; undefined while there is too little of it. */
  #fits(body: string, { heads = [], named }: TextDialect): boolean | undefined {
    const head = body.slice(0, 4 * LONGEST_HEAD).replace(/\s+/g, '');
    const all = named === true ? [...heads, ...this.#tools.keys()] : heads;
    if (all.some((one) => head.startsWith(one))) return true;
    return all.some((one) => one.startsWith(head)) ? undefined : false;
  }

  /** The calls of a body, if all of them are of tools that are offered. */
  #callsIn(body: string, dialect: TextDialect): readonly ReadCall[] | undefined {
    const calls = dialect.read(body, this.#schemaOf);
    if (calls?.every(({ name }) => this.#tools.has(name)) === true) return calls;
    this.#failures++;
    return undefined;
  }
}

function endOf(
  body: string,
  { close }: TextDialect,
  from: number,
): { at: number; length: number } | undefined {
  let first: { at: number; length: number } | undefined;
  for (const end of close) {
    const at = body.indexOf(end, from);
    if (at >= 0 && (first === undefined || at < first.at)) first = { at, length: end.length };
  }
  return first;
}
