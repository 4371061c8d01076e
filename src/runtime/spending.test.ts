import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { RequestEnd } from '../core/event.ts';
import type { AssistantMessage } from '../core/message.ts';
import type { BudgetSettings } from '../core/settings.ts';
import type { Tape } from '../core/tape.ts';
import { NO_USAGE, usageOf } from '../core/usage.ts';
import { createMemoryTapes } from '../parts/tape/tapes.ts';
import { createLedger } from '../parts/usage/ledger.ts';
import { Spending } from './spending.ts';

const NOW = new Date(2025, 0, 31, 12).getTime();
const clock = { now: () => NOW, monotonic: () => 0, sleep: async () => {} };

function request(usd: number, more: Partial<RequestEnd> = {}): RequestEnd {
  return {
    type: 'requestEnd',
    provider: 'p',
    model: 'm',
    cause: 'turn',
    outcome: 'done',
    usage: usageOf({ input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }, undefined, usd),
    priced: 'provider',
    durationMs: 1,
    ...more,
  };
}

function answer(usd: number): AssistantMessage {
  const usage = { ...NO_USAGE, cost: { ...NO_USAGE.cost, total: usd } };
  const text = [{ type: 'text', text: 'x' }] as const;
  const from = { api: 'a', provider: 'p', model: 'm' };
  return { role: 'assistant', content: text, ...from, usage, stopReason: 'stop', timestamp: NOW };
}

interface Home extends AsyncDisposable {
  tape(): Promise<Tape>;
  /** A conversation of a process of its own. */
  spending(limits: BudgetSettings, tape: () => Tape, sender?: string): Spending;
}

async function home(): Promise<Home> {
  const root = await mkdtemp(join(tmpdir(), 'crab-spending-'));
  const tapes = createMemoryTapes({ clock, random: Math.random });
  return {
    tape: () => tapes.create({ agent: 'crab', sender: (id) => `cli:${id}`, cwd: '/w' }),
    spending: (limits, tape, sender = 'cli:x') =>
      new Spending({
        ledger: createLedger({ folder: join(root, 'usage'), now: clock.now }),
        limits,
        now: clock.now,
        identity: () => ({ agent: 'crab', sender, session: tape().header.id, cwd: '/w', mode: 'default' }),
        tape,
      }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

const spent = (spending: Spending) => spending.budgets().map(({ kind, spentUsd }) => [kind, spentUsd]);

describe('what a conversation has spent', () => {
  it('counts against no budget where there is none', async () => {
    await using at = await home();
    const tape = await at.tape();
    assert.deepEqual(at.spending({}, () => tape).budgets(), []);
  });

  it('is seen by another process before its next request, also what was never counted', async () => {
    await using at = await home();
    const [tape, another] = [await at.tape(), await at.tape()];
    const limits = { runUsd: 1, dayUsd: 1, senderUsd: 1 };
    const [one, two] = [at.spending(limits, () => tape, 'a'), at.spending(limits, () => another, 'b')];
    one.spent(request(0.25, { outcome: 'failed', unreportedUsd: 0.25 }));
    assert.deepEqual(spent(one), [
      ['run', 0.5],
      ['day', 0.5],
      ['sender', 0.5],
    ]);
    two.spent(request(0.25));
    assert.deepEqual(spent(two), [
      ['run', 0.25],
      ['day', 0.75],
      ['sender', 0.25],
    ]);
    assert.deepEqual(spent(one)[1], ['day', 0.75]);
  });

  it('counts a session from its beginning: what the ledger has, or the tape if that is more', async () => {
    await using at = await home();
    const tape = await at.tape();
    const limits = { conversationUsd: 9 };
    const first = at.spending(limits, () => tape);
    assert.deepEqual(spent(first), [['conversation', 0]]);
    first.spent(request(1));
    first.spent(request(0.5, { outcome: 'failed' }));
    tape.append([{ type: 'message', message: answer(1) }]);
    assert.deepEqual(spent(first), [['conversation', 1.5]]);
    assert.deepEqual(
      first.usage().models.map(({ key, requests, failures }) => [key, requests, failures]),
      [['p/m', 2, 1]],
    );
    const later = at.spending(limits, () => tape);
    assert.deepEqual(spent(later), [['conversation', 1.5]]);
    tape.append([{ type: 'message', message: answer(3) }]);
    const elsewhere = at.spending(limits, () => tape);
    assert.deepEqual(spent(elsewhere), [['conversation', 4]]);
  });

  it('begins anew with a new session, and the run goes on', async () => {
    await using at = await home();
    let tape = await at.tape();
    const spending = at.spending({ runUsd: 9, conversationUsd: 9 }, () => tape);
    spending.budgets();
    spending.spent(request(1));
    tape = await at.tape();
    assert.deepEqual(spent(spending), [
      ['run', 1],
      ['conversation', 0],
    ]);
  });
});
