// Model servers that run on this machine, as commands name them.

import { createHttp } from '../parts/llm/http.ts';
import { canTalk } from '../parts/llm/list-models.ts';
import { findLocalServers } from '../parts/llm/local-servers.ts';
import { LOCAL_SERVERS } from '../parts/llm/openai-local.ts';
import { VERSION } from './version.ts';

/** The first model of each, as PROVIDER/ID. Only this machine is asked, and for less than half a second. */
export async function localModels(): Promise<readonly string[]> {
  const looking = { env: {}, http: createHttp(), userAgent: `crab/${VERSION}` };
  const names: string[] = [];
  for await (const { row, models } of findLocalServers(LOCAL_SERVERS, looking)) {
    // The name is printed as part of a command: only what needs no quoting is.
    const first = models.find(({ id }) => canTalk(id) && /^[\w.:/@-]+$/.test(id));
    if (first !== undefined) names.push(`${row.name}/${first.id}`);
  }
  return names;
}
