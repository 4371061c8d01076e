// Thousands of turns against a provider that fails in every way we know, side by side, from one seed. Conversation
// number n draws from the seed and n alone, so that one can be run again without those before it.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { seeded } from '../../src/core/seeded.ts';
import {
  type ConversationRecord,
  type Problem,
  runConversation,
  type TurnRecord,
} from './provider-conversation.ts';
import { openEndpoints } from './provider-endpoints.ts';
import type { Plant } from './provider-host.ts';
import { drawing } from './provider-turns.ts';
import { CAMPAIGN_WIRES } from './provider-wires.ts';

export interface CampaignOptions {
  readonly turns: number;
  readonly seed: number;
  /** Only the conversation that holds this turn. */
  readonly turn?: number;
  readonly plant?: Plant;
  /** Milliseconds that a turn may take. */
  readonly turnLimitMs?: number;
  /** Stop at the first problem that says this. */
  readonly until?: RegExp;
}

export interface CampaignReport {
  readonly seed: number;
  readonly problems: readonly Problem[];
  readonly conversations: number;
  /** Of these, in files. */
  readonly kept: number;
  /** Faulty ones; as many plain ones came behind them. */
  readonly turns: readonly TurnRecord[];
  readonly requests: number;
  readonly toolRuns: number;
  readonly seconds: number;
}

const TURNS_IN_CONVERSATION = 4;
/** All tries of the slowest fault, each up to a limit of the host's, and as much again. */
const TURN_LIMIT_MS = 40_000;
const SIDE_BY_SIDE = 12;

export async function runCampaign(options: CampaignOptions): Promise<CampaignReport> {
  const { turns, seed, turn, plant = {}, turnLimitMs = TURN_LIMIT_MS } = options;
  const startedAt = performance.now();
  const resources = activeResources();
  const loose: string[] = [];
  const onLoose = (reason: unknown) => void loose.push(String(reason));
  process.on('unhandledRejection', onLoose);
  const home = await mkdtemp(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'crab-provider-campaign-'));
  const records: ConversationRecord[] = [];
  try {
    await using endpoints = await openEndpoints();
    const numbers = turn === undefined ? conversationsIn(turns) : [Math.floor(turn / TURNS_IN_CONVERSATION)];
    const queue = numbers.values();
    const work = async () => {
      for (const number of queue) {
        if (records.some(({ problems }) => problems.some(({ says }) => options.until?.test(says)))) return;
        const random = seeded(seed * 1_000_003 + number);
        const wire = CAMPAIGN_WIRES[number % CAMPAIGN_WIRES.length];
        if (wire === undefined) throw new Error('there is no wire');
        const first = number * TURNS_IN_CONVERSATION;
        const most = Math.min(TURNS_IN_CONVERSATION, Math.max(turns - first, 1));
        const count = turn === undefined ? most : TURNS_IN_CONVERSATION;
        const own = { wire, endpoints: endpoints.urls, home, plant, turnLimitMs, first, turns: count };
        records.push(await runConversation({ ...own, random, draw: drawing(random) }));
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, work));
  } finally {
    // What a plant keeps from being cancelled may still write.
    await rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  }
  const leaks = await leaked(resources);
  process.off('unhandledRejection', onLoose);
  const whole = [
    ...loose.map((says) => atLarge(`an error that nobody handled: ${says}`)),
    ...leaks.map(atLarge),
  ];
  const problems = [...records.flatMap((record) => record.problems), ...whole];
  return {
    seed,
    problems,
    conversations: records.length,
    kept: records.filter(({ kept }) => kept).length,
    turns: records.flatMap((record) => record.turns),
    requests: sum(records.map(({ requests }) => requests)),
    toolRuns: sum(records.map(({ toolRuns }) => toolRuns)),
    seconds: (performance.now() - startedAt) / 1000,
  };
}

function conversationsIn(turns: number): readonly number[] {
  return Array.from({ length: Math.ceil(turns / TURNS_IN_CONVERSATION) }, (_, number) => number);
}

function atLarge(says: string): Problem {
  return { turn: -1, wire: 'all', what: 'the whole campaign', says };
}

/** How many there are of each kind of socket and timer that keeps a process alive. */
function activeResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) {
    if (/TCP|TLS|Timeout|GetAddrInfo/.test(name)) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

const SETTLE_STEPS = 40;

/** What is still there that was not before, after sockets had two seconds to close. */
async function leaked(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  for (let step = 0; ; step++) {
    const more = [...activeResources()].filter(([name, count]) => count > (before.get(name) ?? 0));
    if (more.length === 0) return [];
    if (step === SETTLE_STEPS) return more.map(([name, count]) => `${count} ${name} are left over`);
    await sleep(50);
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
