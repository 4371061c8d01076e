// A compaction, from the plan to the new view: summarise, keep the summary in the agent's memory, write the entry,
// show the model the summary in the place of what it summarises. Until the entry is written nothing has changed, so
// that dying at any point leaves the conversation as it was, and at most an archive that nobody misses.

import { asCrabError, messageOf } from '../core/errors.ts';
import type { CompactEnd, Event } from '../core/event.ts';
import type { Memory } from '../core/memory.ts';
import type { Message } from '../core/message.ts';
import type { Model } from '../core/model.ts';
import type { CompactionBody } from '../core/tape.ts';
import {
  type CompactionPlan,
  planCompaction,
  titleOf,
  withLists,
  withoutLists,
} from '../engine/compaction.ts';
import { countedTokens, estimateInput } from '../engine/estimate.ts';
import { summaryByPatterns } from '../engine/summary-patterns.ts';
import { prefixPrompt, SUMMARY_SYSTEM, summaryPrompt } from '../engine/summary-prompt.ts';
import { asked, type Consultation, lightModels } from './consult.ts';
import type { Conversation } from './conversation.ts';
import { summaryMessage } from './history.ts';
import type { OfferedTools } from './offered-tools.ts';
import { isOfMoney } from './spending.ts';

export interface Compaction extends Consultation {
  readonly offered: Pick<OfferedTools, 'byName' | 'schemas'>;
  readonly focus: string;
}

/** Tokens that a model may write for a summary, and for the beginning of a turn that is cut. */
const SUMMARY_TOKENS = 12_000;
const PREFIX_TOKENS = 4_000;

const DEFAULT_KEEP_TOKENS = 20_000;

/** A window is not filled again by what was kept of it. */
const MOST_KEPT = 0.25;

/** Of decisions, rules and open work in the words that were used. */
const CARRY_TOKENS = 2_000;
const MOST_CARRIED = 0.05;

/** Undefined when there is nothing to compact. Throws `CrabError`: `interrupted`, or that the tape could not be written. */
export async function compact(compaction: Compaction): Promise<CompactEnd | undefined> {
  const { conversation, emit, signal } = compaction;
  const plan = await planOf(compaction);
  if (plan === undefined) return undefined;
  const removed = plan.summarised.length + plan.turnPrefix.length;
  const tokensBefore = countedTokens(conversation.view.messages()) ?? 0;
  const strategy = plan.kept.length === 0 ? 'summary' : 'hybrid';
  emit({ type: 'compactStart', strategy, tokensBefore, messages: removed });
  try {
    const { summary, writtenBy } = await summarise(compaction, plan);
    signal.throwIfAborted();
    const title = titleOf(summary);
    const archiveName = await archive(compaction, title, summary);
    const synced = record(compaction, plan, { summary, title, archiveName, tokensBefore });
    const tokensAfter = sizeOf(conversation.view.messages(), conversation, compaction);
    const end: CompactEnd = {
      type: 'compactEnd',
      outcome: 'done',
      tokensBefore,
      tokensAfter,
      removedMessages: removed,
      writtenBy,
      summary,
      title,
      ...(archiveName !== undefined && { archiveName }),
    };
    await synced;
    if (archiveName !== undefined) emit({ type: 'memorySaved', name: archiveName });
    emit(end);
    return end;
  } catch (thrown) {
    const outcome = signal.aborted ? 'aborted' : 'failed';
    emit({ type: 'compactEnd', outcome, tokensBefore, tokensAfter: tokensBefore, removedMessages: 0 });
    throw asCrabError(thrown);
  }
}

async function planOf({ conversation, offered }: Compaction): Promise<CompactionPlan | undefined> {
  const { sources, compacted } = conversation.history();
  const { accesses, cwd } = conversation;
  await accesses.learn(
    sources.map(({ message }) => message),
    { tools: offered.byName, identity: () => conversation.identity },
  );
  const window = await conversation.model().then(
    ({ info }) => info.contextWindow,
    () => undefined,
  );
  const wanted = conversation.declaration.limits.context?.keepRecentTokens ?? DEFAULT_KEEP_TOKENS;
  const keepRecentTokens = Math.min(wanted, Math.floor((window ?? Number.POSITIVE_INFINITY) * MOST_KEPT));
  const previous = compacted && { ...compacted, summary: withoutLists(compacted.summary) };
  const carryTokens = Math.min(CARRY_TOKENS, Math.floor((window ?? Number.POSITIVE_INFINITY) * MOST_CARRIED));
  const input = { sources, previous, carryTokens, accessOf: accesses.of.bind(accesses), cwd };
  // Whoever asks while little was said wants it all the same.
  return planCompaction({ ...input, keepRecentTokens }) ?? planCompaction({ ...input, keepRecentTokens: 0 });
}

interface Summary {
  readonly summary: string;
  readonly writtenBy: 'model' | 'patterns';
}

async function summarise(compaction: Compaction, plan: CompactionPlan): Promise<Summary> {
  const redact = compaction.host.redact ?? ((text: string) => text);
  const { conversation, offered } = compaction;
  const complete = async (text: string) => {
    const asked = [...new Set(offered.byName.values())].map(
      async (tool) => tool.open?.(conversation.toolState) ?? [],
    );
    const open = (await Promise.all(asked)).flat();
    return redact(withLists(text, { files: plan.files, carried: plan.carried, open }));
  };
  const told = (await summaryByModel(compaction, plan)) ?? '';
  if (told !== '') return { summary: await complete(told), writtenBy: 'model' };
  const { accesses } = conversation;
  const found = summaryByPatterns({ plan, accessOf: (call) => accesses.of(call) });
  return { summary: await complete(found), writtenBy: 'patterns' };
}

/** The small model first, then the conversation's own; undefined when neither could, of which somebody is told. */
async function summaryByModel(compaction: Compaction, plan: CompactionPlan): Promise<string | undefined> {
  const { signal, emit } = compaction;
  for (const find of lightModels(compaction)) {
    try {
      const summary = await askFor(compaction, plan, await find());
      if (summary !== '') return summary;
      emit(notice('The model gave an empty summary.'));
    } catch (thrown) {
      if (signal.aborted || isOfMoney(thrown)) throw thrown;
      emit(notice(`The conversation could not be summarised by a model: ${messageOf(thrown)}`));
    }
  }
  emit(notice('The summary was made from patterns in the text; ,uncompact takes it back.'));
  return undefined;
}

async function askFor(compaction: Compaction, plan: CompactionPlan, model: Model): Promise<string> {
  const { focus } = compaction;
  const told = (prompt: string, maxTokens: number) =>
    asked(compaction, model, { system: SUMMARY_SYSTEM, prompt, maxTokens }, 'compaction');
  const { summarised: messages, previousSummary, turnPrefix } = plan;
  const most = roomFor(SUMMARY_TOKENS, model);
  const before =
    messages.length === 0
      ? (previousSummary ?? '')
      : (await told(summaryPrompt({ messages, previousSummary, focus }, model.info, most), most)).trim();
  if (turnPrefix.length === 0 || (before === '' && messages.length > 0)) return before;
  const short = roomFor(PREFIX_TOKENS, model);
  const prefix = (await told(prefixPrompt(turnPrefix, model.info, short), short)).trim();
  if (prefix === '') return '';
  const parts = [before, `## The turn that goes on below\n${prefix}`];
  return parts.filter((part) => part !== '').join('\n\n');
}

/** A small window is for reading, too. */
function roomFor(tokens: number, { info }: Model): number {
  return Math.min(tokens, Math.floor((info.contextWindow ?? Number.POSITIVE_INFINITY) / 4));
}

const MAX_NAMES = 1000;

/**
 * The name of the memory that holds the summary. One that cannot be written is told of, and missed by nobody else. What is
 * said in a session that is kept nowhere is not kept there either.
 */
async function archive(
  { host, conversation, emit }: Compaction,
  title: string,
  content: string,
): Promise<string | undefined> {
  if (conversation.tape.path === undefined) return undefined;
  try {
    const memory = host.memories.of('project', conversation.identity);
    const day = new Date(host.clock.now()).toISOString().slice(0, 10);
    const name = await freeName(memory, `${day} ${title}`.trim());
    await memory.apply({ type: 'add', kind: 'archive', name, content });
    return name;
  } catch (thrown) {
    emit(notice(`The summary is on the tape, but not in memory: ${messageOf(thrown)}`));
    return undefined;
  }
}

async function freeName(memory: Memory, wanted: string): Promise<string> {
  for (let number = 1; number < MAX_NAMES; number++) {
    const name = number === 1 ? wanted : `${wanted} (${number})`;
    if ((await memory.find(name)) === undefined) return name;
  }
  throw new Error(`${MAX_NAMES} memories are called ${wanted}.`);
}

interface Written {
  readonly summary: string;
  readonly title: string;
  readonly archiveName: string | undefined;
  readonly tokensBefore: number;
}

/** The entry and the view change in one step, with nothing in between. */
function record({ host, conversation }: Compaction, plan: CompactionPlan, written: Written): Promise<void> {
  const { summary, title, archiveName, tokensBefore } = written;
  const now = host.clock.now();
  const body: CompactionBody = {
    type: 'compaction',
    summary,
    firstKeptEntryId: plan.firstKeptEntryId,
    tokensBefore,
    details: {
      ...plan.files,
      carried: plan.carried,
      title,
      ...(archiveName !== undefined && { archiveName, archivedAt: new Date(now).toISOString() }),
    },
  };
  return conversation.replaceBySummary(body, summaryMessage(summary, now), plan.kept);
}

function sizeOf(
  messages: readonly Message[],
  conversation: Conversation,
  { host, offered }: Compaction,
): number {
  const content = { system: conversation.promptText ?? '', messages, tools: offered.schemas() };
  return estimateInput(content, { provider: '', id: '' }, host.clock.now()).tokens;
}

function notice(text: string): Event {
  return { type: 'notice', level: 'warning', text };
}
