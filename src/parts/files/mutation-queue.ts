// Operations on one file run one after the other, those on different files side by side. A queue belongs to whoever
// made it; two queues know nothing of each other, nor does this one know of other programs.

export interface MutationQueue {
  /** Runs `operation` when all that were given before for this key have ended, however they ended. */
  run<T>(key: string, operation: () => Promise<T>): Promise<T>;
  /** Keys with operations that have not ended. */
  readonly size: number;
}

export function createMutationQueue(): MutationQueue {
  const tails = new Map<string, Promise<unknown>>();
  return {
    get size() {
      return tails.size;
    },
    async run(key, operation) {
      const result = (tails.get(key) ?? Promise.resolve()).then(operation);
      const tail = result.catch(() => {});
      tails.set(key, tail);
      try {
        return await result;
      } finally {
        if (tails.get(key) === tail) tails.delete(key);
      }
    },
  };
}
