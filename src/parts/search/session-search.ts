// The search as it is handed to a host. What reads and writes the index is loaded when something is searched, or when a
// run has lasted long enough to be worth indexing as it goes: one that is over before that is read by the next search.

import type { SessionSearch } from '../../core/search.ts';
import type { OpenSearch, SearchOptions } from './open-search.ts';

/** Milliseconds that appends are gathered; none of them waits. */
const GATHER_MS = 250;

export function createSessionSearch(options: SearchOptions): SessionSearch {
  const appended = new Set<string>();
  let opening: Promise<OpenSearch> | undefined;

  const load = async (): Promise<OpenSearch> => new (await import('./open-search.ts')).OpenSearch(options);
  const open = () => {
    opening ??= load();
    return opening;
  };

  /** The files have it all: what cannot be indexed at this moment is indexed by a later search. */
  async function takeIn(): Promise<void> {
    const paths = [...appended];
    appended.clear();
    if (paths.length === 0) return;
    await open()
      .then((search) => search.read(paths))
      .catch(() => {});
  }

  return {
    async search(request, signal) {
      await takeIn();
      return (await open()).search(request, signal);
    },
    appended(path) {
      if (appended.size === 0) setTimeout(takeIn, GATHER_MS).unref();
      appended.add(path);
    },
  };
}
