// A login with a browser: the authorization code flow with PKCE (RFC 6749 4.1, RFC 7636) for a program without a secret
// of its own (RFC 8252). The address is always shown. Where the browser is on another machine, what it ends at is
// pasted here; both ways are open then, since a forwarded port works as well.

import { createHash, randomBytes } from 'node:crypto';
import type { OAuthClient } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { Clock } from '../../core/host.ts';
import type { StoredEntry } from './entry.ts';
import { type Loopback, type Returned, startLoopback } from './loopback.ts';
import { exchangeCode, type Send } from './token-endpoint.ts';

export interface LoginOptions {
  readonly provider: string;
  readonly client: OAuthClient;
  /** In place of those that the client asks for. */
  readonly scopes?: readonly string[];
  readonly clock: Clock;
  readonly send: Send;
  readonly signal: AbortSignal;
  /** Tells the person something; ends with a line end. */
  show(text: string): Promise<void>;
  /** Opens a browser on this machine; absent where there is none. */
  readonly openBrowser?: (url: string) => void;
  /** A line that the person pasted; undefined when there are no more. Absent where nothing can be pasted. */
  readonly readLine?: () => Promise<string | undefined>;
  /** Milliseconds for all of it. */
  readonly limitMs?: number;
}

/** Time to find a password, a second factor, and a colleague who knows. */
export const LOGIN_LIMIT_MS = 5 * 60_000;

interface Attempt {
  readonly verifier: string;
  readonly state: string;
  readonly redirectUri: string;
}

/** Throws `auth-refused`, `auth-failed`. */
export async function oauthLogin(options: LoginOptions): Promise<StoredEntry> {
  const { client, provider, clock, send, signal, show, openBrowser, readLine } = options;
  const [verifier, state] = [secret(), secret()];
  const pastes = readLine !== undefined && client.pasteUrl !== undefined;
  const loopback = pastes ? undefined : await openLoopback(client, state, readLine !== undefined);
  const attempt = {
    verifier,
    state,
    redirectUri: loopback?.redirectUri ?? client.pasteUrl ?? unheard(client, state),
  };
  const over = new AbortController();
  const onAbort = () => over.abort(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const url = authorizeUrl(options, attempt);
    await show(`Open this address to log in to ${provider}:\n\n  ${url}\n\n`);
    openBrowser?.(url);
    const returned = await Promise.race([
      ...(loopback === undefined ? [] : [loopback.returned]),
      ...(readLine === undefined ? [] : [pasted(readLine, attempt, show)]),
      limit(options.limitMs ?? LOGIN_LIMIT_MS, clock, over.signal),
    ]);
    if ('error' in returned) throw refusal(provider, returned);
    const call = { provider, send, now: clock.now, signal };
    return await exchangeCode(client, { code: returned.code, ...attempt }, call);
  } finally {
    signal.removeEventListener('abort', onAbort);
    over.abort(new Error('The login is over.'));
    loopback?.close();
  }
}

/** 256 bits as 43 letters, which is what RFC 7636 asks of a verifier. */
function secret(): string {
  return randomBytes(32).toString('base64url');
}

/** Where a key is handed out there is no `state`, so the path of the address is what nobody can guess. */
function loopbackPath({ path = '/callback', exchange }: OAuthClient, state: string): string {
  return exchange === 'key' ? `${path}/${state}` : path;
}

async function openLoopback(
  client: OAuthClient,
  state: string,
  canPaste: boolean,
): Promise<Loopback | undefined> {
  const { port } = client;
  const path = loopbackPath(client, state);
  const accept = (parameters: URLSearchParams) =>
    readAnswer(parameters, client.exchange === 'key' ? undefined : state);
  try {
    return await startLoopback({ port, path, accept });
  } catch (thrown) {
    // The person pastes the address in any case; that nothing listens there is no harm.
    if (canPaste && port !== undefined) return undefined;
    throw thrown;
  }
}

/** The registered address, where nobody of ours listens. */
function unheard(client: OAuthClient, state: string): string {
  return `http://localhost:${client.port}${loopbackPath(client, state)}`;
}

/** Undefined when it does not belong to this login. */
function readAnswer(parameters: URLSearchParams, state: string | undefined): Returned | undefined {
  if (state !== undefined && parameters.get('state') !== state) return undefined;
  const error = parameters.get('error');
  if (error !== null) return { error, description: parameters.get('error_description') ?? undefined };
  const code = parameters.get('code');
  return code === null || code === '' ? undefined : { code };
}

export function authorizeUrl(
  { client, scopes }: LoginOptions,
  { verifier, state, redirectUri }: Attempt,
): string {
  const url = new URL(client.authorizeUrl);
  const challenge = createHash('sha256').update(verifier).digest('base64url');
  const asked: Record<string, string> =
    client.exchange === 'key'
      ? { callback_url: redirectUri }
      : { response_type: 'code', client_id: client.clientId, redirect_uri: redirectUri, state };
  const wanted = (scopes ?? client.scopes).join(' ');
  if (wanted !== '') asked['scope'] = wanted;
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' };
  for (const [name, value] of Object.entries({ ...asked, ...pkce, ...client.parameters }))
    url.searchParams.set(name, value);
  return url.href;
}

async function pasted(
  readLine: () => Promise<string | undefined>,
  attempt: Attempt,
  show: (text: string) => Promise<void>,
): Promise<Returned> {
  await show('Then paste here what it ends with: the code, or the whole address that the browser shows.\n');
  for (;;) {
    const line = await readLine();
    // Nothing more can be pasted; the browser may still come back by itself.
    if (line === undefined) return new Promise(() => {});
    if (line.trim() === '') continue;
    const returned = readPasted(line.trim(), attempt);
    if (returned !== undefined) return returned;
    await show(
      'That does not belong to this login. Paste the code with its `#` part, or the whole address.\n',
    );
  }
}

/** `code#state`, or the address that the browser was sent to. */
export function readPasted(text: string, { state, redirectUri }: Attempt): Returned | undefined {
  if (!URL.canParse(text)) {
    const [code = '', given, ...more] = text.split('#');
    return code !== '' && given === state && more.length === 0 ? { code } : undefined;
  }
  const url = new URL(text);
  const expected = new URL(redirectUri);
  const inPath = url.pathname === expected.pathname && url.pathname.endsWith(`/${state}`);
  return readAnswer(url.searchParams, inPath ? undefined : state);
}

async function limit(ms: number, clock: Clock, signal: AbortSignal): Promise<never> {
  await clock.sleep(ms, signal);
  throw new CrabError(
    'auth-failed',
    `Nobody came back from the browser within ${Math.round(ms / 60_000)} minutes.`,
    {
      hint: 'Start the login again.',
    },
  );
}

function refusal(provider: string, { error, description }: Extract<Returned, { error: string }>): CrabError {
  const words = [error, description]
    .filter((part) => part !== undefined)
    .join(': ')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .slice(0, 300);
  return new CrabError('auth-refused', `${provider} did not allow the login (${words.toWellFormed()}).`, {
    hint: `Start again with \`crab auth login ${provider}\`.`,
  });
}
