// What a conversation has spent, and the budgets that hold for its next request. Every request goes to the ledger at
// once, whoever asked for it; what other processes spent is read back from there.

import { asCrabError } from '../core/errors.ts';
import type { RequestEnd } from '../core/event.ts';
import type { SessionUsage } from '../core/extension.ts';
import type { BudgetSettings } from '../core/settings.ts';
import type { Tape } from '../core/tape.ts';
import type { Identity } from '../core/tool.ts';
import type { BudgetKind, BudgetState } from '../core/usage.ts';
import type { Accounts } from '../engine/requests.ts';
import type { Ledger } from '../parts/usage/ledger.ts';
import { recordOf, spentBy, type UsageRecord } from '../parts/usage/record.ts';
import { createSumming } from '../parts/usage/summary.ts';

export interface SpendingOptions {
  readonly ledger: Ledger;
  readonly limits: BudgetSettings;
  now(): number;
  /** As they are at this moment: a new session may take the place of one. */
  identity(): Identity & { readonly paidBy?: string };
  tape(): Tape;
  /** Of whoever gave the task: his budgets hold, and are drawn on. */
  readonly parent?: Spending;
}

/** A session may have been begun in another time zone than the one that names today's file. */
const DAY_MS = 24 * 60 * 60_000;

/** What does not pay for light work does not pay for what it is for. */
export function isOfMoney(thrown: unknown): boolean {
  const { code } = asCrabError(thrown);
  return code === 'budget-exhausted' || code === 'budget-unpriced';
}

export class Spending implements Accounts {
  readonly warned = new Set<BudgetKind>();
  readonly #options: SpendingOptions;
  #here = 0;
  #session: { readonly id: string; usd: number } | undefined;

  constructor(options: SpendingOptions) {
    this.#options = options;
  }

  spent(request: RequestEnd): void {
    const { ledger, limits, identity, now } = this.#options;
    const record = recordOf(request, identity(), now());
    const usd = spentBy(record);
    this.#drawn(usd);
    ledger.record(record);
    // Others draw on the same budget, and look before their next request.
    if (limits.dayUsd !== undefined || limits.senderUsd !== undefined) ledger.flush();
  }

  #drawn(usd: number): void {
    this.#here += usd;
    if (this.#session !== undefined && this.#session.id === this.#options.tape().header.id)
      this.#session.usd += usd;
    const { parent } = this.#options;
    if (parent !== undefined) parent.#drawn(usd);
  }

  budgets(): readonly BudgetState[] {
    const { runUsd, conversationUsd, dayUsd, senderUsd } = this.#options.limits;
    const states: BudgetState[] = [...(this.#options.parent?.budgets() ?? [])];
    const add = (kind: BudgetKind, limitUsd: number, spentUsd: number) =>
      states.push({ kind, limitUsd, spentUsd });
    if (runUsd !== undefined) add('run', runUsd, this.#here);
    if (conversationUsd !== undefined) add('conversation', conversationUsd, this.#bySession());
    if (dayUsd === undefined && senderUsd === undefined) return states;
    const today = this.#options.ledger.spentToday(this.#options.identity().sender);
    if (dayUsd !== undefined) add('day', dayUsd, today.allUsd);
    if (senderUsd !== undefined) add('sender', senderUsd, today.senderUsd);
    return states;
  }

  /** The ledger knows of tries that came to nothing, the tape of what was spent before there was a ledger. */
  #bySession(): number {
    const { id } = this.#options.tape().header;
    if (this.#session?.id !== id) {
      let inLedger = 0;
      for (const record of this.#records()) inLedger += spentBy(record);
      this.#session = { id, usd: Math.max(inLedger, onTape(this.#options.tape())) };
      this.warned.delete('conversation');
    }
    return this.#session.usd;
  }

  *#records(): Generator<UsageRecord, void> {
    const { id, timestamp } = this.#options.tape().header;
    const since = Date.parse(timestamp) - DAY_MS;
    for (const record of this.#options.ledger.records(since))
      if (record.session === id || record.paidBy === id) yield record;
  }

  usage(): SessionUsage {
    const models = createSumming(({ provider, model }) => `${provider}/${model}`);
    for (const record of this.#records()) models.add(record);
    return { models: models.summaries(), budgets: this.budgets() };
  }
}

function onTape(tape: Tape): number {
  let usd = 0;
  for (const entry of tape.branch({ wanted: ({ detail }) => detail === 'assistant' }))
    if (entry.type === 'message' && entry.message.role === 'assistant') usd += entry.message.usage.cost.total;
  return usd;
}
