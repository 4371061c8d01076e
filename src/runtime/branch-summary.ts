// What happened on a branch that is left, in a model's words: from the head up to where the way to the target parts from it.
// A person asks for it with the move; the runtime never does by itself (law 9).

import type { FilesTouched, TapeReader } from '../core/tape.ts';
import type { Tool } from '../core/tool.ts';
import { filesTouched } from '../engine/compaction.ts';
import { branchPrompt, SUMMARY_SYSTEM } from '../engine/summary-prompt.ts';
import { findEntry } from '../parts/tape/branching.ts';
import { asked, type Consultation, lightModels } from './consult.ts';
import { messageOf } from './history.ts';

export interface BranchLeft {
  readonly summary: string;
  readonly files: FilesTouched;
}

export interface Leaving extends Consultation {
  readonly tools: ReadonlyMap<string, Tool>;
  /** As in the control `moveTo`. */
  readonly target: string | null;
  /** What the summary is to look at above all; may be empty. */
  readonly focus: string;
}

const SUMMARY_TOKENS = 2_000;

/** Undefined where nothing was said that is left. Throws `CrabError` (`entry-unknown`, or as the request failed). */
export async function summariseBranch(leaving: Leaving): Promise<BranchLeft | undefined> {
  const { conversation, host, target, focus, tools } = leaving;
  const { tape } = conversation;
  const entries = leftBehind(tape, target === null ? null : findEntry(tape, target));
  const messages = entries.flatMap((entry) => (entry.type === 'message' ? (messageOf(entry) ?? []) : []));
  const summaries = entries.flatMap((entry) =>
    entry.type === 'compaction' || entry.type === 'branch_summary' ? [entry] : [],
  );
  if (messages.length === 0 && summaries.length === 0) return undefined;
  const { accesses, cwd } = conversation;
  await accesses.learn(messages, { tools, identity: () => conversation.identity });
  const known = summaries.map(({ details }) => details);
  const files = filesTouched(messages, {
    accessOf: accesses.of.bind(accesses),
    cwd,
    previous: {
      readFiles: known.flatMap((details) => details?.readFiles ?? []),
      modifiedFiles: known.flatMap((details) => details?.modifiedFiles ?? []),
    },
  });
  const [find = () => conversation.model()] = lightModels(leaving);
  const model = await find();
  const ask = { messages, summaries: summaries.map(({ summary }) => summary), focus };
  const prompt = branchPrompt(ask, model.info, SUMMARY_TOKENS);
  const told = await asked(
    leaving,
    model,
    { system: SUMMARY_SYSTEM, prompt, maxTokens: SUMMARY_TOKENS },
    'aside',
  );
  const summary = (host.redact?.(told) ?? told).trim();
  return summary === '' ? undefined : { summary, files };
}

/** In order, from behind the common ancestor to the head. */
function leftBehind(tape: TapeReader, target: string | null) {
  const kept = new Set([...tape.ancestry(target)].map(({ id }) => id));
  const left = new Set<string>();
  for (const { id } of tape.ancestry()) {
    if (kept.has(id)) break;
    left.add(id);
  }
  return [...tape.branch({ wanted: ({ id }) => left.has(id) })];
}
