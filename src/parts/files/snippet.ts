// The head and the tail of a text that comes in pieces, with exact counts of what is left out between them.

import { cutText, MAX_LINE_LENGTH } from './line-window.ts';
import { markUnseen } from './unseen.ts';

export interface SnippetLimits {
  /** Lines of either end. */
  readonly head: number;
  readonly tail: number;
  /** Bytes of UTF-8 of all that is shown. */
  readonly bytes: number;
}

export interface Snippet {
  feed(text: string): void;
  /** The lines with their numbers. */
  finish(): string;
}

interface Line {
  readonly number: number;
  readonly shown: string;
  /** Of the whole line with its end, in UTF-8. */
  readonly bytes: number;
}

export function createSnippet(limits: SnippetLimits): Snippet {
  const head: Line[] = [];
  // A ring of the last lines: `count` says where it begins.
  const tail: Line[] = [];
  let count = 0;
  let bytes = 0;
  let carried = '';
  let carriedLength = 0;
  let carriedBytes = 0;

  const add = (beginning: string, length: number, size: number) => {
    count++;
    bytes += size;
    const over = length - MAX_LINE_LENGTH;
    const text = beginning.endsWith('\r') && over <= 0 ? beginning.slice(0, -1) : beginning;
    const cut = over <= 0 ? text : `${cutText(text, MAX_LINE_LENGTH)}… [${over} more characters]`;
    const line = { number: count, shown: cut, bytes: size };
    if (head.length < limits.head) head.push(line);
    else if (limits.tail > 0) tail[(count - 1 - limits.head) % limits.tail] = line;
  };

  return {
    feed(text) {
      let at = 0;
      for (let end = text.indexOf('\n'); end !== -1; at = end + 1, end = text.indexOf('\n', at)) {
        const rest = text.slice(at, end);
        const beginning = carried + rest.slice(0, Math.max(0, MAX_LINE_LENGTH + 1 - carried.length));
        add(beginning, carriedLength + rest.length, carriedBytes + Buffer.byteLength(rest) + 1);
        carried = '';
        carriedLength = 0;
        carriedBytes = 0;
      }
      const rest = text.slice(at);
      carried += rest.slice(0, Math.max(0, MAX_LINE_LENGTH + 1 - carried.length));
      carriedLength += rest.length;
      carriedBytes += Buffer.byteLength(rest);
    },
    finish() {
      if (carriedLength > 0) add(carried, carriedLength, carriedBytes);
      const first = count - limits.head;
      const ordered =
        first <= tail.length
          ? tail
          : [...tail.slice(first % tail.length), ...tail.slice(0, first % tail.length)];
      return render(head, ordered, { count, bytes }, limits.bytes);
    },
  };
}

/** Either end has half of the bytes; what one does not need the other gets. */
function render(
  head: readonly Line[],
  tail: readonly Line[],
  all: { readonly count: number; readonly bytes: number },
  limit: number,
): string {
  const size = (line: Line) => Buffer.byteLength(numbered(line)) + 1;
  const sum = (lines: readonly Line[]) => lines.reduce((total, line) => total + size(line), 0);
  const half = Math.floor(limit / 2);
  const first = fitting(head, Math.max(half, limit - sum(tail)), size);
  const last = fitting(tail.toReversed(), limit - sum(first), size).toReversed();
  const shown = [...first, ...last];
  const left = all.count - shown.length;
  const texts = [first, last].map((lines) => lines.map(numbered));
  if (left === 0) return [...texts.flat(), `[All ${all.count} lines.]`].join('\n');
  const bytes = all.bytes - shown.reduce((total, line) => total + line.bytes, 0);
  const gap = `[… ${left} lines (${bytes} bytes) left out, of ${all.count} lines …]`;
  return [...(texts[0] ?? []), gap, ...(texts[1] ?? [])].join('\n');
}

function fitting(lines: readonly Line[], limit: number, size: (line: Line) => number): readonly Line[] {
  let total = 0;
  const end = lines.findIndex((line) => {
    total += size(line);
    return total > limit;
  });
  return end === -1 ? lines : lines.slice(0, end);
}

function numbered({ number, shown }: Line): string {
  return `${number}\t${markUnseen(shown)}`;
}
