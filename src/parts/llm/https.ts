// HTTPS apart from HTTP, because loading TLS takes longer than everything else here and a local server
// needs none of it.

import { Agent, request } from 'node:https';
import type { Transport } from './http.ts';

export function secureTransport(options: Transport['options']): Transport {
  return { options, agent: new Agent(options), request };
}
