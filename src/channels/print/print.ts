// Print mode: prompts in, results out, an exit status at the end. It opens one conversation, runs its prompts
// one after another and asks nobody anything. Standard output holds results only; what went wrong is said
// on standard error, in the JSON formats as well, because that is where the log of a script looks.

import { asCrabError, CrabError, EXIT } from '../../core/errors.ts';
import type { Event, RunEnd } from '../../core/event.ts';
import type { Clock, Sink } from '../../core/host.ts';
import type { OpenReply, OpenRequest, Platform, Prompt } from '../../core/platform.ts';
import { runEnd } from '../../core/run-end.ts';
import { exitCodeOf } from '../../faces/exit-code.ts';
import { eventText } from '../../faces/text.ts';
import { watchContext } from '../../policy/compaction.ts';
import { createJsonPrinter, createStreamPrinter, type Printer } from './printer.ts';
import { asStop, runPrompt, stoppedEnd } from './run.ts';
import { createTextPrinter } from './text-printer.ts';

export const PRINT_FORMATS = ['text', 'json', 'stream-json'] as const;

export type PrintFormat = (typeof PRINT_FORMATS)[number];

export interface PrintOptions {
  /** Stays the caller's: it closes it, and everything acknowledged is on disk then. */
  readonly platform: Platform;
  readonly open: OpenRequest;
  /** May throw `CrabError` of the `input-` family for a prompt that cannot be read. */
  readonly prompts: AsyncIterable<Prompt>;
  readonly format: PrintFormat;
  readonly stdout: Sink;
  readonly stderr: Sink;
  readonly clock: Clock;
  /** Names the JSON lines. */
  readonly uuid: () => string;
  /** Aborts with a `CrabError` that says why: `interrupted` for SIGINT, `terminated` for SIGTERM. */
  readonly signal: AbortSignal;
  /** Milliseconds that a provider may be silent; 0 for no limit. */
  readonly idleTimeoutMs: number;
  readonly verbose: boolean;
  readonly includePartial: boolean;
  readonly replayUser: boolean;
  /** Others have the conversation open as well: what is asked in it is for them. */
  readonly isShared?: boolean;
}

/** Returns the exit status: that of the last prompt that failed, or 0. Never throws. */
export async function runPrint(options: PrintOptions): Promise<number> {
  let reply: OpenReply;
  try {
    reply = await options.platform.open(options.open);
  } catch (thrown) {
    const end = runEnd('failed', { error: asCrabError(thrown) });
    return await tell(options, printerOf(options), end);
  }
  return await runPrompts(options, reply, printerOf(options, reply));
}

async function runPrompts(options: PrintOptions, reply: OpenReply, printer: Printer): Promise<number> {
  const { platform, clock, signal, idleTimeoutMs } = options;
  const prompts = options.prompts[Symbol.asyncIterator]();
  let notices: readonly Event[] = reply.notices.map((text) => ({ type: 'notice', level: 'warning', text }));
  let exitCode: number = EXIT.success;
  const watch = watchContext((control) => platform.control(reply.address, control));
  let ran = false;
  for (;;) {
    const next = await nextPrompt(prompts, signal);
    if (next instanceof CrabError) return await tell(options, printer, stoppedEnd(next));
    if (next === undefined) break;
    ran = true;
    const { isShared = false } = options;
    const shown = { printer, watch, notices };
    const run = { platform, address: reply.address, clock, signal, idleTimeoutMs, isShared, ...shown };
    const end = await runPrompt(run, next);
    notices = [];
    await report(options, end);
    if (exitCodeOf(end) !== EXIT.success) exitCode = exitCodeOf(end);
    if (signal.aborted || end.error?.code === 'output-closed' || end.error?.code === 'output-failed') break;
  }
  if (ran || signal.aborted) return exitCode;
  const empty = new CrabError('input-empty', 'There is no prompt.');
  return await tell(options, printer, runEnd('failed', { error: empty }));
}

/** The next prompt, nothing at the end, or why there will be none. Does not outwait the signal. */
async function nextPrompt(
  prompts: AsyncIterator<Prompt>,
  signal: AbortSignal,
): Promise<Prompt | CrabError | undefined> {
  let stopWaiting = (): void => {};
  const stopped = new Promise<CrabError>((resolve) => {
    stopWaiting = () => resolve(asStop(signal.reason));
    if (signal.aborted) stopWaiting();
    else signal.addEventListener('abort', stopWaiting, { once: true });
  });
  try {
    const next = prompts.next().then((result) => (result.done ? undefined : result.value));
    return await Promise.race([stopped, next]);
  } catch (thrown) {
    return asCrabError(thrown);
  } finally {
    signal.removeEventListener('abort', stopWaiting);
  }
}

/** Prints an end that no run came to. */
async function tell(options: PrintOptions, printer: Printer, end: RunEnd): Promise<number> {
  await printer.print([end]).catch(() => {});
  await report(options, end);
  return exitCodeOf(end);
}

/** Says on standard error what the printer did not: errors in the JSON formats, and of the output itself. */
async function report({ format, stderr }: PrintOptions, end: RunEnd): Promise<void> {
  const code = end.error?.code;
  // Whoever closed the pipe knows that it is closed.
  if (code === 'output-closed' || (format === 'text' && code !== 'output-failed')) return;
  const text = eventText(end, { colour: stderr.colour });
  if (text !== '') await stderr.write(text).catch(() => {});
}

/** `reply` is absent when nothing could be opened. */
function printerOf(options: PrintOptions, reply?: OpenReply): Printer {
  const { format, stdout, stderr, verbose, uuid, includePartial, replayUser } = options;
  const session = reply?.session.id;
  switch (format) {
    case 'text':
      return createTextPrinter({ stdout, stderr, verbose });
    case 'json':
      return createJsonPrinter(stdout, uuid, session);
    case 'stream-json': {
      const own = reply?.commands.filter((command) => command.side === 'runtime') ?? [];
      const commands = own.map(({ name }) => name);
      return createStreamPrinter(stdout, { uuid, session, commands, includePartial, replayUser });
    }
  }
}
