// What is run: each case is one scenario of the fake provider, and who plays it.

import type { Reply } from '../src/dev/scenario.ts';

export const READ_TURNS = 50;
export const LONG_TURNS = 500;
const SHELL_TURNS = 20;
const PARALLEL_READS = 20;
const DELTAS = 20_000;

/** `bare` is `node -e 0`; `old` is Crab started by an older Node; `bun` is the floor under Bun. */
export type Subject = 'crab' | 'floor' | 'bare' | 'old' | 'standalone' | 'bun';

export interface Case {
  readonly name: string;
  readonly subjects: readonly Subject[];
  /** What Crab is started with instead of a prompt. */
  readonly args?: readonly string[];
  /** Flags of Crab beside the prompt. */
  readonly flags?: readonly string[];
  readonly replies?: readonly Reply[];
  /** What must be printed. */
  readonly expected?: string;
  /** Milliseconds that the reader of the output rests after each piece. */
  readonly restMs?: number;
  /** Rounds, where not all of them are needed. */
  readonly rounds?: number;
}

const DONE: Reply = { text: 'Done.' };

const PIECES = Array.from(
  { length: DELTAS },
  (_, index) => `piece ${String(index + 1).padStart(5, '0')} of it\n`,
);

function call(name: string, input: Readonly<Record<string, string>>): Pick<Reply, 'calls'> {
  return { calls: [{ name, input }] };
}

export function readable(n: number | string): string {
  return `notes/${n}.txt`;
}

const echo = call('bash', { command: 'echo turn {{n}}' });
const reads = call('read', { path: readable('{{n}}') });

export const CASES: readonly Case[] = [
  { name: 'bare', subjects: ['bare'] },
  { name: 'version', subjects: ['crab', 'old', 'standalone'], args: ['--version'] },
  { name: 'help', subjects: ['crab'], args: ['--help'] },
  {
    name: 'one-shot',
    subjects: ['crab', 'floor', 'old', 'standalone', 'bun'],
    replies: [{ text: ['The answer ', 'is short.'] }],
    expected: 'The answer is short.',
  },
  {
    name: 'deltas',
    subjects: ['crab', 'floor'],
    replies: [{ text: PIECES }],
    expected: PIECES.join(''),
  },
  {
    name: 'slow-reader',
    subjects: ['crab', 'floor'],
    replies: [{ text: PIECES }],
    expected: PIECES.join(''),
    restMs: 20,
    rounds: 2,
  },
  {
    name: 'reads',
    subjects: ['crab', 'floor'],
    replies: [{ ...reads, repeat: READ_TURNS }, DONE],
    expected: 'Done.',
  },
  {
    name: 'long',
    subjects: ['crab', 'floor'],
    replies: [{ ...reads, repeat: LONG_TURNS }, DONE],
    expected: 'Done.',
    rounds: 3,
  },
  {
    name: 'shell',
    subjects: ['crab', 'floor'],
    flags: ['--sandbox', 'off'],
    replies: [{ ...echo, repeat: SHELL_TURNS }, DONE],
    expected: 'Done.',
  },
  {
    name: 'sandboxed',
    subjects: ['crab'],
    flags: ['--sandbox', 'required'],
    replies: [{ ...echo, repeat: SHELL_TURNS }, DONE],
    expected: 'Done.',
  },
  {
    name: 'parallel',
    subjects: ['crab', 'floor'],
    replies: [
      {
        calls: Array.from({ length: PARALLEL_READS }, (_, index) => ({
          name: 'read',
          input: { path: readable(index + 1) },
        })),
      },
      DONE,
    ],
    expected: 'Done.',
  },
];
