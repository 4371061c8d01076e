// The text of a message that is still arriving, beside the session's file and never synced (law 4). Each
// write appends what is new as a line of its own: a process that is killed in the middle of one loses that
// line and not the text before it.

import type { Clock } from '../../core/host.ts';
import type { AssistantMessage } from '../../core/message.ts';
import type { JsonObject } from '../../core/schema.ts';
import type { PartialMessage } from '../../core/tape.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { decodeLine, encodeLine } from './line.ts';
import { FILE_MODE } from './paths.ts';
import { readLines } from './read-lines.ts';
import { type SyncFs, storageError, unlinkIfThere, writeWhole } from './sync-fs.ts';

const INTERVAL_MS = 250;
const INTERVAL_CHARACTERS = 16 * 1024;

interface Latest {
  readonly message: PartialMessage;
  /** The last assistant message on the tape. Once there is another, this one has been appended. */
  readonly after: string | null;
}

export class PartialFile {
  readonly #path: string;
  readonly #disk: SyncFs;
  readonly #clock: Clock;
  #fd: number | undefined;
  #isThere: boolean;
  #latest: Latest | undefined;
  #written = '';
  #writtenAt = 0;
  #timer: NodeJS.Timeout | undefined;
  /** A write failed: this text is only a convenience, so the message goes on without it. */
  #isGivenUp = false;

  constructor(path: string, disk: SyncFs, clock: Clock, isThere: boolean) {
    this.#path = path;
    this.#disk = disk;
    this.#clock = clock;
    this.#isThere = isThere;
  }

  /** `message` holds all of the text so far. Costs no more than a look at the clock, mostly. */
  update(message: PartialMessage, after: string | null): void {
    if (this.#isGivenUp) return;
    if (this.#latest === undefined) this.#writtenAt = this.#clock.monotonic();
    this.#latest = { message, after };
    const wait = INTERVAL_MS - (this.#clock.monotonic() - this.#writtenAt);
    if (wait <= 0 || message.text.length - this.#written.length >= INTERVAL_CHARACTERS) this.#write();
    else if (this.#timer === undefined) this.#timer = setTimeout(() => this.#write(), wait).unref();
  }

  /** The message is on the tape. */
  drop(): void {
    this.#stopTimer();
    this.#latest = undefined;
    this.#written = '';
    this.#isGivenUp = false;
    this.#closeFile();
    if (!this.#isThere) return;
    this.#isThere = false;
    try {
      unlinkIfThere(this.#disk, this.#path);
    } catch {
      // It names the message before it, so a later open knows it for a left-over and does not take it up.
    }
  }

  /** Leaves the text for the next open. */
  close(): void {
    if (this.#latest !== undefined) this.#write();
    this.#stopTimer();
    this.#closeFile();
  }

  #write(): void {
    this.#stopTimer();
    if (this.#latest === undefined || this.#isGivenUp) return;
    const { message, after } = this.#latest;
    if (message.text === this.#written) return;
    this.#writtenAt = this.#clock.monotonic();
    try {
      this.#append(message, after);
    } catch {
      this.#isGivenUp = true;
    }
  }

  #append(message: PartialMessage, after: string | null): void {
    this.#fd ??= this.#disk.open(this.#path, 'a', FILE_MODE);
    const grows = this.#isThere && this.#written !== '' && message.text.startsWith(this.#written);
    if (this.#isThere && !grows) this.#disk.truncate(this.#fd, 0);
    this.#isThere = true;
    const text = grows ? message.text.slice(this.#written.length) : message.text;
    const line = encodeLine({ type: 'partial', after, ...message, text });
    writeWhole(this.#disk, this.#fd, Buffer.from(line), this.#path);
    this.#written = message.text;
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #closeFile(): void {
    if (this.#fd !== undefined) this.#disk.close(this.#fd);
    this.#fd = undefined;
  }
}

/** What an earlier process left, as far as it is whole; undefined when there is no text in it. */
export async function readLeftOver(path: string): Promise<Latest | undefined> {
  let text = '';
  let last: Latest | undefined;
  let isWhole = true;
  try {
    await readLines(path, ({ bytes }) => {
      const latest = isWhole && bytes ? latestOf(decodeLine(bytes)) : undefined;
      isWhole = latest !== undefined;
      if (latest === undefined) return;
      last = latest;
      text += latest.message.text;
    });
  } catch (error) {
    throw storageError(error, `read ${path}`);
  }
  return last === undefined || text === '' ? undefined : { ...last, message: { ...last.message, text } };
}

/** Only text is carried over: a call that was still arriving is not known to be the whole call. */
export function interruptedAnswer(message: PartialMessage, timestamp: number): AssistantMessage {
  const { api, provider, model, text, usage } = message;
  return {
    role: 'assistant',
    content: [{ type: 'text', text }],
    api,
    provider,
    model,
    usage: usage ?? NO_USAGE,
    stopReason: 'aborted',
    errorMessage: 'Crab ended while this answer was arriving.',
    timestamp,
  };
}

function latestOf(record: JsonObject | undefined): Latest | undefined {
  const { type, after, ...message } = record ?? {};
  const { api, provider, model, text } = message;
  const isText = [api, provider, model, text].every((field) => typeof field === 'string');
  if (type !== 'partial' || !isText || !(after === null || typeof after === 'string')) return undefined;
  return { message: message as unknown as PartialMessage, after };
}
