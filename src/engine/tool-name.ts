// Which tool a model means. Providers let no name with a dot through, and models write names in another case, with other
// separators, or with a word in front that they were trained on. A name that differs in nothing else is the same name, as
// long as it can only mean one tool.

/** The tool of exactly this name or, when there is none, the only one whose name is the same in plain letters. */
export function findTool<T extends { readonly name: string }>(
  tools: ReadonlyMap<string, T>,
  name: string,
): T | undefined {
  const exact = tools.get(name);
  if (exact !== undefined) return exact;
  const found = new Map<string, T>();
  for (const [known, tool] of tools) if (isSameName(known, name)) found.set(tool.name, tool);
  const [only] = found.values();
  return found.size === 1 ? only : undefined;
}

/** `shell.exec`, `Shell_Exec` and `functions.shell_exec` are the same. */
export function isSameName(one: string, other: string): boolean {
  const letters = plainName(one);
  return letters !== '' && letters === plainName(other);
}

/** What is left of a name without what may differ. */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^functions?[._]/, '')
    .replace(/[^a-z0-9]/g, '');
}
