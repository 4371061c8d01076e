// How a login speaks to its token endpoint: the same way as models are spoken to, loaded when there is a login to renew.

import type { Send } from '../parts/auth/token-endpoint.ts';

const ANSWER_BYTES = 256 * 1024;

export const sendTokenRequest: Send = async ({ url, headers, body }, signal) => {
  const [{ createHttp }, { readText }] = await Promise.all([
    import('../parts/llm/http.ts'),
    import('../parts/llm/attempt.ts'),
  ]);
  const request = { method: 'POST', url: new URL(url), headers, body: [Buffer.from(body)] } as const;
  const answer = await createHttp().send(request, signal);
  try {
    return { status: answer.status, text: await readText(answer, ANSWER_BYTES) };
  } finally {
    answer.destroy();
  }
};
