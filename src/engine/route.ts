// Where a line of input goes, decided by its first letters and the known command names alone, never by a model:
// the same line always does the same thing, and replaying a tape needs no guess.

export type Route =
  /** Natural language, for the model. */
  | { readonly to: 'model'; readonly text: string }
  | { readonly to: 'command'; readonly name: string; readonly args: string }
  /** `store`: the output becomes part of the session. `repair`: a failure goes to the model. */
  | { readonly to: 'shell'; readonly command: string; readonly store: boolean; readonly repair: boolean }
  /** A `/name` that is no command: an error with suggestions. */
  | { readonly to: 'unknown'; readonly name: string };

const COMMAND_NAME = /^[A-Za-z][A-Za-z0-9:_-]*$/;

/**
 * `,x` and `/x` reach a command of that name; an unknown `,x` runs in the shell and a failure of it goes to the
 * model; `!x` always runs in the shell and is kept, `!!x` is not kept; everything else is for the model.
 *
 * @param names every command name and alias
 */
export function route(line: string, names: ReadonlySet<string>): Route {
  const text = line.trimStart();
  const rest = text.slice(1).trimStart();
  if (text.startsWith('!!')) return shell(text.slice(2), { store: false, repair: false }, line);
  if (text.startsWith('!')) return shell(rest, { store: true, repair: false }, line);
  if (!text.startsWith(',') && !text.startsWith('/')) return { to: 'model', text: line };
  const [, name = '', args = ''] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
  if (names.has(name)) return { to: 'command', name, args: args.trimEnd() };
  if (text.startsWith(',')) return shell(rest, { store: true, repair: true }, line);
  // A path such as /etc/hosts is something to talk about; only what looks like a command is held to be one.
  return COMMAND_NAME.test(name) ? { to: 'unknown', name } : { to: 'model', text: line };
}

function shell(
  command: string,
  how: { readonly store: boolean; readonly repair: boolean },
  line: string,
): Route {
  const trimmed = command.trim();
  return trimmed === '' ? { to: 'model', text: line } : { to: 'shell', command: trimmed, ...how };
}

/** Up to three known names that are near to a mistyped one, nearest first. */
export function suggestions(name: string, names: Iterable<string>): readonly string[] {
  const near: { readonly name: string; readonly distance: number }[] = [];
  for (const candidate of names) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance <= Math.max(1, Math.floor(candidate.length / 3)) || candidate.startsWith(name))
      near.push({ name: candidate, distance });
  }
  near.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return near.slice(0, 3).map((item) => item.name);
}

/** Edits between two words, a swap of neighbours counting as one (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (swapped) least = Math.min(least, (before[j - 2] ?? 0) + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length] ?? 0;
}
