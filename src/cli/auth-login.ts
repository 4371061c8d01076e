// One login at the front door: where the secret comes from (a pipe, a hidden line, a browser, another device), and in
// plain words what keeping it where it is kept protects it from.

import { createInterface } from 'node:readline';
import type { Account, AuthScheme } from '../core/credential.ts';
import { CrabError } from '../core/errors.ts';
import { hasBrowser, openBrowser } from '../parts/auth/browser.ts';
import type { CredentialHost } from '../parts/auth/credentials.ts';
import { deviceLogin } from '../parts/auth/device-login.ts';
import type { Place, StoredEntry } from '../parts/auth/entry.ts';
import { authFolder, authPath } from '../parts/auth/index-file.ts';
import { keyCredential } from '../parts/auth/key-credential.ts';
import { KeychainError } from '../parts/auth/keychain.ts';
import { oauthLogin } from '../parts/auth/oauth-login.ts';
import { openStore } from '../parts/auth/open-store.ts';
import type { Store } from '../parts/auth/store.ts';
import type { Environment } from './home.ts';
import { readAll } from './piped-input.ts';
import { typedSecret } from './typed-secret.ts';

export interface LogIn {
  readonly env: Environment;
  readonly host: CredentialHost;
  readonly signal: AbortSignal;
  /** Absent: what fits the provider and the terminal. */
  readonly kind?: 'key' | 'oauth';
  readonly scopes?: readonly string[];
  /** Absent: the keychain, or the file where there is none. */
  readonly place?: Place;
  /** Whether a browser may be opened. */
  readonly browser: boolean;
}

type KeyScheme = Extract<AuthScheme, { kind: 'key' }>;

/** Throws `CrabError`. */
export async function logIn({ provider, scheme }: Account, options: LogIn): Promise<void> {
  if (scheme.kind !== 'key')
    throw new CrabError('usage', `${provider} has no key of its own to store.`, {
      hint: 'Its credentials are those of the cloud that it belongs to; see the guide on authentication.',
    });
  const { host, place, kind = usualKind(scheme) } = options;
  const entry =
    kind === 'key' ? await readKey(provider, scheme, options) : await browse(provider, scheme, options);
  const store = openStore(host);
  const written = await store.locked(() => writeFirst(provider, entry, place, store));
  process.stdout.write(report(provider, entry, written, host.home));
}

/** A pipe brings a key; whoever sits at a terminal is better served by a login, where there is one. */
function usualKind({ oauth }: KeyScheme): 'key' | 'oauth' {
  return oauth !== undefined && process.stdin.isTTY ? 'oauth' : 'key';
}

async function readKey(provider: string, { style }: KeyScheme, { signal }: LogIn): Promise<StoredEntry> {
  const text = process.stdin.isTTY
    ? await typedSecret(`Key for ${provider} (it is not shown): `, signal)
    : (await readAll(process.stdin, false)).text;
  if (text.trim() === '')
    throw new CrabError('input-empty', 'No key was given.', { hint: 'Send it on standard input.' });
  // Says what is wrong with what no key looks like.
  const [key = ''] = keyCredential({ source: 'standard input', style, value: text }).secrets();
  return { type: 'api_key', key };
}

async function browse(provider: string, { oauth: client }: KeyScheme, options: LogIn): Promise<StoredEntry> {
  if (client === undefined)
    throw new CrabError('usage', `${provider} has no login with a browser.`, {
      hint: `Give a key: \`crab auth login ${provider} --key\`.`,
    });
  const { env, host, signal, scopes } = options;
  const { clock, send, exec, platform, cwd } = host;
  const isLocal = options.browser && hasBrowser(env, platform);
  const show = async (text: string) => void process.stderr.write(text);
  const open = (url: string) => openBrowser(url, exec, platform, cwd);
  const common = { provider, client, clock, send, signal, show, ...(scopes !== undefined && { scopes }) };
  if (isLocal) return oauthLogin({ ...common, openBrowser: open });
  if (client.deviceUrl !== undefined) return deviceLogin({ ...common, deviceUrl: client.deviceUrl });
  const lines = createInterface({ input: process.stdin, historySize: 0 });
  const queue = lines[Symbol.asyncIterator]();
  const readLine = async () => {
    const { value, done } = await queue.next();
    return done === true ? undefined : String(value);
  };
  try {
    return await oauthLogin({ ...common, readLine });
  } finally {
    lines.close();
  }
}

interface Written {
  readonly place: Place;
  /** Why it is not in the keychain, where that was tried. */
  readonly instead?: string;
}

/** A new login goes to the keychain where there is one, wherever the one before it was. */
async function writeFirst(
  provider: string,
  entry: StoredEntry,
  place: Place | undefined,
  store: Store,
): Promise<Written> {
  if (place !== undefined) return { place: await store.write(provider, entry, place) };
  try {
    return { place: await store.write(provider, entry, 'keychain') };
  } catch (thrown) {
    if (!(thrown instanceof KeychainError)) throw thrown;
    return { place: await store.write(provider, entry, 'file'), instead: thrown.message };
  }
}

function report(provider: string, entry: StoredEntry, { place, instead }: Written, home: string): string {
  const what = entry.type === 'api_key' ? 'The key' : 'The login';
  const path = authPath(authFolder(home));
  if (place === 'keychain')
    return `${what} of ${provider} is stored: sealed in ${path}, with the key to it in the keychain.\n`;
  return [
    instead === undefined ? '' : `No keychain could be used. ${instead}\n`,
    `${what} of ${provider} is stored: sealed in ${path}, with the key to it in a file beside it.\n`,
    'Both can be read by you alone. That keeps it from other users of this machine, and from whoever sees one of\n',
    'the two files; it does not keep it from programs that run as you, nor from whoever has the whole folder.\n',
  ].join('');
}
