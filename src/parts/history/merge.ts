// The three-way merge of lines (as in GNU diff3 and git): what either side changed of the base is taken, what both
// changed in the same way is taken once, and where they changed the same or adjoining lines differently there is no
// merge. A line keeps its end, so that no line end is ever changed; bytes stand for letters, so that no encoding is.

const MAX_MERGE_MS = 1000;

/** Undefined when the changes conflict, when a side is no text, or when comparing takes too long. */
export async function mergeBytes(base: Buffer, ours: Buffer, theirs: Buffer): Promise<Buffer | undefined> {
  if ([base, ours, theirs].some((side) => side.includes(0))) return undefined;
  const lines = [base, ours, theirs].map(linesOf);
  const [old = [], mine = [], other = []] = lines;
  const left = await hunksOf(old, mine);
  const right = await hunksOf(old, other);
  if (left === undefined || right === undefined) return undefined;
  const merged = mergeHunks(old, left, right);
  return merged && Buffer.from(merged.join(''), 'latin1');
}

function linesOf(side: Buffer): readonly string[] {
  return side.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines `from` to `to` of the base became `lines`. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

async function hunksOf(
  base: readonly string[],
  side: readonly string[],
): Promise<readonly Hunk[] | undefined> {
  const { diffArrays } = await import('diff');
  const parts = diffArrays([...base], [...side], { timeout: MAX_MERGE_MS });
  if (parts === undefined) return undefined;
  const hunks: Hunk[] = [];
  let at = 0;
  let open: { from: number; to: number; lines: string[] } | undefined;
  for (const { added, removed, value } of parts) {
    if (!added && !removed) {
      if (open !== undefined) hunks.push(open);
      open = undefined;
      at += value.length;
      continue;
    }
    open ??= { from: at, to: at, lines: [] };
    if (added) open.lines.push(...value);
    else {
      at += value.length;
      open.to = at;
    }
  }
  return open === undefined ? hunks : [...hunks, open];
}

function mergeHunks(
  base: readonly string[],
  left: readonly Hunk[],
  right: readonly Hunk[],
): readonly string[] | undefined {
  const merged: string[] = [];
  let [l, r, at] = [0, 0, 0];
  while (l < left.length || r < right.length) {
    const [mine, other] = [left[l], right[r]];
    let taken: Hunk | undefined;
    if (mine !== undefined && other !== undefined && touch(mine, other)) {
      if (!isEqual(mine, other)) return undefined;
      taken = mine;
      l++;
      r++;
    } else if (other === undefined || (mine !== undefined && mine.from < other.from)) {
      taken = mine;
      l++;
    } else {
      taken = other;
      r++;
    }
    if (taken === undefined) return undefined;
    merged.push(...base.slice(at, taken.from), ...taken.lines);
    at = taken.to;
  }
  return [...merged, ...base.slice(at)];
}

/** Adjoining changes count: which of the two lines comes first would be a guess. */
function touch(a: Hunk, b: Hunk): boolean {
  return a.from <= b.to && b.from <= a.to;
}

function isEqual(a: Hunk, b: Hunk): boolean {
  return a.from === b.from && a.to === b.to && a.lines.join('') === b.lines.join('');
}
