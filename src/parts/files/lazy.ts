// A module that is loaded at first use and then stays at hand: what a mode never uses costs nothing at its start.

/** Calls `load` once; when it fails, the next call tries again. */
export function lazy<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load().catch((error: unknown) => {
      loaded = undefined;
      throw error;
    });
    return loaded;
  };
}
