// The part of a text that is shown: lines from one on, up to a number of lines and of bytes, each cut at a length.
// It is fed piece by piece and holds the window only, so that the size of the file does not matter.

import { hasUnseen, markUnseen } from './unseen.ts';

/** Characters of one line that are shown. */
export const MAX_LINE_LENGTH = 2000;

export interface WindowLimits {
  /** Number of the first line, from 1. */
  readonly first: number;
  readonly lines: number;
  /** Bytes of UTF-8 of the numbered lines together. */
  readonly bytes: number;
}

export interface LineWindow {
  /** A piece of the text, with `\n` line ends. */
  feed(text: string): void;
  /** The last line may have no line end. */
  finish(): void;
  /** Nothing more will be added. */
  readonly full: boolean;
  /** Lines that ended so far, shown or not. */
  readonly counted: number;
  /** The lines with their numbers, and marks for what cannot be seen. */
  readonly shown: readonly string[];
  readonly hasMarks: boolean;
}

export function createLineWindow(limits: WindowLimits): LineWindow {
  const shown: string[] = [];
  let counted = 0;
  let bytes = 0;
  let full = false;
  let hasMarks = false;
  // The beginning of a line whose end is in another piece, and how long it is in all.
  let carried = '';
  let carriedLength = 0;

  const add = (line: string, length: number) => {
    counted++;
    if (full || counted < limits.first) return;
    const beginning = cut(line, length);
    const isMarked = hasUnseen(beginning);
    const text = `${counted}\t${isMarked ? markUnseen(beginning) : beginning}`;
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > limits.bytes) {
      full = true;
      return;
    }
    shown.push(text);
    hasMarks ||= isMarked;
    full = shown.length >= limits.lines;
  };

  return {
    feed(text) {
      let at = 0;
      for (let end = text.indexOf('\n'); end !== -1; at = end + 1, end = text.indexOf('\n', at)) {
        if (carriedLength === 0) add(text.slice(at, Math.min(end, at + MAX_LINE_LENGTH + 1)), end - at);
        else {
          add(carried + text.slice(at, Math.min(end, at + MAX_LINE_LENGTH)), carriedLength + end - at);
          carried = '';
          carriedLength = 0;
        }
      }
      if (carried.length <= MAX_LINE_LENGTH) carried += text.slice(at, at + MAX_LINE_LENGTH + 1);
      carriedLength += text.length - at;
    },
    finish() {
      if (carriedLength > 0) add(carried, carriedLength);
      carried = '';
      carriedLength = 0;
    },
    get full() {
      return full;
    },
    get counted() {
      return counted;
    },
    shown,
    get hasMarks() {
      return hasMarks;
    },
  };
}

/** The beginning of a line that is `length` characters long. */
function cut(line: string, length: number): string {
  const over = length - MAX_LINE_LENGTH;
  return over <= 0 ? line : `${cutText(line, MAX_LINE_LENGTH)}… [${over} more characters]`;
}

/** At most `length` characters, and never half of a surrogate pair. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}
