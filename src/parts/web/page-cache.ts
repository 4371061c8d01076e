// Pages for a quarter of an hour, so that reading on in a long one does not fetch it again. In memory, and bounded: a page
// that does not fit beside newer ones is forgotten.

const LIFETIME_MS = 15 * 60_000;
const MAX_SIZE = 32 * 1024 * 1024;

export interface PageCache<T> {
  get(key: string): T | undefined;
  /** `size` is about what it takes in memory, in bytes. */
  set(key: string, value: T, size: number): void;
}

/** @param now milliseconds that never go back */
export function createPageCache<T>(now: () => number): PageCache<T> {
  const kept = new Map<string, { readonly value: T; readonly size: number; readonly until: number }>();
  let total = 0;
  const drop = (key: string) => {
    total -= kept.get(key)?.size ?? 0;
    kept.delete(key);
  };
  return {
    get(key) {
      const found = kept.get(key);
      if (found !== undefined && found.until > now()) return found.value;
      drop(key);
      return undefined;
    },
    set(key, value, size) {
      drop(key);
      if (size > MAX_SIZE) return;
      kept.set(key, { value, size, until: now() + LIFETIME_MS });
      total += size;
      for (const oldest of kept.keys()) {
        if (total <= MAX_SIZE) break;
        drop(oldest);
      }
    },
  };
}
