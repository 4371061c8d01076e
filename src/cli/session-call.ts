// What every `crab session` command is given, and how what a person names is found.

import { resolve } from 'node:path';
import { CrabError } from '../core/errors.ts';
import type { Tapes } from '../core/tape.ts';
import type { Environment } from './home.ts';
import type { Progress } from './progress.ts';
import { subcommandArguments, subcommandUsage } from './subcommand.ts';

const OPTIONS = {
  json: { type: 'boolean' },
  all: { type: 'boolean' },
  trash: { type: 'boolean' },
  agent: { type: 'string' },
  folder: { type: 'string' },
  limit: { type: 'string' },
  offset: { type: 'string' },
  name: { type: 'string' },
  summary: { type: 'string' },
  format: { type: 'string' },
  output: { type: 'string', short: 'o' },
  'with-secrets': { type: 'boolean' },
  from: { type: 'string' },
  force: { type: 'boolean' },
  'no-messages': { type: 'boolean' },
  model: { type: 'string' },
  effort: { type: 'string' },
  'permission-mode': { type: 'string' },
  'append-system-prompt': { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
} as const;

export type SessionFlags = ReturnType<typeof parseSession>['values'];

export interface SessionCall {
  readonly words: readonly string[];
  readonly flags: SessionFlags;
  readonly tapes: Tapes;
  readonly env: Environment;
  readonly progress: Progress;
  /** Ctrl-C and its like. What writes a session goes on to its end. */
  readonly signal: AbortSignal;
  print(text: string): Promise<void>;
  printJson(value: unknown): Promise<void>;
  warn(text: string): Promise<void>;
}

export type SessionRun = (call: SessionCall) => Promise<number>;

/** The file of a session that a person named: by path, id or name; the newest of this folder where nothing is said. */
export async function locate(
  { tapes }: Pick<SessionCall, 'tapes'>,
  text: string | undefined,
  filter?: { readonly discarded: boolean },
): Promise<string> {
  if (text !== undefined) return /[/\\]|\.jsonl$/.test(text) ? resolve(text) : await tapes.find(text, filter);
  const [newest] = await tapes.list({ cwd: process.cwd(), limit: 1 });
  if (newest !== undefined) return newest.path;
  throw new CrabError('session-unknown', `There is no session of ${process.cwd()}.`, {
    hint: 'Name one; `crab session list --all` shows them.',
  });
}

/** The words of a command that takes between `least` and `most` of them. */
export function wordsOf(
  { words }: SessionCall,
  form: string,
  least: number,
  most = least,
): readonly string[] {
  if (words.length >= least && words.length <= most) return words;
  throw usage(`The form is \`crab session ${form}\`.`);
}

/** A flag that counts; undefined when it is not given. */
export function numberOf(given: string | undefined, flag: string): number | undefined {
  if (given === undefined) return undefined;
  const number = Number(given);
  if (/^\d{1,15}$/.test(given)) return number;
  throw usage(`${flag} ${given} is no number.`);
}

export function usage(message: string, hint?: string): CrabError {
  return subcommandUsage('session', message, hint);
}

export function parseSession(argv: readonly string[]) {
  return subcommandArguments('session', argv, OPTIONS);
}
