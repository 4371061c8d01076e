// HTTPS apart from HTTP, because loading TLS takes longer than everything else here and a local server
// needs none of it.

import { Agent, request } from 'node:https';
import type { SecureContext } from 'node:tls';
import type { AgentSettings, Transport } from './transports.ts';

export type SecureSettings = AgentSettings & { readonly secureContext?: SecureContext };

export function secureTransport(settings: SecureSettings, isWide: boolean): Transport {
  return { agent: new Agent(settings), request, isWide };
}
