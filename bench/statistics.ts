// What many readings are worth on a machine that also does other things.

/** NaN of nothing. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** Between the two nearest readings, in proportion. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = ((sorted.length - 1) * percent) / 100;
  const below = sorted[Math.floor(at)] ?? Number.NaN;
  const above = sorted[Math.ceil(at)] ?? Number.NaN;
  return below + (above - below) * (at - Math.floor(at));
}
