// Servers of models on this machine, found where they usually listen. Asked on loopback alone, all at once, and for less
// than half a second: where nobody listens, that is told at once.

import { type Environment, endpointOf } from './endpoint.ts';
import type { Http } from './http.ts';
import { type Listed, listModels } from './list-models.ts';
import type { ProviderRow } from './provider-row.ts';

export interface LocalServer {
  readonly row: ProviderRow;
  readonly baseUrl: URL;
  readonly models: readonly Listed[];
}

export interface Looking {
  readonly env: Environment;
  readonly http: Http;
  readonly userAgent: string;
}

const PATIENCE_MS = 400;

/** The servers that answer, in the order of the rows: the first is there as soon as those before it are not. */
export async function* findLocalServers(
  rows: readonly ProviderRow[],
  looking: Looking,
): AsyncGenerator<LocalServer, void> {
  const done = new AbortController();
  const signal = AbortSignal.any([done.signal, AbortSignal.timeout(PATIENCE_MS)]);
  try {
    const asked = rows.filter(({ local }) => local).map((row) => lookAt(row, looking, signal));
    for (const looked of asked) {
      const server = await looked;
      if (server !== undefined) yield server;
    }
  } finally {
    done.abort();
  }
}

/** The server of a row, at whichever of its addresses one answers. Never rejects. */
export async function findLocalServer(
  row: ProviderRow,
  looking: Looking,
  patienceMs: number = PATIENCE_MS,
): Promise<LocalServer | undefined> {
  return lookAt(row, looking, AbortSignal.timeout(patienceMs));
}

async function lookAt(
  row: ProviderRow,
  { env, http, userAgent }: Looking,
  signal: AbortSignal,
): Promise<LocalServer | undefined> {
  const answers = addressesOf(row, env).map(async (baseUrl) => {
    const endpoint = { baseUrl, moved: true };
    try {
      const models = await listModels({ row, endpoint, credential: undefined, http, userAgent }, signal);
      return { row, baseUrl, models };
    } catch {
      return undefined;
    }
  });
  for (const answer of answers) {
    const server = await answer;
    if (server !== undefined) return server;
  }
  return undefined;
}

/** Where the row's variable says, or on this machine over either version of IP. */
function addressesOf(row: ProviderRow, env: Environment): readonly URL[] {
  let endpoint: ReturnType<typeof endpointOf>;
  try {
    endpoint = endpointOf(row, env);
  } catch {
    return [];
  }
  const { baseUrl, moved } = endpoint;
  if (moved || baseUrl.hostname !== '127.0.0.1') return [baseUrl];
  const over6 = new URL(baseUrl);
  over6.hostname = '[::1]';
  return [baseUrl, over6];
}
