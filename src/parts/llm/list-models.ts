// The models that a server says it has: `GET /models`, as OpenAI's API and its imitators answer it.

import type { Credential } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { readText } from './attempt.ts';
import { commonHeaders } from './create-model.ts';
import { below, type Endpoint } from './endpoint.ts';
import { protocolFailure, redirectFailure, statusFailure } from './failure.ts';
import type { Http, HttpRequest } from './http.ts';
import type { ProviderRow } from './provider-row.ts';

export interface Listing {
  readonly row: ProviderRow;
  readonly endpoint: Endpoint;
  readonly credential: Credential | undefined;
  readonly http: Http;
  readonly userAgent: string;
}

const LIST_BYTES = 4 * 1024 * 1024;
const LIST_MS = 10_000;

/** The model that a server lists first. */
export async function firstModel({ row, endpoint, credential, http, userAgent }: Listing): Promise<string> {
  const url = below(endpoint.baseUrl, '/models');
  const provider = { name: row.name, url, secrets: () => credential?.secrets() ?? [] };
  const plain: HttpRequest = { method: 'GET', url, headers: { ...commonHeaders(userAgent), ...row.headers } };
  const headers = { ...plain.headers, ...(await credential?.headers(plain)) };
  const { status, location, text } = await list(http, { ...plain, headers });
  const hint = 'Name a model with --model.';
  if (status >= 300 && status < 400) throw redirectFailure(provider, status, location);
  if (status !== 200) {
    const { code, message } = statusFailure(provider, status, { message: text });
    throw new CrabError(code, message, { status, hint });
  }
  const id = firstId(text);
  if (id === undefined) throw protocolFailure(provider, 'did not answer with a list of models', text);
  if (id === '') throw new CrabError('model-unknown', `${url.host} has no model to offer.`, { hint });
  return id;
}

async function list(
  http: Http,
  request: HttpRequest,
): Promise<{ status: number; location: string | undefined; text: string }> {
  const signal = AbortSignal.timeout(LIST_MS);
  try {
    const answer = await http.send(request, signal);
    const text = await readText(answer, LIST_BYTES);
    answer.destroy();
    return { status: answer.status, location: answer.headers.location, text };
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
    const text = `${request.url.host} did not list its models within ${LIST_MS / 1000} seconds.`;
    throw new CrabError('provider-stalled', text, { hint: 'Name a model with --model.' });
  }
}

/** Empty when the list is; undefined when it is no list. */
function firstId(text: string): string | undefined {
  try {
    const { data } = JSON.parse(text) as { data?: readonly { id?: unknown }[] };
    if (!Array.isArray(data)) return undefined;
    const id: unknown = data.length === 0 ? '' : data[0]?.id;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}
