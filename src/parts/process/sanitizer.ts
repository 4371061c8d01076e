// Turns what a program wrote for a terminal into plain text: control sequences go, and a line that was
// overwritten keeps its last state. Follows the parser of ECMA-48 terminals (vt100.net/emu/dec_ansi_parser)
// with one difference: a newline ends any sequence, so that nothing can hide more than its own line.

const TEXT = 0;
/** After ESC. */
const ESCAPE = 1;
/** After ESC and an intermediate byte, such as the `(` of a character set. */
const DESIGNATE = 2;
const CSI = 3;
/** OSC, DCS, SOS, PM or APC: everything up to the string terminator. */
const STRING = 4;
/** ESC inside a string: `\` ends it. */
const STRING_ESCAPE = 5;

/** Code units of an unfinished line that can still be overwritten; what is longer is let go in such pieces. */
const LINE_LIMIT = 4096;

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_TEXT = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Works on code units and not on strings: noise of a control at every fifth unit costs no more than text. */
export class Sanitizer {
  #state = TEXT;
  /** The parameters of the CSI sequence that is being read, as far as they can matter. */
  #parameters = '';
  /** What is final and, from `#line` to `#end`, the unfinished line. */
  #units = new Uint16Array(2 * LINE_LIMIT);
  /** Something of it takes more than a byte. */
  #isWide = false;
  #line = 0;
  #end = 0;
  /** Where the next character goes. Writing before the end drops what follows. */
  #cursor = 0;

  /** The unfinished last line as it stands. */
  get pending(): string {
    return this.#text(this.#line, this.#end);
  }

  /** Returns the text that is final. How the input is split makes no difference to what all calls return. */
  push(text: string): string {
    const newline = this.#isAtRest && !NO_TEXT.test(text) ? text.lastIndexOf('\n') : -1;
    // Whole lines with nothing to take out, most of what is ever printed, pass as they are.
    if (newline >= 0)
      return `${this.end()}${text.slice(0, newline + 1)}${this.push(text.slice(newline + 1))}`;
    this.#reserve(text.length);
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (isBidi(code)) continue;
      if (this.#state === TEXT && isText(code)) this.#put(code);
      else this.#read(code);
    }
    const final = this.#text(0, this.#line);
    this.#units.copyWithin(0, this.#line, this.#end);
    this.#end -= this.#line;
    this.#cursor -= this.#line;
    this.#line = 0;
    if (this.#end === 0) this.#isWide = false;
    return final;
  }

  /** Returns the unfinished last line; an unfinished sequence is dropped. */
  end(): string {
    const rest = this.pending;
    this.#end = 0;
    this.#cursor = 0;
    this.#state = TEXT;
    this.#isWide = false;
    return rest;
  }

  get #isAtRest(): boolean {
    return this.#state === TEXT && this.#cursor === this.#end;
  }

  #read(code: number): void {
    if (code === 0x0a) {
      this.#state = TEXT;
      this.#put(code);
    } else if (code === 0x18 || code === 0x1a) {
      this.#state = TEXT;
    } else if (code >= 0x80 && code <= 0x9f) {
      this.#state = afterC1(code);
      this.#parameters = '';
    } else {
      this.#state = this.#next(code);
    }
  }

  #next(code: number): number {
    switch (this.#state) {
      case ESCAPE:
        return this.#afterEscape(code);
      case DESIGNATE:
        if (code === 0x1b) return ESCAPE;
        return code >= 0x30 && code < 0x7f ? TEXT : DESIGNATE;
      case CSI:
        return this.#inSequence(code);
      case STRING:
        if (code === 0x07) return TEXT;
        return code === 0x1b ? STRING_ESCAPE : STRING;
      case STRING_ESCAPE:
        return code === 0x5c ? TEXT : this.#afterEscape(code);
      default:
        return this.#control(code);
    }
  }

  #afterEscape(code: number): number {
    this.#parameters = '';
    if (code === 0x1b) return ESCAPE;
    if (code === 0x5b) return CSI;
    if (code === 0x5d || code === 0x50 || code === 0x58 || code === 0x5e || code === 0x5f) return STRING;
    if (code >= 0x20 && code < 0x30) return DESIGNATE;
    if (code > 0x7f) return this.#plain(code);
    return code < 0x20 ? ESCAPE : TEXT;
  }

  #inSequence(code: number): number {
    if (code === 0x1b) return ESCAPE;
    if (code > 0x7f) return this.#plain(code);
    if (code >= 0x40 && code < 0x7f) {
      // Spinners go back to the first column with `CSI G` instead of a carriage return.
      if (code === 0x47 && (this.#parameters === '' || this.#parameters === '1')) this.#cursor = this.#line;
      return TEXT;
    }
    if (code >= 0x20 && this.#parameters.length < 2) this.#parameters += String.fromCharCode(code);
    return CSI;
  }

  #control(code: number): number {
    if (code === 0x1b) return ESCAPE;
    if (code === 0x0d) this.#cursor = this.#line;
    else if (code === 0x08) this.#back();
    return TEXT;
  }

  /** A character that no sequence can contain ends it and is text. */
  #plain(code: number): number {
    this.#put(code);
    return TEXT;
  }

  #back(): void {
    if (this.#cursor > this.#line) this.#cursor--;
    if (this.#cursor > this.#line && isLowSurrogate(this.#units[this.#cursor])) this.#cursor--;
  }

  /** `code` is no control but newline or tab; there is room for it. */
  #put(code: number): void {
    const isNewline = code === 0x0a;
    if (!isNewline) this.#end = this.#cursor;
    this.#units[this.#end++] = code;
    if (code > 0xff) this.#isWide = true;
    this.#cursor = this.#end;
    if (isNewline) this.#line = this.#end;
    else if (this.#end - this.#line >= LINE_LIMIT)
      this.#line = isHighSurrogate(code) ? this.#end - 1 : this.#end;
  }

  #reserve(length: number): void {
    if (this.#end + length <= this.#units.length) return;
    const larger = new Uint16Array(this.#end + length);
    larger.set(this.#units.subarray(0, this.#end));
    this.#units = larger;
  }

  #text(from: number, to: number): string {
    const units = this.#units.subarray(from, to);
    if (this.#isWide)
      return Buffer.from(units.buffer, units.byteOffset, units.byteLength).toString('utf16le');
    return Buffer.from(units).toString('latin1');
  }
}

function afterC1(code: number): number {
  if (code === 0x9b) return CSI;
  const opensString = code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;
  return opensString ? STRING : TEXT;
}

/** Newline and tab are text; everything else from C0, DEL and C1 is not. */
function isText(code: number): boolean {
  if (code < 0x20) return code === 0x0a || code === 0x09;
  return code < 0x7f || code > 0x9f;
}

/** What turns text around for a reader's eyes (UAX #9): what is seen must be what is there. */
function isBidi(code: number): boolean {
  return code >= 0x202a && code <= 0x2069 && (code <= 0x202e || code >= 0x2066);
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number | undefined): boolean {
  return code !== undefined && code >= 0xdc00 && code <= 0xdfff;
}

/** A whole text at once. */
export function plainText(text: string): string {
  const sanitizer = new Sanitizer();
  return sanitizer.push(text) + sanitizer.end();
}
