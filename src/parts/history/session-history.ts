// The history of one session's files, as the runtime uses it. Conversation and files are brought together here: the
// files go first, under a journal, and the tape has the last word.

import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError } from '../../core/errors.ts';
import { messageText } from '../../core/message.ts';
import type {
  HistoryCoverage,
  Rewinding,
  RewindPoint,
  RewindReport,
  RewindRequest,
} from '../../core/rewind.ts';
import type { Entry, EntryBody, Tape } from '../../core/tape.ts';
import { totalBytes } from './collect.ts';
import { bytesOf, packsIn } from './content-store.ts';
import type { FileChange } from './file-state.ts';
import { dropJournal, journalPath, readJournal, type Underway, writeJournal } from './journal.ts';
import {
  changesOf,
  filesRecordOf,
  lastRewind,
  type RewindRecord,
  rewindEntry,
  rewindRecordOf,
} from './record.ts';
import { restore } from './restore.ts';
import { planRestore, type RestorePlan } from './restore-plan.ts';
import type { Workspace } from './workspace.ts';
import { type HistoryOptions, workspaceFolder } from './workspace.ts';

export interface RewindingOptions {
  readonly tape: Tape;
  readonly options: HistoryOptions;
  /** Undefined where no files are kept. */
  readonly workspace: () => Promise<Workspace> | undefined;
}

export function createRewinding({ tape, options, workspace }: RewindingOptions): Rewinding {
  const plan = async (changes: readonly FileChange[]): Promise<RestorePlan> => {
    const opened = changes.length === 0 ? undefined : await workspace();
    if (opened !== undefined) return planRestore(changes, { store: opened.store, merge: options.merge });
    const why = 'no file history is kept here';
    const unavailable = changes.map(({ path }) => ({ path, why }));
    return { steps: [], restored: [], conflicts: [], unavailable };
  };
  return {
    points: async () => pointsOf([...tape.branch()]),
    async rewind(to, { what, dryRun }: RewindRequest) {
      const branch = [...tape.branch()];
      const at = findPoint(branch, to);
      const prompt = branch[at];
      const net = changesOf(branch.slice(at));
      const planned = await plan(what === 'conversation' ? [] : net);
      const moves = what !== 'files';
      const report = reportOf(planned, branch.slice(at), moves ? textOf(prompt) : undefined);
      if (dryRun) return report;
      const record: RewindRecord = {
        id: options.newId(),
        what,
        from: tape.leafId,
        undo: planned.steps,
        changes: carriedBy(what, net),
      };
      const head = moves ? { head: { to: prompt?.parentId ?? null } } : {};
      return carryOut({ ...head, steps: planned.steps, record }, report);
    },
    async redo({ dryRun }) {
      const last = lastRewind([...tape.branch()]);
      if (last === undefined)
        throw new CrabError(
          'rewind-unknown',
          'There is nothing to redo: no rewind is the last thing that happened.',
        );
      const planned = await plan(last.undo.map(({ path, before, after }) => ({ path, before, after })));
      const report = reportOf(planned, [], undefined);
      if (dryRun) return report;
      return carryOut({ head: { to: last.from }, steps: planned.steps }, report);
    },
    coverage: async () => coverageOf(options, await workspace()),
  };

  async function carryOut(underway: Underway, report: RewindReport): Promise<RewindReport> {
    const opened = underway.steps.length === 0 ? undefined : await workspace();
    if (opened === undefined) {
      await tape.append(bodiesOf(underway)).synced;
      return report;
    }
    const path = journalPath(opened.folder, tape.header.id);
    await opened.store.sync();
    writeJournal(path, underway);
    const { done, left } = restore(underway.steps, opened.store);
    await tape.append(bodiesOf(underway, done)).synced;
    dropJournal(path);
    const missed = new Set(left.map(({ path: each }) => each));
    return {
      ...report,
      restored: report.restored.filter((each) => !missed.has(each.path)),
      unavailable: [...report.unavailable, ...left],
    };
  }
}

/** Finishes a rewind that was interrupted. Returns what the person should know. */
export async function finishRewind(
  tape: Tape,
  options: HistoryOptions,
  open: () => Promise<Workspace>,
): Promise<readonly string[]> {
  const folder = workspaceFolder(options.home, realpathSync(tape.header.cwd));
  const path = journalPath(folder, tape.header.id);
  if (!existsSync(path)) return [];
  const underway = readJournal(path);
  const { record } = underway ?? {};
  const isDone =
    record !== undefined && [...tape.branch()].some((entry) => rewindRecordOf(entry)?.id === record.id);
  if (underway === undefined || isDone) {
    dropJournal(path);
    return [];
  }
  const { store } = await open();
  const { done, left } = restore(underway.steps, store);
  await tape.append(bodiesOf(underway, done)).synced;
  dropJournal(path);
  const rest =
    left.length === 0
      ? ''
      : ` Left as they are: ${left.map((each) => `${each.path} (${each.why})`).join(', ')}.`;
  return [`A rewind that was interrupted has been finished: ${files(done.length)} put back.${rest}`];
}

function bodiesOf({ head, record, steps }: Underway, done = steps): readonly EntryBody[] {
  const leaf: readonly EntryBody[] = head === undefined ? [] : [{ type: 'leaf', targetId: head.to }];
  return record === undefined ? leaf : [...leaf, rewindEntry({ ...record, undo: done })];
}

/**
 * With both, the branch that goes on knows nothing of what was undone. Where only the files went back, they are as before
 * the prompt while their records stay in the branch; where only the conversation did, the files keep what their records
 * said and the branch has lost.
 */
function carriedBy(what: RewindRequest['what'], net: readonly FileChange[]): readonly FileChange[] {
  if (what === 'both') return [];
  return what === 'conversation'
    ? net
    : net.toReversed().map(({ path, before, after }) => ({ path, before: after, after: before }));
}

function pointsOf(branch: readonly Entry[]): readonly RewindPoint[] {
  const points: RewindPoint[] = [];
  let after: Entry[] = [];
  for (const entry of branch.toReversed()) {
    after.push(entry);
    if (!isPrompt(entry)) continue;
    points.push({
      number: points.length + 1,
      entry: entry.id,
      timestamp: entry.timestamp,
      text: textOf(entry) ?? '',
      files: new Set(changesOf(after.toReversed()).map(({ path }) => path)).size,
    });
    after = [];
  }
  return points;
}

function findPoint(branch: readonly Entry[], to: string): number {
  const prompts = branch.flatMap((entry, at) => (isPrompt(entry) ? [{ entry, at }] : [])).reverse();
  const number = /^\d{1,6}$/.test(to) ? Number(to) : undefined;
  const byId =
    to.length < 6
      ? []
      : prompts.filter(({ entry }) => entry.id.startsWith(to.toUpperCase()) || entry.id === to);
  const found = number === undefined ? byId : prompts.slice(number - 1, number);
  const [only] = found;
  if (only !== undefined && found.length === 1) return only.at;
  const many = prompts.length === 1 ? '1 prompt' : `${prompts.length} prompts`;
  throw new CrabError(
    'rewind-unknown',
    `There is no prompt ${to} to go back to: this conversation has ${many}.`,
  );
}

function isPrompt(entry: Entry): boolean {
  return entry.type === 'message' && entry.message.role === 'user';
}

function textOf(entry: Entry | undefined): string | undefined {
  return entry?.type === 'message' ? messageText(entry.message) : undefined;
}

function reportOf(plan: RestorePlan, undone: readonly Entry[], prompt: string | undefined): RewindReport {
  const { restored, conflicts, unavailable } = plan;
  const uncovered = uncoveredIn(undone);
  return { restored, conflicts, unavailable, uncovered, ...(prompt !== undefined && { prompt }) };
}

function uncoveredIn(entries: readonly Entry[]): readonly string[] {
  const failures = new Set<string>();
  const most = new Map<string, number>();
  for (const entry of entries) {
    const record = filesRecordOf(entry);
    if (record?.failure !== undefined)
      failures.add(`The files of one call could not be watched: ${record.failure}`);
    for (const [why, count] of Object.entries(record?.uncovered ?? {}))
      most.set(why, Math.max(most.get(why) ?? 0, count ?? 0));
  }
  const places = [...most].map(([why, count]) => `${count} ${why}`);
  const notCovered = `Commands may have changed what is not covered: ${places.join(', ')}.`;
  return [...failures, ...(places.length === 0 ? [] : [notCovered])];
}

function coverageOf(options: HistoryOptions, workspace: Workspace | undefined): HistoryCoverage {
  const indexes = workspace?.indexes ?? [];
  const kept = indexes
    .flatMap((index) => [...index.known.values()])
    .filter(({ kind, content }) => kind === 'file' && content !== undefined);
  return {
    enabled: workspace !== undefined,
    workspaceBytes: workspace === undefined ? 0 : bytesOf(packsIn(join(workspace.folder, 'packs'))),
    totalBytes: totalBytes(options.home),
    quotaBytes: options.quotaBytes,
    ...(indexes.length > 0 && { files: kept.length }),
    uncovered: indexes.flatMap((index) => index.uncovered),
  };
}

function files(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
