// An access token for a service account: a JWT signed with the account's key, exchanged at its token address
// (RFC 7523; developers.google.com/identity/protocols/oauth2/service-account#httprest).

import { createSign } from 'node:crypto';
import { request as plainRequest } from 'node:http';
import { Agent, request as secureRequest } from 'node:https';
import { CrabError, messageOf } from '../../core/errors.ts';

export interface AccessToken {
  readonly token: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

interface ServiceAccount {
  readonly client_email: string;
  readonly private_key: string;
  readonly private_key_id?: string;
  readonly token_uri?: string;
}

export interface TokenOptions {
  readonly now: () => number;
  /** Where a proxy may be named. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

const TOKEN_URI = 'https://oauth2.googleapis.com/token';
/** The longest that Google grants. */
const LIFETIME_SECONDS = 3600;
const TIMEOUT_MS = 15_000;
const ANSWER_BYTES = 64 * 1024;

export function isServiceAccount(file: object): file is ServiceAccount {
  const { type, client_email, private_key } = file as Readonly<Record<string, unknown>>;
  return type === 'service_account' && typeof client_email === 'string' && typeof private_key === 'string';
}

/** Rejects with `auth-refused` when the account is refused, else with `provider-failed` or `network`. */
export async function serviceAccountToken(
  account: ServiceAccount,
  scopes: readonly string[],
  { now, env }: TokenOptions,
): Promise<AccessToken> {
  const uri = account.token_uri ?? TOKEN_URI;
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: assertion(account, { scopes, uri, seconds: Math.floor(now() / 1000) }),
  });
  const answer = await post(new URL(uri), form.toString(), env);
  const { access_token: token, expires_in: seconds } = answer.body;
  if (answer.status !== 200 || typeof token !== 'string') throw refusal(account, answer);
  return { token, expiresAt: now() + (typeof seconds === 'number' ? seconds : LIFETIME_SECONDS) * 1000 };
}

function assertion(
  account: ServiceAccount,
  {
    scopes,
    uri,
    seconds,
  }: { readonly scopes: readonly string[]; readonly uri: string; readonly seconds: number },
): string {
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = { alg: 'RS256', typ: 'JWT', kid: account.private_key_id };
  const claims = {
    iss: account.client_email,
    scope: scopes.join(' '),
    aud: uri,
    iat: seconds,
    exp: seconds + LIFETIME_SECONDS,
  };
  const text = `${encoded(head)}.${encoded(claims)}`;
  try {
    return `${text}.${createSign('RSA-SHA256').update(text).sign(account.private_key, 'base64url')}`;
  } catch {
    // What the key's parser says of it belongs to nobody's eyes.
    throw new CrabError(
      'auth-refused',
      `The private key of ${account.client_email} cannot be used to sign.`,
      {
        hint: 'Make a new key for the account and name its file in GOOGLE_APPLICATION_CREDENTIALS.',
      },
    );
  }
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function refusal({ client_email }: ServiceAccount, { status, body }: Answer): CrabError {
  const words = [body['error'], body['error_description']].filter((part) => typeof part === 'string');
  const why = words.length === 0 ? '' : `: ${words.join(', ').slice(0, 300).replace(/\.$/, '')}`;
  const isDown = status >= 500;
  const text = `No token came for ${client_email} (status ${status})${why}.`;
  return new CrabError(isDown ? 'provider-failed' : 'auth-refused', text, { status, retryable: isDown });
}

function post(url: URL, form: string, env: TokenOptions['env']): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': Buffer.byteLength(form),
    };
    const options = { method: 'POST', headers, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const request =
      url.protocol === 'https:'
        ? secureRequest(url, { ...options, agent: new Agent({ proxyEnv: { ...env } }) })
        : plainRequest(url, options);
    const fail = (cause: Error) =>
      reject(
        new CrabError('network', `${url.host} gave no token: ${messageOf(cause)}`, {
          cause,
          retryable: true,
        }),
      );
    request.on('error', fail);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('error', fail);
      response.on('data', (piece: string) => {
        text += piece;
        if (text.length > ANSWER_BYTES) request.destroy(new Error('the answer is too long'));
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: objectIn(text) }));
    });
    request.end(form);
  });
}

function objectIn(text: string): Answer['body'] {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Answer['body']) : {};
  } catch {
    return {};
  }
}
