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

export class Sanitizer {
  #state = TEXT;
  /** The parameters of the CSI sequence that is being read, as far as they can matter. */
  #parameters = '';
  #line = '';
  /** Where in the line the next character goes. Writing before its end drops what follows. */
  #cursor = 0;
  #out = '';

  /** Returns the text that is final. How the input is split makes no difference to what all calls return. */
  push(text: string): string {
    this.#out = '';
    let at = 0;
    while (at < text.length) {
      if (this.#state === TEXT) {
        const end = nextControl(text, at);
        if (end > at) this.#write(text.slice(at, end));
        if (end === text.length) break;
        at = end;
      }
      this.#read(text.charCodeAt(at));
      at++;
    }
    return this.#out;
  }

  /** Returns the unfinished last line; an unfinished sequence is dropped. */
  end(): string {
    const rest = this.#line;
    this.#line = '';
    this.#cursor = 0;
    this.#state = TEXT;
    return rest;
  }

  #read(code: number): void {
    if (code === 0x0a) {
      this.#state = TEXT;
      this.#write('\n');
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
      if (code === 0x47 && (this.#parameters === '' || this.#parameters === '1')) this.#cursor = 0;
      return TEXT;
    }
    if (code >= 0x20 && this.#parameters.length < 2) this.#parameters += String.fromCharCode(code);
    return CSI;
  }

  #control(code: number): number {
    if (code === 0x1b) return ESCAPE;
    if (code === 0x0d) this.#cursor = 0;
    else if (code === 0x08) this.#back();
    return TEXT;
  }

  /** A character that no sequence can contain ends it and is text. */
  #plain(code: number): number {
    this.#write(String.fromCharCode(code));
    return TEXT;
  }

  #back(): void {
    if (this.#cursor > 0) this.#cursor--;
    if (this.#cursor > 0 && isLowSurrogate(this.#line.charCodeAt(this.#cursor))) this.#cursor--;
  }

  /** `run` holds no controls but newlines and tabs. */
  #write(run: string): void {
    if (this.#cursor < this.#line.length && run.charCodeAt(0) !== 0x0a) {
      this.#line = this.#line.slice(0, this.#cursor);
    }
    const newline = run.lastIndexOf('\n');
    if (newline < 0) {
      this.#line += run;
    } else {
      this.#out += this.#line + run.slice(0, newline + 1);
      this.#line = run.slice(newline + 1);
    }
    if (this.#line.length >= LINE_LIMIT) this.#release();
    this.#cursor = this.#line.length;
  }

  /** Always at the same places of a line, whatever the pieces were that it came in. */
  #release(): void {
    let from = 0;
    while (this.#line.length - from >= LINE_LIMIT) {
      const end = from + LINE_LIMIT;
      from = isHighSurrogate(this.#line.charCodeAt(end - 1)) ? end - 1 : end;
    }
    this.#out += this.#line.slice(0, from);
    this.#line = this.#line.slice(from);
  }
}

function afterC1(code: number): number {
  if (code === 0x9b) return CSI;
  const opensString = code === 0x90 || code === 0x98 || code === 0x9d || code === 0x9e || code === 0x9f;
  return opensString ? STRING : TEXT;
}

function nextControl(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x20 ? code !== 0x0a && code !== 0x09 : code >= 0x7f && code <= 0x9f) return at;
  }
  return text.length;
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/** A whole text at once. */
export function plainText(text: string): string {
  const sanitizer = new Sanitizer();
  return sanitizer.push(text) + sanitizer.end();
}
