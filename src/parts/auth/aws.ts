// Ways into AWS: a bearer token of Bedrock's, keys from the environment, and whatever AWS's own library finds: profiles,
// single sign-on, processes, web identities, containers, instance metadata. The library is loaded for those alone.

import type { AuthScheme, Credential } from '../../core/credential.ts';
import { CrabError, messageOf } from '../../core/errors.ts';
import { awsProfile } from './aws-files.ts';
import { type AwsKeys, signedHeaders } from './aws-signature.ts';
import { BEARER_TOKEN, environmentKeys, hasAws, isSet } from './cloud-evidence.ts';
import { keyCredential } from './key-credential.ts';
import { createRenewed, type Renewed } from './renewed.ts';

type AwsScheme = Extract<AuthScheme, { kind: 'aws' }>;
type Environment = Readonly<Record<string, string | undefined>>;

export interface AwsOptions {
  readonly env: Environment;
  /** Keys that a person stored with Crab: they come behind the environment and before AWS's files. */
  readonly stored?: () => Promise<AwsKeys | undefined>;
  readonly now?: () => number;
}

/** Longer than the library waits for single sign-on or for instance metadata that is not there. */
const CHAIN_MS = 30_000;

/** Undefined when there is none. Throws `auth-refused` for one that is there and cannot be used. */
export async function findAws(scheme: AwsScheme, options: AwsOptions): Promise<Credential | undefined> {
  const { env, now = Date.now } = options;
  const region = regionOf(scheme, env);
  const place = region === undefined ? {} : { place: { region } };
  const token = env[BEARER_TOKEN];
  if (token !== undefined && token.trim() !== '')
    return { ...keyCredential({ source: BEARER_TOKEN, style: 'bearer', value: token }), ...place };
  const found = await findKeys(scheme, options, now);
  if (found === undefined) return undefined;
  return { ...signing(scheme, found, { region, now }), ...place };
}

function regionOf(scheme: AwsScheme, env: Environment): string | undefined {
  const named = scheme.region ?? (env['AWS_REGION']?.trim() || env['AWS_DEFAULT_REGION']?.trim());
  return named || awsProfile(profileOf(scheme, env), env)?.['region'];
}

function profileOf(scheme: AwsScheme, env: Environment): string {
  return scheme.profile ?? (env['AWS_PROFILE']?.trim() || 'default');
}

interface Found {
  readonly source: string;
  readonly keys: Renewed<AwsKeys>;
  readonly isRenewable: boolean;
}

/** A profile that somebody named for Crab wins over keys that happen to be in the environment, as with AWS's tools. */
async function findKeys(
  scheme: AwsScheme,
  { env, stored }: AwsOptions,
  now: () => number,
): Promise<Found | undefined> {
  const fixed = scheme.profile === undefined ? environmentKeys(env) : undefined;
  if (fixed !== undefined) return known('AWS_ACCESS_KEY_ID', fixed, now);
  const kept = scheme.profile === undefined ? await stored?.() : undefined;
  if (kept !== undefined) return known('the stored AWS keys', kept, now);
  const keys = createRenewed(() => chainKeys(scheme, env), now);
  try {
    await keys.get();
  } catch (thrown) {
    if (!hasAws(scheme, env)) return undefined;
    throw thrown;
  }
  return { source: sourceOf(scheme, env), keys, isRenewable: true };
}

async function known(source: string, given: AwsKeys, now: () => number): Promise<Found> {
  const keys = createRenewed(async () => given, now);
  await keys.get();
  return { source, keys, isRenewable: false };
}

function sourceOf(scheme: AwsScheme, env: Environment): string {
  if (scheme.profile !== undefined || isSet(env, 'AWS_PROFILE'))
    return `AWS profile ${profileOf(scheme, env)}`;
  if (isSet(env, 'AWS_WEB_IDENTITY_TOKEN_FILE')) return `the AWS role ${env['AWS_ROLE_ARN']}`;
  return awsProfile('default', env) === undefined ? 'AWS instance metadata' : 'AWS profile default';
}

async function chainKeys(scheme: AwsScheme, env: Environment): Promise<AwsKeys> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came within ${CHAIN_MS / 1000} seconds`)), CHAIN_MS);
  });
  try {
    // A new one each time, since it keeps what it once found; files may have been renewed by AWS's own tools.
    const profile = scheme.profile && { profile: scheme.profile };
    const provider = defaultProvider({ ignoreCache: true, ...profile });
    const { accessKeyId, secretAccessKey, sessionToken, expiration } = await Promise.race([provider(), late]);
    return {
      accessKeyId,
      secretAccessKey,
      ...(sessionToken && { sessionToken }),
      ...(expiration && { expiresAt: expiration.getTime() }),
    };
  } catch (cause) {
    const why = messageOf(cause).split('\n')[0];
    throw new CrabError('auth-refused', `No keys came from ${sourceOf(scheme, env)}: ${why}`, {
      cause,
      hint: 'Check the profile; a session of single sign-on is renewed by `aws sso login`.',
    });
  } finally {
    clearTimeout(timer);
  }
}

function signing(
  { service }: AwsScheme,
  { source, keys, isRenewable }: Found,
  { region, now }: { readonly region: string | undefined; readonly now: () => number },
): Credential {
  return {
    source,
    headers(request) {
      if (region === undefined)
        throw new CrabError('usage', 'A request to AWS is signed for a region, and none is known.', {
          hint: 'Set AWS_REGION.',
        });
      const sign = (with_: AwsKeys) => signedHeaders(request, with_, { region, service, now: now() });
      const current = keys.get();
      return current instanceof Promise ? current.then(sign) : sign(current);
    },
    secrets() {
      const { secretAccessKey, sessionToken } = keys.last ?? {};
      return [secretAccessKey, sessionToken].filter((secret) => secret !== undefined);
    },
    async refused() {
      if (!isRenewable) return false;
      const before = keys.last;
      const after = await keys.renew();
      return after.accessKeyId !== before?.accessKeyId || after.sessionToken !== before.sessionToken;
    },
  };
}
