// What is asked of a token endpoint (RFC 6749 4.1.3 and 6, RFC 8628 3.4) and what it answers. How HTTP is spoken,
// through which proxy and with which certificates, is for whoever hands us `Send`.

import type { OAuthClient } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import { createSecrets } from '../../core/redact.ts';
import type { JsonObject } from '../../core/schema.ts';
import { maskShapes } from '../../core/secret-shapes.ts';
import type { StoredEntry } from './entry.ts';

export interface TokenRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface TokenAnswer {
  readonly status: number;
  /** The beginning of the body, as text. */
  readonly text: string;
}

/** Sends a POST and reads the answer, whatever its status. Rejects with `CrabError` (`network`, …). */
export type Send = (request: TokenRequest, signal: AbortSignal) => Promise<TokenAnswer>;

export interface TokenCall {
  readonly provider: string;
  readonly send: Send;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** An error that the endpoint names; `code` is its own word, such as `invalid_grant`. */
export class TokenError extends CrabError {
  readonly reason: string;

  constructor(reason: string, ...rest: ConstructorParameters<typeof CrabError>) {
    super(...rest);
    this.name = 'TokenError';
    this.reason = reason;
  }
}

const LIMIT_MS = 30_000;

/** Exchanges a code for what the client says it is worth. */
export async function exchangeCode(
  client: OAuthClient,
  code: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
  call: TokenCall,
): Promise<StoredEntry> {
  if (client.exchange === 'key') {
    const fields = { code: code.code, code_verifier: code.verifier, code_challenge_method: 'S256' };
    const answer = await ask(client.tokenUrl, JSON.stringify(fields), 'application/json', call);
    const { key } = answer;
    if (typeof key === 'string' && key !== '') return { type: 'api_key', key };
    throw foreign(call.provider, client.tokenUrl);
  }
  return tokens(client, call, {
    grant_type: 'authorization_code',
    client_id: client.clientId,
    code: code.code,
    code_verifier: code.verifier,
    redirect_uri: code.redirectUri,
  });
}

/** Tokens in place of the old ones; a refresh token that is not rotated stays good. */
export async function renewTokens(
  client: OAuthClient,
  old: Extract<StoredEntry, { type: 'oauth' }>,
  call: TokenCall,
): Promise<Extract<StoredEntry, { type: 'oauth' }>> {
  const { refresh = '' } = old;
  const fields = { grant_type: 'refresh_token', client_id: client.clientId, refresh_token: refresh };
  const { expires: _, ...kept } = old;
  return { ...kept, ...(await tokens(client, call, fields)) };
}

/** Asks a token endpoint for tokens. Throws `TokenError` for what it refuses. */
export async function tokens(
  client: OAuthClient,
  call: TokenCall,
  fields: Readonly<Record<string, string>>,
): Promise<Extract<StoredEntry, { type: 'oauth' }>> {
  const answer = await askForm(client.tokenUrl, fields, call);
  const { access_token: access, refresh_token: refresh, expires_in } = answer;
  if (typeof access !== 'string' || access === '') throw foreign(call.provider, client.tokenUrl);
  const seconds = Number(expires_in ?? Number.NaN);
  return {
    type: 'oauth',
    access,
    ...(typeof refresh === 'string' && refresh !== '' && { refresh }),
    ...(Number.isFinite(seconds) && { expires: Math.floor(call.now() + seconds * 1000) }),
  };
}

export function askForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  call: TokenCall,
): Promise<JsonObject> {
  return ask(url, new URLSearchParams(fields).toString(), 'application/x-www-form-urlencoded', call);
}

async function ask(url: string, body: string, type: string, call: TokenCall): Promise<JsonObject> {
  const headers = { 'content-type': type, accept: 'application/json' };
  const signal = AbortSignal.any([call.signal, AbortSignal.timeout(LIMIT_MS)]);
  let answer: TokenAnswer;
  try {
    answer = await call.send({ url, headers, body }, signal);
  } catch (thrown) {
    if (call.signal.aborted || !signal.aborted) throw thrown;
    const text = `${hostOf(url)} did not answer within ${LIMIT_MS / 1000} seconds.`;
    throw new CrabError('network', text, { cause: thrown, retryable: true });
  }
  const value = parse(answer.text);
  if (answer.status >= 200 && answer.status < 300 && value?.['error'] === undefined) {
    if (value === undefined) throw foreign(call.provider, url);
    return value;
  }
  throw complaint(call.provider, url, answer, body);
}

function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as JsonObject)
      : undefined;
  } catch {
    return undefined;
  }
}

/** What the endpoint says is wrong, without anything of what it was sent. */
function complaint(provider: string, url: string, { status, text }: TokenAnswer, sent: string): CrabError {
  const value = parse(text) ?? {};
  const named = value['error'];
  const reason =
    typeof named === 'string' ? named : String(Object(named)['code'] ?? Object(named)['type'] ?? '');
  const words = value['error_description'] ?? Object(named)['message'] ?? value['message'] ?? '';
  const said = [reason, words].filter((part) => typeof part === 'string' && part !== '').join(': ');
  const quoted = clean(said === '' ? text : said, sent);
  const message = `${hostOf(url)} answered ${status}${quoted === '' ? '' : `: ${quoted.replace(/\.$/, '')}`}.`;
  if (status === 408 || status === 429 || status >= 500)
    return new TokenError(reason, 'provider-failed', message, { status, retryable: true });
  // Without a reason of its own it is something on the way that answered, and says nothing about the login.
  if (reason === '') return new TokenError(reason, 'auth-failed', message, { status });
  const hint = `Log in again with \`crab auth login ${provider}\`.`;
  return new TokenError(reason, 'auth-refused', message, { status, hint });
}

function clean(text: string, sent: string): string {
  const secrets = createSecrets();
  const fields = sent.startsWith('{')
    ? Object.values(JSON.parse(sent))
    : [...new URLSearchParams(sent).values()];
  secrets.add(fields.filter((value) => typeof value === 'string' && value.length >= 16) as string[]);
  return maskShapes(secrets.redact(text))
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\s]+/gu, ' ')
    .trim()
    .slice(0, 300)
    .toWellFormed();
}

function foreign(provider: string, url: string): CrabError {
  return new CrabError('provider-protocol', `${hostOf(url)} did not answer as a token endpoint does.`, {
    hint: `Check the addresses of the OAuth client of ${provider}.`,
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : 'The token endpoint';
}
