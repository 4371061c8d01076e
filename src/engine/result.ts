// What a call came to, made fit for the model, the tape and the screen, whatever tool of whatever source it comes from:
// its shape is checked, secrets are taken out, and it has a size (law 5). Tools keep bounds of their own; these are the
// ones that no tool can forget.

import type { Display } from '../core/display.ts';
import { MAX_RESULT_BYTES } from '../core/limits.ts';
import type { InputContent } from '../core/message.ts';
import { redactedValue } from '../core/redact.ts';
import type { ToolOutput } from '../core/tool.ts';

export interface ResultOptions {
  readonly callId: string;
  /** Takes known secrets out of what a call has to say (law 10). */
  redact?(text: string): string;
  /** Takes out what drives a terminal or turns text around; for tools whose text nobody has looked at. */
  plain?(text: string): Promise<string>;
  /** Keeps a text that is too long to show; returns the path of the file. */
  spill(callId: string, text: string): Promise<string>;
}

/** Bytes at the end of a result that is cut: the last lines say how something went. */
const TAIL_BYTES = 12 * 1024;

/** Bytes for the line in the middle. */
const MARK_BYTES = 1024;

/** UTF-16 units of a long result that are kept in its file. */
const MAX_KEPT = 64 * 1024 * 1024;

/** Units of base64: what providers take of one image or document. */
const MAX_IMAGE = 5 * 1024 * 1024;
const MAX_DOCUMENT = 32 * 1024 * 1024;
const MAX_ATTACHED = 20;

/** UTF-16 units of a display, and items of one list of it. */
const MAX_SHOWN = 512 * 1024;
const MAX_ITEMS = 5000;

/** Throws for what is no result at all. */
export async function fitResult(given: ToolOutput, options: ResultOptions): Promise<ToolOutput> {
  const { redact = same } = options;
  requireShape(given);
  const content: InputContent[] = [];
  let attached = 0;
  for (const block of given.content) {
    if (block.type === 'text') content.push({ ...block, text: redact(await clean(block.text, options)) });
    else content.push(++attached > MAX_ATTACHED ? leftOut(block, `at most ${MAX_ATTACHED}`) : fitting(block));
  }
  const display = given.display === undefined ? undefined : redactedValue(shortened(given.display), redact);
  return {
    content: await capped(content, options),
    isError: given.isError === true,
    ...(display !== undefined && { display }),
  };
}

function same(text: string): string {
  return text;
}

/** A tool of somebody else's may return anything; what is no result must not end the run. */
function requireShape(given: unknown): void {
  const { content } = Object(given) as Partial<ToolOutput>;
  const isResult =
    Array.isArray(content) &&
    content.every((block: unknown) => {
      const { type, text, data, mimeType } = Object(block) as Readonly<Record<string, unknown>>;
      if (type === 'text') return typeof text === 'string';
      return (
        (type === 'image' || type === 'document') && typeof data === 'string' && typeof mimeType === 'string'
      );
    });
  if (!isResult) throw new Error('it returned something that is no result.');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const NO_TEXT = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/;

/** Halves of characters are refused by providers, and would be with every request from then on. */
async function clean(text: string, { plain }: ResultOptions): Promise<string> {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return plain === undefined || !NO_TEXT.test(whole) ? whole : plain(whole);
}

function fitting(block: Exclude<InputContent, { type: 'text' }>): InputContent {
  const most = block.type === 'image' ? MAX_IMAGE : MAX_DOCUMENT;
  return block.data.length <= most ? block : leftOut(block, `at most ${bytesIn(most)} bytes`);
}

function leftOut(block: Exclude<InputContent, { type: 'text' }>, most: string): InputContent {
  const { type, mimeType, data } = block;
  const what = `${type} (${mimeType.slice(0, 100)}, ${bytesIn(data.length)} bytes)`;
  return { type: 'text', text: `[${what} left out: ${most} can be shown]` };
}

function bytesIn(base64: number): number {
  return Math.floor((base64 * 3) / 4);
}

/** As it is where it fits; else its first part in one text, with the whole in a file. */
async function capped(
  content: readonly InputContent[],
  { callId, spill }: ResultOptions,
): Promise<readonly InputContent[]> {
  let length = 0;
  for (const block of content) if (block.type === 'text') length += block.text.length;
  // No UTF-8 text is longer than three bytes for each UTF-16 unit, so a short one needs no count.
  if (length * 3 <= MAX_RESULT_BYTES) return content;
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_RESULT_BYTES) return content;
  const kept = text.length > MAX_KEPT ? text.slice(0, MAX_KEPT).toWellFormed() : text;
  // The call has been made: what it came to counts for more than a file that cannot be written.
  const path = await spill(callId, kept).catch(() => undefined);
  const what = kept === text ? 'the whole output is' : `the first ${MAX_KEPT} characters are`;
  const where = path === undefined ? 'it could not be kept' : `${what} in ${path}`;
  const shown = content.filter((block) => block.type !== 'text');
  return [{ type: 'text', text: ends(bytes, where) }, ...shown];
}

function ends(bytes: Uint8Array, where: string): string {
  const head = wholeLines(bytes.subarray(0, MAX_RESULT_BYTES - TAIL_BYTES - MARK_BYTES));
  const tail = fromLine(bytes.subarray(bytes.length - TAIL_BYTES));
  const missing = bytes.subarray(head.length, bytes.length - tail.length);
  let lines = 0;
  // An iterator would take ten times as long, which shows where a tool returns a hundred megabytes.
  for (let at = 0; at < missing.length; at++) if (missing[at] === NEWLINE) lines++;
  const count = lines > 0 ? `${lines} lines (${missing.length} bytes)` : `${missing.length} bytes`;
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const before = head.at(-1) === NEWLINE ? '' : '\n';
  return `${decoder.decode(head)}${before}[${count} left out here; ${where}]\n${decoder.decode(tail)}`;
}

const NEWLINE = 0x0a;

/** Up to the last line end if that is not far, else up to the last whole character. */
function wholeLines(bytes: Uint8Array): Uint8Array {
  const end = bytes.lastIndexOf(NEWLINE) + 1;
  if (end > bytes.length / 2) return bytes.subarray(0, end);
  let at = bytes.length;
  while (at > 0 && isContinuation(bytes[at - 1])) at--;
  return bytes.subarray(0, Math.max(0, at - 1));
}

function fromLine(bytes: Uint8Array): Uint8Array {
  const start = bytes.indexOf(NEWLINE) + 1;
  if (start > 0 && start < bytes.length / 2) return bytes.subarray(start);
  let at = 0;
  while (isContinuation(bytes[at])) at++;
  return bytes.subarray(at);
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The same display, as large as a channel can carry. */
function shortened(display: Display): Display {
  return short(display, { left: MAX_SHOWN }) as Display;
}

function short(value: unknown, budget: { left: number }): unknown {
  if (typeof value === 'string') {
    const fits = value.length <= budget.left;
    const shown = fits ? value : `${value.slice(0, budget.left).toWellFormed()}…`;
    budget.left = Math.max(0, budget.left - value.length);
    return shown;
  }
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map((each) => short(each, budget));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, short(each, budget)]));
}
