// How a login speaks to its token endpoint: over the same roads as models are asked, loaded when there is a login to renew.

import type { NetworkSettings } from '../core/settings.ts';
import type { Send } from '../parts/auth/token-endpoint.ts';
import type { Environment } from './home.ts';

const ANSWER_BYTES = 256 * 1024;

export function tokenRequests(env: Environment, network: NetworkSettings): Send {
  return async ({ url, headers, body }, signal) => {
    const [{ createHttp }, { readText }] = await Promise.all([
      import('../parts/llm/http.ts'),
      import('../parts/llm/attempt.ts'),
    ]);
    const request = { method: 'POST', url: new URL(url), headers, body: [Buffer.from(body)] } as const;
    const answer = await createHttp({}, { env, settings: network }).send(request, signal);
    try {
      return { status: answer.status, text: await readText(answer, ANSWER_BYTES) };
    } finally {
      answer.destroy();
    }
  };
}
