// Follows a URL to its answer. Redirects are followed by hand, each target judged like the first; one to another host goes
// on only where the rules allow that host by themselves, because what the person said yes to was the host in the call.

import { ToolFailure } from '../../core/errors.ts';
import type { NetworkGuard } from '../../core/network.ts';
import type { ToolContext } from '../../core/tool.ts';
import type { Send, WebAnswer } from './exchange.ts';
import { checkedUrl } from './web-url.ts';

const MAX_REDIRECTS = 10;

export interface Fetched {
  readonly kind: 'answer';
  /** Behind the redirects. */
  readonly url: URL;
  readonly answer: WebAnswer;
}

export interface Redirected {
  readonly kind: 'redirect';
  readonly from: URL;
  readonly to: URL;
  readonly status: number;
}

export interface FetchOptions {
  readonly send: Send;
  readonly guard: NetworkGuard;
  readonly permits: ToolContext['permits'];
}

const ACCEPT =
  'text/markdown, text/html, application/xhtml+xml, text/plain, application/json;q=0.9, */*;q=0.8';

/** Rejects with `ToolFailure`. */
export async function fetchPage(
  text: string,
  { send, guard, permits }: FetchOptions,
  signal: AbortSignal,
): Promise<Fetched | Redirected> {
  let url = checkedUrl(text);
  const asked = url;
  for (let redirects = 0; ; redirects++) {
    const addresses = await guard.check(url.href, signal);
    const headers = { accept: ACCEPT, 'accept-language': 'en, *;q=0.5' };
    const answer = await send({ url, method: 'GET', headers, addresses }, signal);
    const to = targetOf(answer, url);
    if (to === undefined) return { kind: 'answer', url, answer };
    if (redirects === MAX_REDIRECTS)
      throw new ToolFailure(
        `${asked.href} was redirected more than ${MAX_REDIRECTS} times, at last to ${to.href}.`,
      );
    if (to.hostname !== asked.hostname && !(await mayFollow(asked, to, permits))) {
      // Where it may not go at all, the model should learn that and not be sent there.
      await guard.check(to.href, signal);
      return { kind: 'redirect', from: asked, to, status: answer.status };
    }
    if (url.protocol === 'https:' && to.protocol === 'http:')
      throw new ToolFailure(`${url.host} redirects to ${to.href}, which is not encrypted.`);
    url = to;
  }
}

/** False where a person would have to be asked. Rejects with `ToolFailure` where it is forbidden. */
export async function mayFollow(from: URL, to: URL, permits: ToolContext['permits']): Promise<boolean> {
  const { decision, reason } = await permits({ kind: 'network', url: to.href });
  if (decision === 'deny') throw new ToolFailure(`${from.href} redirects to ${to.href}. ${reason}`);
  return decision === 'allow';
}

function targetOf({ status, headers }: WebAnswer, url: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status)) return undefined;
  const { location } = headers;
  if (location === undefined || !URL.canParse(location, url.href))
    throw new ToolFailure(`${url.host} answered ${status} and did not say where to go.`);
  const target = checkedUrl(new URL(location, url.href).href);
  target.hash ||= url.hash;
  return target;
}
