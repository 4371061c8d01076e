// The other Crabs of the settings, for the tool that hands tasks to them. Tokens are read when they are needed, and what
// speaks WebSocket is loaded then.

import { readFileSync } from 'node:fs';
import { messageOf, ToolFailure } from '../core/errors.ts';
import type { Secrets } from '../core/redact.ts';
import type { Settings } from '../core/settings.ts';
import type { RemoteClient } from '../hosts/remote/remote-client.ts';
import type { Dispatch, Dispatched, RemoteOptions } from '../parts/remote/remote-trigger.ts';
import type { Environment } from './home.ts';
import { remoteToken } from './remote-token.ts';
import { VERSION } from './version.ts';

export function remoteOptions(env: Environment, settings: Settings, secrets: Secrets): RemoteOptions {
  const { remotes = {}, network } = settings;
  return {
    remotes,
    async dispatch(dispatch, signal) {
      const remote = remotes[dispatch.remote];
      if (remote === undefined) throw new ToolFailure(`There is no remote ${dispatch.remote}.`);
      const token = await remoteToken(dispatch.remote, remote, env);
      secrets.add([token]);
      const { RemoteClient: Remote } = await import('../hosts/remote/remote-client.ts');
      const ca = network.caFile === undefined ? undefined : readFileSync(network.caFile, 'utf8');
      const options = { client: `crab/${VERSION}`, signal, ...(ca !== undefined && { ca }) };
      try {
        const connection = await Remote.connect(remote.url, { mode: 'header', token }, options);
        const { client } = connection;
        const hangUp = () => client.close();
        signal.addEventListener('abort', hangUp, { once: true });
        try {
          return await (dispatch.wait ? answered(connection, dispatch) : begun(connection, dispatch));
        } finally {
          signal.removeEventListener('abort', hangUp);
          client.close();
        }
      } catch (error) {
        signal.throwIfAborted();
        throw new ToolFailure(`${dispatch.remote}: ${messageOf(error)}`, { cause: error });
      }
    },
  };
}

async function answered({ client }: RemoteClient, { agent, prompt }: Dispatch): Promise<Dispatched> {
  const { content, error } = await client.request('send', { agent, content: prompt }, 'response');
  return { text: content, error };
}

/** Runs outlive their clients: whoever has heard of the beginning may leave. */
async function begun({ client }: RemoteClient, { agent, prompt }: Dispatch): Promise<Dispatched> {
  for await (const said of client.stream('stream', { agent, content: prompt })) {
    if (said.case !== 'stream') continue;
    const { event } = said.value;
    return { text: '', error: event?.case === 'end' ? event.value.error : '' };
  }
  throw new ToolFailure('nothing was begun.');
}
