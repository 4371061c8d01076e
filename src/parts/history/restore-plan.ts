// What going back would do, decided before anything is touched. For each file there are three versions: what the run
// left (base), what lies there at this moment (ours), what it is to be (theirs). Ours equal to base means that nobody
// else changed it; otherwise the person did, and what they did is kept: by a merge, or as a conflict.

import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../../core/errors.ts';
import type { RewindReport } from '../../core/rewind.ts';
import type { ContentStore } from './content-store.ts';
import {
  ABSENT,
  type FileChange,
  type FileState,
  look,
  modeOf,
  sameContent,
  sameState,
  stateAt,
} from './file-state.ts';
import { mergeBytes } from './merge.ts';
import { readRegular } from './workspace-index.ts';

/** Bytes of a file that going back may read, keep and replace. */
const MAX_RESTORED_BYTES = 64 * 1024 * 1024;

export interface RestorePlan {
  /** `before` is what lies there at this moment. */
  readonly steps: readonly FileChange[];
  readonly restored: RewindReport['restored'];
  readonly conflicts: RewindReport['conflicts'];
  readonly unavailable: RewindReport['unavailable'];
}

export interface PlanOptions {
  readonly store: ContentStore;
  readonly merge?: typeof mergeBytes | undefined;
}

/**
 * `changes` go from what is to be (`before`) to what the run left (`after`), those of one path the oldest first. They are
 * undone one by one, the last first, so that what a person did between two of them stays. Contents of ours are put in
 * the store.
 */
export async function planRestore(
  changes: readonly FileChange[],
  { store, merge = mergeBytes }: PlanOptions,
): Promise<RestorePlan> {
  const plan = new Planning(store, merge);
  const paths = new Map<string, FileChange[]>();
  for (const change of changes) {
    const same = paths.get(change.path);
    if (same === undefined) paths.set(change.path, [change]);
    else same.push(change);
  }
  for (const [path, ofPath] of paths) await plan.add(path, ofPath);
  plan.addFolders();
  return plan;
}

/** What undoing one change leads to. */
type Undone =
  | { readonly state: FileState; readonly merged: boolean }
  | { readonly conflict: string }
  | { readonly unavailable: string };

class Planning implements RestorePlan {
  steps: FileChange[] = [];
  restored: RewindReport['restored'][number][] = [];
  readonly conflicts: RewindReport['conflicts'][number][] = [];
  readonly unavailable: RewindReport['unavailable'][number][] = [];
  readonly #store: ContentStore;
  readonly #merge: typeof mergeBytes;
  readonly #taken = new Set<string>();

  constructor(store: ContentStore, merge: typeof mergeBytes) {
    this.#store = store;
    this.#merge = merge;
  }

  async add(path: string, changes: readonly FileChange[]): Promise<void> {
    const unsafe = unsafeWay(path);
    if (unsafe !== undefined) return void this.unavailable.push({ path, why: unsafe });
    const ours = currentState(path, this.#store);
    if (typeof ours === 'string') return void this.unavailable.push({ path, why: ours });
    let state: FileState = ours;
    let merged = false;
    for (const { before: theirs, after: base } of changes.toReversed()) {
      const undone = await this.#undo({ base, ours: state, theirs });
      if ('unavailable' in undone) return void this.unavailable.push({ path, why: undone.unavailable });
      if ('conflict' in undone) return this.#conflict(path, undone.conflict, changes[0]?.before);
      state = undone.state;
      merged ||= undone.merged;
    }
    if (sameState(ours, state)) return;
    this.steps.push({ path, before: ours, after: state });
    this.restored.push({ path, how: state.kind === 'absent' ? 'removed' : merged ? 'merged' : 'restored' });
  }

  async #undo(sides: Sides): Promise<Undone> {
    const { base, ours, theirs } = sides;
    if (sameState(ours, theirs)) return { state: ours, merged: false };
    if (ours.kind === 'other' || theirs.kind === 'other') return { unavailable: 'it is no regular file' };
    if (theirs.kind === 'file' && !this.#isKept(theirs)) return { unavailable: notKept(theirs) };
    const mode = mergedMode(base, ours, theirs);
    const wanted =
      mode !== undefined && (theirs.kind === 'file' || theirs.kind === 'folder')
        ? { ...theirs, mode }
        : theirs;
    // A folder is the same folder whatever became of its mode; it goes when it is empty by then.
    if (sameContent(ours, base)) return { state: wanted, merged: false };
    if (sameContent(ours, theirs)) return { state: ours, merged: false };
    if (theirs.kind === 'folder' && ours.kind === 'absent') return { state: wanted, merged: false };
    const state = await this.#merged(sides);
    return state === undefined ? { conflict: conflictReason(sides) } : { state, merged: true };
  }

  #conflict(path: string, why: string, theirs: FileState | undefined): void {
    const canStandBeside = theirs?.kind === 'link' || (theirs?.kind === 'file' && this.#isKept(theirs));
    if (theirs === undefined || !canStandBeside) return void this.conflicts.push({ path, why });
    const beside = this.#freeName(path);
    this.conflicts.push({ path, why, beside });
    this.steps.push({ path: beside, before: ABSENT, after: theirs });
  }

  async #merged({ base, ours, theirs }: Sides): Promise<FileState | undefined> {
    if (base.kind !== 'file' || ours.kind !== 'file' || theirs.kind !== 'file') return undefined;
    const [old, mine, other] = [base, ours, theirs].map(({ hash }) =>
      hash === undefined ? undefined : this.#store.get(hash),
    );
    if (old === undefined || mine === undefined || other === undefined) return undefined;
    const bytes = await this.#merge(old, mine, other);
    if (bytes === undefined) return undefined;
    const mode = mergedMode(base, ours, theirs) ?? ours.mode;
    return { kind: 'file', hash: this.#store.put(bytes), size: bytes.length, mode };
  }

  /** A folder of the run's stays while something is to be in it, and one that the person removed since is made again. */
  addFolders(): void {
    const held = new Set<string>();
    for (const { path, after } of this.steps)
      if (after.kind !== 'absent')
        for (let folder = dirname(path); !held.has(folder); folder = dirname(folder)) held.add(folder);
    const isHeld = ({ path, before, after }: FileChange) =>
      before.kind === 'folder' && after.kind === 'absent' && held.has(path);
    const stays = new Set(this.steps.filter(isHeld).map(({ path }) => path));
    this.steps = this.steps.filter(({ path }) => !stays.has(path));
    this.restored = this.restored.filter(({ path }) => !stays.has(path));
    const known = new Set(this.steps.map(({ path }) => path));
    for (const { path, after } of [...this.steps]) {
      if (after.kind === 'absent') continue;
      for (
        let folder = dirname(path);
        !known.has(folder) && look(folder) === undefined;
        folder = dirname(folder)
      ) {
        known.add(folder);
        this.steps.push({ path: folder, before: ABSENT, after: { kind: 'folder', mode: 0o755 } });
      }
    }
  }

  #isKept(state: FileState): boolean {
    return state.kind !== 'file' || (state.hash !== undefined && this.#store.get(state.hash) !== undefined);
  }

  #freeName(path: string): string {
    for (let number = 1; ; number++) {
      const name = `${basename(path)}.crab-conflict${number === 1 ? '' : `-${number}`}`;
      const beside = join(dirname(path), name);
      if (this.#taken.has(beside) || look(beside) !== undefined) continue;
      this.#taken.add(beside);
      return beside;
    }
  }
}

interface Sides {
  readonly base: FileState;
  readonly ours: FileState;
  readonly theirs: FileState;
}

/** The person's own change of the mode stays. */
function mergedMode(base: FileState, ours: FileState, theirs: FileState): number | undefined {
  const [was, is, to] = [modeOf(base), modeOf(ours), modeOf(theirs)];
  return was !== undefined && is !== undefined && is !== was ? is : to;
}

function conflictReason({ base, ours, theirs }: Sides): string {
  if (ours.kind === 'absent') return 'you removed it since';
  if (theirs.kind === 'absent') return 'the run made it, and you changed it since';
  if (base.kind === 'absent') return 'the run removed it, and you made it again';
  return 'you changed the same lines since, or it is no text';
}

function notKept(state: FileState): string {
  return state.kind === 'file' && state.hash === undefined
    ? 'its content was not kept: it was too large, or a rule keeps it from being read'
    : 'its content is no longer kept';
}

/** What lies there, its content in the store; a sentence where it cannot be replaced without losing it. */
export function currentState(path: string, store: ContentStore): FileState | string {
  let lost = false;
  try {
    const state = stateAt(path, () => {
      const bytes = readRegular(path, MAX_RESTORED_BYTES);
      lost = bytes === undefined;
      return bytes && store.put(bytes);
    });
    return lost ? 'it cannot be read, or is too large to be kept' : state;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return `it cannot be read (${errnoOf(error)})`;
  }
}

/** A folder on the way that became a link could lead anywhere. */
export function unsafeWay(path: string): string | undefined {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    try {
      const info = look(folder);
      if (info?.isSymbolicLink() === true) return `${folder} has become a link`;
      if (info !== undefined && !info.isDirectory()) {
        // A file that takes the place of a folder is put back by a step of its own.
        return undefined;
      }
    } catch (error) {
      return `${folder} cannot be looked at (${errnoOf(error)})`;
    }
    if (folder === dirname(folder)) return undefined;
  }
}
