// Who a client is, by the token that it shows: the owner's own from a file, or a JSON Web Token (RFC 7519). The algorithm
// is the key's and never the token's choice: a public key that is taken for a shared secret is the classic forgery.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { CrabError, messageOf } from '../../core/errors.ts';
import { type Grant, OWNER } from './grant.ts';

export const AUDIENCE = 'crab';

/** Seconds that two clocks may differ by. */
const CLOCK_SKEW = 30;
/** Bytes: below it a secret is guessed before the token runs out (RFC 7518, 3.2). */
const MIN_SECRET = 32;
const MAX_TOKEN = 16 * 1024;
const MAX_KEY_FILE = 64 * 1024;
const MAX_NAME = 128;

export type Algorithm = 'HS256' | 'EdDSA' | 'RS256';

export interface TokenKey {
  readonly algorithm: Algorithm;
  readonly key: KeyObject;
}

export interface CredentialOptions {
  /** The owner's token; absent where only signed ones are taken. */
  readonly token?: string | undefined;
  readonly keys: readonly TokenKey[];
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Undefined for a token that is not good, whatever is wrong with it. */
export type Authenticate = (token: string) => Promise<Grant | undefined>;

export function createAuthenticate({ token: own, keys, now }: CredentialOptions): Authenticate {
  const verified = async (token: string, { key, algorithm }: TokenKey): Promise<Grant | undefined> => {
    const { jwtVerify } = await import('jose');
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [algorithm],
        audience: AUDIENCE,
        clockTolerance: CLOCK_SKEW,
        currentDate: new Date(now()),
        requiredClaims: ['exp', 'sub', 'aud'],
      });
      return grantOf(payload);
    } catch {
      return undefined;
    }
  };
  return async (token) => {
    if (token.length > MAX_TOKEN) return undefined;
    if (own !== undefined && isSame(token, own)) return OWNER;
    for (const key of keys) {
      const grant = await verified(token, key);
      if (grant !== undefined) return grant;
    }
    return undefined;
  };
}

/** Takes as long for a token that is nearly right as for any other. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

/** A token that says nothing of what it is for is for nothing. */
function grantOf(claims: Readonly<Record<string, unknown>>): Grant | undefined {
  const { sub: name, exp, agents, methods, scope } = claims;
  if (typeof name !== 'string' || !/^[\w.@-]+$/.test(name) || name.length > MAX_NAME) return undefined;
  if (typeof exp !== 'number') return undefined;
  const isOwner = typeof scope === 'string' && scope.split(' ').includes('all');
  if (agents === undefined ? !isOwner : !isNames(agents)) return undefined;
  if (methods !== undefined && !isNames(methods)) return undefined;
  return {
    name,
    expiresAt: exp + CLOCK_SKEW,
    ...(isNames(agents) && { agents }),
    ...(isNames(methods) && { methods }),
  };
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

export interface TokenRequest {
  readonly name: string;
  /** Absent: everything is allowed. */
  readonly agents?: readonly string[];
  readonly methods?: readonly string[];
  /** Seconds from now. */
  readonly lifetime: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A new token. `key` is the shared secret or the private key. */
export async function signToken({ key, algorithm }: TokenKey, request: TokenRequest): Promise<string> {
  const { SignJWT } = await import('jose');
  const { name, agents, methods, lifetime } = request;
  const at = Math.floor(request.now / 1000);
  const claims = { ...(agents === undefined ? { scope: 'all' } : { agents }), ...(methods && { methods }) };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: 'JWT' })
    .setSubject(name)
    .setAudience(AUDIENCE)
    .setIssuedAt(at)
    .setNotBefore(at)
    .setExpirationTime(at + lifetime)
    .sign(key);
}

/** The key to check tokens with: of a private key the public half. Throws `CrabError` (`settings-invalid`). */
export function verifyingKey(path: string): TokenKey {
  const { key, algorithm } = signingKey(path);
  return { algorithm, key: key.type === 'private' ? createPublicKey(key) : key };
}

/**
 * A PEM file with a key of Ed25519 or RSA, or a secret of at least 32 bytes. What is secret in it may be readable by its
 * owner alone. Throws `CrabError` (`settings-invalid`).
 */
export function signingKey(path: string): TokenKey {
  const text = readKeyFile(path);
  const isPem = text.includes('-----BEGIN ');
  if (!isPem || text.includes('PRIVATE KEY')) checkPrivate(path);
  if (!isPem) return { algorithm: 'HS256', key: secretKey(path, text.trim()) };
  const key = pemKey(path, text);
  if (key.asymmetricKeyType === 'ed25519') return { algorithm: 'EdDSA', key };
  if (key.asymmetricKeyType === 'rsa') return { algorithm: 'RS256', key };
  throw invalid(`${path} holds a key of ${key.asymmetricKeyType}; tokens are signed with Ed25519 or RSA.`);
}

function secretKey(path: string, secret: string): KeyObject {
  const bytes = Buffer.from(secret);
  if (bytes.length >= MIN_SECRET) return createSecretKey(bytes);
  throw invalid(`The secret in ${path} has ${bytes.length} bytes; at least ${MIN_SECRET} are needed.`);
}

function pemKey(path: string, text: string): KeyObject {
  try {
    return text.includes('PRIVATE KEY') ? createPrivateKey(text) : createPublicKey(text);
  } catch (cause) {
    throw invalid(`${path} holds no key that can be read: ${messageOf(cause)}.`);
  }
}

/** Makes a file with a secret for signed tokens. Throws `CrabError` (`settings-invalid`), also where there is one. */
export function newSecret(path: string): void {
  try {
    writeFileSync(path, `${randomBytes(MIN_SECRET).toString('hex')}\n`, { mode: 0o600, flag: 'wx' });
  } catch (cause) {
    throw invalid(`${path} cannot be made: ${messageOf(cause)}.`);
  }
}

/** The owner's token. Throws `CrabError` (`settings-invalid`). */
export function tokenFile(path: string): string {
  const token = readKeyFile(path).trim();
  checkPrivate(path);
  if (token.length >= MIN_SECRET && !/\s/.test(token)) return token;
  throw invalid(`The token in ${path} needs at least ${MIN_SECRET} characters and no blanks.`);
}

function readKeyFile(path: string): string {
  try {
    const { size } = statSync(path);
    if (size > MAX_KEY_FILE) throw new Error(`it has ${size} bytes`);
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw invalid(`${path} cannot be read: ${messageOf(cause)}.`);
  }
}

function checkPrivate(path: string): void {
  if (process.platform === 'win32' || (statSync(path).mode & 0o077) === 0) return;
  throw invalid(`${path} can be read by other users.`, `Run \`chmod 600 ${path}\`, and consider it known.`);
}

function invalid(message: string, hint?: string): CrabError {
  return new CrabError('settings-invalid', message, hint === undefined ? {} : { hint });
}
