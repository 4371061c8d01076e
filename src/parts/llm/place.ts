// Where in a cloud an account is: the region and the project that stand in its provider's address. They come from a
// settings file, the environment, or the files that the credential came from, in this order.

import type { Credential } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { ProviderSettings } from '../../core/settings.ts';
import type { PlacePart, ProviderRow } from './provider-row.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** A row with what a settings file says of the account. */
export function placedRow(row: ProviderRow, settings: ProviderSettings | undefined): ProviderRow {
  if (row.place === undefined || settings === undefined) return row;
  const { region, profile } = settings;
  const place = row.place.map((part) => {
    const value = settings[part.name];
    return value === undefined ? part : { ...part, value };
  });
  const isAws = row.auth.kind === 'aws';
  const auth = isAws ? { ...row.auth, ...(region && { region }), ...(profile && { profile }) } : row.auth;
  return { ...row, place, auth };
}

/** The row's own address. Throws `usage` when a part of it is missing or cannot be one. */
export function placedUrl(row: ProviderRow, env: Environment, credential: Credential | undefined): URL {
  const region = row.place?.find(({ name }) => name === 'region');
  const where = region && row.regions && partOf(row, region, env, credential);
  const special = row.regions?.find(({ ids }) => ids.test(where ?? ''));
  return new URL(filled(special?.baseUrl ?? row.baseUrl, row, env, credential));
}

/** What stands behind a base URL to name the account. Throws as `placedUrl`. */
export function accountPath(row: ProviderRow, env: Environment, credential: Credential | undefined): string {
  return filled(row.accountPath ?? '', row, env, credential);
}

function filled(
  template: string,
  row: ProviderRow,
  env: Environment,
  credential: Credential | undefined,
): string {
  let text = template;
  for (const part of row.place ?? []) {
    const blank = `{${part.name}}`;
    if (text.includes(blank)) text = text.replaceAll(blank, partOf(row, part, env, credential));
  }
  return text;
}

/** Nothing that could change the host or the path. A project may belong to a domain: `example.com:name`. */
const SHAPES: Readonly<Record<PlacePart['name'], RegExp>> = {
  region: /^[a-z\d]+(?:-[a-z\d]+)*$/,
  project: /^[a-z\d](?:[a-z\d:.-]*[a-z\d])?$/,
  resource: /^[a-z\d](?:[a-z\d-]*[a-z\d])?$/i,
};

function partOf(
  row: ProviderRow,
  { name, value, variables, fallback }: PlacePart,
  env: Environment,
  credential: Credential | undefined,
): string {
  const variable = variables.find((one) => env[one]?.trim());
  const found =
    value ??
    (variable === undefined ? undefined : env[variable]?.trim()) ??
    credential?.place?.[name] ??
    fallback;
  const hint = `Set ${variables.join(' or ')}, or ${name} in [providers.${row.name}] of the settings file.`;
  if (found === undefined) {
    throw new CrabError('usage', `No ${name} is known for ${row.name}: ${none(variables)} is set.`, { hint });
  }
  if (SHAPES[name].test(found)) return found;
  const from =
    value !== undefined ? `The ${name} of ${row.name} in the settings file` : (variable ?? `The ${name}`);
  throw new CrabError('usage', `${from} is not the name of a ${name}: ${JSON.stringify(found)}.`, { hint });
}

function none(variables: readonly string[]): string {
  return variables.length === 1 ? `${variables[0]} is not` : `none of ${variables.join(', ')}`;
}
