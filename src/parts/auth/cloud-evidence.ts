// Whether there is a reason to look for a way into a cloud, by the environment and the files alone. It is asked of every
// start, so nothing is loaded here that only a way in needs.

import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { AuthScheme } from '../../core/credential.ts';
import { awsProfile } from './aws-files.ts';
import type { AwsKeys } from './aws-signature.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export const BEARER_TOKEN = 'AWS_BEARER_TOKEN_BEDROCK';
export const GOOGLE_FILE = 'GOOGLE_APPLICATION_CREDENTIALS';

export function hasAws(scheme: Extract<AuthScheme, { kind: 'aws' }>, env: Environment): boolean {
  if (isSet(env, BEARER_TOKEN) || environmentKeys(env) !== undefined) return true;
  if (scheme.profile !== undefined || isSet(env, 'AWS_PROFILE')) return true;
  if (isSet(env, 'AWS_WEB_IDENTITY_TOKEN_FILE') && isSet(env, 'AWS_ROLE_ARN')) return true;
  if (isSet(env, 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI')) return true;
  return isSet(env, 'AWS_CONTAINER_CREDENTIALS_FULL_URI') || awsProfile('default', env) !== undefined;
}

export function environmentKeys(env: Environment): AwsKeys | undefined {
  const accessKeyId = env['AWS_ACCESS_KEY_ID']?.trim();
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY']?.trim();
  const sessionToken = env['AWS_SESSION_TOKEN']?.trim();
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) };
}

export function hasGoogle(env: Environment): boolean {
  return isFile(googleFile(env).path);
}

export interface KeyFilePlace {
  readonly path: string;
  /** In words for a person. */
  readonly source: string;
  readonly isNamed: boolean;
}

/** Where Google's tools look (cloud.google.com/docs/authentication/application-default-credentials). */
export function googleFile(env: Environment): KeyFilePlace {
  const named = env[GOOGLE_FILE]?.trim();
  if (named) return { path: named, source: GOOGLE_FILE, isNamed: true };
  const appData = env['APPDATA'];
  const folder =
    env['CLOUDSDK_CONFIG'] ??
    (appData === undefined ? join(env['HOME'] ?? '', '.config', 'gcloud') : join(appData, 'gcloud'));
  const path = join(folder, 'application_default_credentials.json');
  return { path, source: 'the login of gcloud', isNamed: false };
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export function isSet(env: Environment, name: string): boolean {
  return (env[name]?.trim() ?? '') !== '';
}
