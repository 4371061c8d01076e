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
  /** Undefined until the next event has some. */
  #data: string | undefined;

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
      if (this.#rest === '' && this.#event === '' && this.#data === undefined)
        from = scanPlain(text, from, events);
      const end = text.indexOf('\n', from);
      if (end < 0) break;
      const line = this.#rest + text.slice(from, end);
      this.#rest = '';
      this.#line(line, events);
      from = end + 1;
    }
    if (from < text.length) this.#rest += from === 0 ? text : text.slice(from);
    return events;
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === '') {
      if (this.#data !== undefined) events.push(eventOf(this.#event, this.#data));
      this.#event = '';
      this.#data = undefined;
    } else if (line.startsWith('data:') || line === 'data') {
      const value = fieldValue(line, 5);
      this.#data = this.#data === undefined ? value : `${this.#data}\n${value}`;
    } else if (line.startsWith('event:')) {
      this.#event = fieldValue(line, 6);
    }
  }
}

/**
 * The common shape, `event: X` or nothing and one `data: Y`, without a look at each line for itself. Stops at the
 * first event that is not of this shape or not whole, and returns where that begins.
 */
function scanPlain(text: string, start: number, events: SseEvent[]): number {
  let from = start;
  for (;;) {
    let at = from;
    let event = '';
    if (text.startsWith('event: ', at)) {
      const end = text.indexOf('\n', at);
      if (end < 0) return from;
      event = text.slice(at + 7, end);
      at = end + 1;
    }
    if (!text.startsWith('data: ', at)) return from;
    const end = text.indexOf('\n', at);
    if (end < 0 || text.charCodeAt(end + 1) !== 10) return from;
    events.push(eventOf(event, text.slice(at + 6, end)));
    from = end + 2;
  }
}

function eventOf(event: string, data: string): SseEvent {
  return event === '' ? { data } : { event, data };
}

function fieldValue(line: string, colonEnd: number): string {
  return line.slice(line.charCodeAt(colonEnd) === 32 ? colonEnd + 1 : colonEnd);
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
