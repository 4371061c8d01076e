// `crab -p`: one prompt or a stream of them, for pipes and scripts.

import { PRINT_FORMATS, type PrintFormat, runPrint } from '../channels/print/print.ts';
import { CrabError } from '../core/errors.ts';
import { IDLE_TIMEOUT_MS } from '../core/limits.ts';
import type { Prompt } from '../core/platform.ts';
import { readPrompts } from '../faces/input-json.ts';
import { type Arguments, conflict, keyFileOf, numberOf } from './arguments.ts';
import type { Attachment } from './attachments.ts';
import type { Environment } from './home.ts';
import { readAll } from './piped-input.ts';
import { openRequest } from './request.ts';
import { loadSettings } from './settings.ts';
import { stopOnSignals } from './signals.ts';
import { sinkOf } from './sink.ts';
import { openWorkplace } from './workplace.ts';

export interface PrintInput {
  readonly args: Arguments;
  readonly words: readonly string[];
  readonly env: Environment;
}

/** Beyond it a timer of Node overflows: almost 25 days. */
const MAX_TIMEOUT_SECONDS = 2_147_483;

/** Returns the exit status. Throws `CrabError` for a command line that cannot be meant. */
export async function print({ args, words, env }: PrintInput): Promise<number> {
  const seconds = numberOf(args, 'timeout', { least: 0, most: MAX_TIMEOUT_SECONDS, integer: false });
  const format = outputFormat(args);
  for (const flag of ['include-partial-messages', 'replay-user-messages'] as const)
    if (args.has(flag) && format !== 'stream-json')
      throw new CrabError('usage', `--${flag} needs --output-format stream-json.`);
  const stderr = sinkOf(process.stderr, env);
  const warn = (text: string) => void stderr.write(`crab: ${text}\n`).catch(() => {});
  const prompts = forGuest(promptsOf(args, words, warn), args.value('guest'));
  const settings = await loadSettings({ args, env, warn });
  keyFileOf(args);
  const place = await openWorkplace({ args, env, settings, isInteractive: false, warn });
  const stop = stopOnSignals(() => place.killAll());
  process.once('exit', () => place.killAll());
  try {
    const asking =
      place.request?.() ??
      openRequest({
        args,
        env,
        settings,
        files: place.files,
        now: place.clock.now(),
        canAsk: false,
        warn,
      });
    place.prepare();
    const open = await place.recorded(await asking);
    return await runPrint({
      platform: place.platform,
      open,
      prompts,
      format,
      stdout: sinkOf(process.stdout, env),
      stderr,
      clock: place.clock,
      uuid,
      signal: stop.signal,
      idleTimeoutMs: seconds === undefined ? IDLE_TIMEOUT_MS : seconds * 1000,
      verbose: args.has('verbose'),
      includePartial: args.has('include-partial-messages'),
      replayUser: args.has('replay-user-messages'),
      isShared: place.follow !== undefined,
    });
  } finally {
    await place.close();
    stop.release();
  }
}

function outputFormat(args: Arguments): PrintFormat {
  return PRINT_FORMATS.find((format) => format === args.value('output-format')) ?? 'text';
}

/** Checks what can be checked before anything is read. */
function promptsOf(
  args: Arguments,
  words: readonly string[],
  warn: (text: string) => void,
): AsyncIterable<Prompt> {
  const flag = args.value('prompt');
  const attach = args.values('attach');
  if (flag !== undefined && words.length > 0)
    throw new CrabError('usage', '--prompt and a prompt argument cannot be used together.');
  const given = flag ?? (words.length > 0 ? words.join(' ') : undefined);
  if (args.value('input-format') !== 'stream-json') return onePrompt(given, attach, warn);
  conflict(args, ['input-format', 'prompt']);
  conflict(args, ['input-format', 'attach']);
  if (given !== undefined)
    throw new CrabError(
      'usage',
      'With --input-format stream-json prompts come on standard input, not as arguments.',
    );
  return readPrompts(process.stdin);
}

async function* forGuest(prompts: AsyncIterable<Prompt>, guest: string | undefined): AsyncIterable<Prompt> {
  for await (const prompt of prompts) yield guest === undefined ? prompt : { ...prompt, guest };
}

async function* onePrompt(
  given: string | undefined,
  attach: readonly string[],
  warn: (text: string) => void,
): AsyncGenerator<Prompt> {
  if (given !== undefined && given.trim() === '') throw new CrabError('input-empty', 'The prompt is empty.');
  const attachments = attach.length === 0 ? [] : await attached(attach);
  const shown = attachments.length > 0 && { attachments };
  const piped = await pipedText(given !== undefined, warn);
  if (piped === undefined || piped.trim() === '') {
    if (given === undefined) throw new CrabError('input-empty', 'There is no prompt.');
    yield { text: given, ...shown };
  } else {
    yield { text: given === undefined ? piped : `${given}\n\n${piped}`, ...shown };
  }
}

async function attached(paths: readonly string[]): Promise<readonly Attachment[]> {
  return (await import('./attachments.ts')).readAttachments(paths);
}

async function pipedText(hasPrompt: boolean, warn: (text: string) => void): Promise<string | undefined> {
  const { fstatSync } = await import('node:fs');
  let info: ReturnType<typeof fstatSync>;
  try {
    info = fstatSync(0);
  } catch {
    return undefined;
  }
  if (info.isDirectory()) throw new CrabError('input-not-text', 'Standard input is a folder.');
  // A terminal is for people, and /dev/null holds nothing.
  if (info.isCharacterDevice() && (hasPrompt || process.stdin.isTTY)) return undefined;
  const { text, gaveUp } = await readAll(process.stdin, hasPrompt && !info.isFile());
  if (gaveUp) warn('nothing came on standard input; going on without it (use < /dev/null to say so)');
  return text;
}

/** A random UUID (RFC 9562, version 4); it names lines of output and guards nothing. */
function uuid(): string {
  const digits = Array.from({ length: 32 }, () => Math.floor(Math.random() * 16));
  digits[12] = 4;
  digits[16] = 8 + ((digits[16] ?? 0) % 4);
  const hex = digits.map((digit) => digit.toString(16)).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
