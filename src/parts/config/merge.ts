// Layers of settings, one over another: tables are merged key by key, everything else is replaced.

export interface Layer {
  readonly path: string;
  /** The file as it stands, to find lines in. */
  readonly text: string;
  readonly table: Readonly<Record<string, unknown>>;
  /** Where in the file the table begins. */
  readonly prefix: readonly string[];
  readonly openToOthers: boolean;
}

export function merge(under: unknown, over: unknown): unknown {
  if (!isPlain(under) || !isPlain(over)) return over;
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over))
    merged[key] = Object.hasOwn(merged, key) ? merge(merged[key], value) : value;
  return merged;
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
