// Ways into Google Cloud: a service account's key file, which needs no library, and whatever Google's own library makes of
// the rest: workload identity federation, a person's login with gcloud, the metadata server. It is loaded for those alone.

import { readFileSync } from 'node:fs';
import type { AuthScheme, Credential } from '../../core/credential.ts';
import { CrabError, errnoOf, messageOf } from '../../core/errors.ts';
import { GOOGLE_FILE, googleFile } from './cloud-evidence.ts';
import { type AccessToken, isServiceAccount, serviceAccountToken } from './google-token.ts';
import { createRenewed } from './renewed.ts';

type GoogleScheme = Extract<AuthScheme, { kind: 'google' }>;
type Environment = Readonly<Record<string, string | undefined>>;

export interface GoogleOptions {
  readonly env: Environment;
  readonly now?: () => number;
}

/** Longer than the library waits for a metadata server that is not there. */
const LIBRARY_MS = 30_000;
/** What the library assumes of a token that does not say. */
const LIFETIME_MS = 3_600_000;

/** Undefined when there is none. Throws `auth-refused` for one that is there and cannot be used. */
export async function findGoogle(
  { scopes }: GoogleScheme,
  { env, now = Date.now }: GoogleOptions,
): Promise<Credential | undefined> {
  const { path, source, isNamed } = googleFile(env);
  const file = readKeyFile(path, isNamed);
  const keyFile = file !== undefined && isServiceAccount(file) ? file : undefined;
  const fetch =
    keyFile === undefined
      ? await libraryTokens(scopes, now)
      : () => serviceAccountToken(keyFile, scopes, { now, env });
  const tokens = createRenewed(fetch, now);
  try {
    await tokens.get();
  } catch (thrown) {
    if (file === undefined) return undefined;
    throw refusal(source, thrown);
  }
  const payer = file?.['quota_project_id'];
  const project = file?.['project_id'] ?? payer;
  const bearer = ({ token }: AccessToken): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${token}`,
    // A person's login belongs to no project: this one is charged.
    ...(typeof payer === 'string' && { 'x-goog-user-project': payer }),
  });
  return {
    source: file === undefined ? 'the metadata server' : source,
    ...(typeof project === 'string' && { place: { project } }),
    headers() {
      const token = tokens.get();
      return token instanceof Promise ? token.then(bearer) : bearer(token);
    },
    secrets: () => (tokens.last === undefined ? [] : [tokens.last.token]),
    async refused(status) {
      // What an account may not do, a new token of its may not do either.
      if (status !== 401) return false;
      const before = tokens.last?.token;
      return (await tokens.renew()).token !== before;
    },
  };
}

type KeyFile = Readonly<Record<string, unknown>>;

/** A file that somebody named must be there. */
function readKeyFile(path: string, isNamed: boolean): KeyFile | undefined {
  const hint = `Set ${GOOGLE_FILE} to a key file in JSON.`;
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    if (!isNamed && errnoOf(cause) === 'ENOENT') return undefined;
    throw new CrabError('auth-refused', `${path} cannot be read: ${messageOf(cause)}`, { cause, hint });
  }
  try {
    const file: unknown = JSON.parse(text);
    if (typeof file === 'object' && file !== null) return file as KeyFile;
  } catch {
    // The parser's message would quote the file.
  }
  throw new CrabError('auth-refused', `${path} is not a key file of Google Cloud in JSON.`, { hint });
}

/** What gets a token by Google's library, which looks for the same file, and asks the metadata server without one. */
async function libraryTokens(
  scopes: readonly string[],
  now: () => number,
): Promise<() => Promise<AccessToken>> {
  const { GoogleAuth } = await import('google-auth-library');
  return async () => {
    // A new one each time: it keeps what it once found.
    const auth = new GoogleAuth({ scopes: [...scopes] });
    const client = await within(auth.getClient());
    const { token } = await within(client.getAccessToken());
    if (!token) throw new Error('no token came');
    return { token, expiresAt: client.credentials.expiry_date ?? now() + LIFETIME_MS };
  };
}

async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const text = `nothing came within ${LIBRARY_MS / 1000} seconds`;
    timer = setTimeout(() => reject(new Error(text)), LIBRARY_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function refusal(source: string, thrown: unknown): CrabError {
  if (thrown instanceof CrabError) return thrown;
  const why = messageOf(thrown).split('\n')[0];
  return new CrabError('auth-refused', `No token came for ${source}: ${why}`, {
    cause: thrown,
    hint: 'Check the account; a login of one’s own is renewed by `gcloud auth application-default login`.',
  });
}
