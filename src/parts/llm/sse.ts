// Server-sent events (html.spec.whatwg.org/multipage/server-sent-events.html) from bytes that may be cut
// anywhere. Each network read is decoded once and scanned once; a line that is not whole yet stays a rope of
// strings, so that a long line in many small reads is not copied again and again.

export interface SseEvent {
  readonly event?: string;
  readonly data: string;
}

const FIELD = /^(?:data|event|id|retry)(?::|$)|^:/;
/** A first line this long without an end is judged as it stands. */
const SNIFF_LENGTH = 256;
/** Characters of a foreign body that are kept for the error message. */
const HEAD_LENGTH = 4096;
const NONE = Buffer.alloc(0);

export class SseParser {
  #held: Buffer = NONE;
  #rest = '';
  #afterReturn = false;
  #started = false;
  #judged = false;
  #foreign = false;
  #head = '';
  #event = '';
  #data = '';
  #hasData = false;

  /** What came instead of an event stream, once that is certain: its first characters. */
  get foreign(): string | undefined {
    return this.#foreign && this.#head.length >= HEAD_LENGTH ? this.#head : undefined;
  }

  /** The events that one network read completed. The strings may share memory with the read. */
  push(reads: readonly Buffer[]): SseEvent[] {
    const only = reads[0] ?? NONE;
    let text = this.#decode(reads.length === 1 ? only : Buffer.concat(reads));
    if (!this.#started && text !== '') {
      this.#started = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    if (this.#afterReturn || text.includes('\r')) text = this.#unifyLineEnds(text);
    if (!this.#judged) this.#judge(text);
    return this.#foreign ? [] : this.#scan(text);
  }

  /** The body ended: what it was if it was no event stream. An event without its blank line is dropped. */
  end(): string | undefined {
    if (!this.#judged && this.#head.trim() !== '') this.#foreign = !FIELD.test(this.#head.trimStart());
    return this.#foreign ? this.#head : undefined;
  }

  #decode(read: Buffer): string {
    const bytes = this.#held.length === 0 ? read : Buffer.concat([this.#held, read]);
    const whole = bytes.length - incompleteTail(bytes);
    this.#held = whole === bytes.length ? NONE : bytes.subarray(whole);
    return bytes.toString('utf8', 0, whole);
  }

  #unifyLineEnds(text: string): string {
    if (text === '') return text;
    const from = this.#afterReturn && text.charCodeAt(0) === 10 ? 1 : 0;
    this.#afterReturn = text.charCodeAt(text.length - 1) === 13;
    return text.slice(from).replace(/\r\n?/g, '\n');
  }

  /** Decides by the first line that is not empty; a foreign body is only collected for the message. */
  #judge(text: string): void {
    if (this.#head.length < HEAD_LENGTH) this.#head += text.slice(0, HEAD_LENGTH - this.#head.length);
    if (this.#foreign) return;
    const start = this.#head.trimStart();
    const end = start.indexOf('\n');
    if (end < 0 && start.length < SNIFF_LENGTH) return;
    this.#foreign = !FIELD.test(end < 0 ? start : start.slice(0, end));
    this.#judged = !this.#foreign;
    if (this.#judged) this.#head = '';
  }

  #scan(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    for (;;) {
      const end = text.indexOf('\n', from);
      if (end < 0) break;
      if (this.#rest === '') {
        this.#line(text, from, end, events);
      } else {
        const line = this.#rest + text.slice(from, end);
        this.#rest = '';
        this.#line(line, 0, line.length, events);
      }
      from = end + 1;
    }
    if (from < text.length) this.#rest += from === 0 ? text : text.slice(from);
    return events;
  }

  #line(text: string, from: number, end: number, events: SseEvent[]): void {
    if (from === end) {
      if (this.#hasData) {
        events.push(this.#event === '' ? { data: this.#data } : { event: this.#event, data: this.#data });
      }
      this.#event = '';
      this.#data = '';
      this.#hasData = false;
    } else if (text.startsWith('data:', from)) {
      const value = text.slice(text.charCodeAt(from + 5) === 32 ? from + 6 : from + 5, end);
      this.#data = this.#hasData ? `${this.#data}\n${value}` : value;
      this.#hasData = true;
    } else if (text.startsWith('event:', from)) {
      this.#event = text.slice(text.charCodeAt(from + 6) === 32 ? from + 7 : from + 6, end);
    }
  }
}

/** Bytes at the end that begin a UTF-8 sequence whose remainder has not arrived. */
function incompleteTail(bytes: Buffer): number {
  const length = bytes.length;
  for (let back = 1; back <= 3 && back <= length; back++) {
    const byte = bytes[length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const size = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return size > back ? back : 0;
    }
  }
  return 0;
}
