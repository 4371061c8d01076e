// Providers as a person's settings have them: a row of their own, or what differs for a built-in one. A new server of
// a known wire is an entry there and no code, so whatever cannot be meant is refused here, by the name of its key.

import type { AuthScheme, KeyStyle } from '../../core/credential.ts';
import { CrabError } from '../../core/errors.ts';
import type { OAuthSettings, ProviderSettings, Settings } from '../../core/settings.ts';
import { parseBaseUrl } from './endpoint.ts';
import { OPENAI_CHAT } from './openai-providers.ts';
import { anthropicQuirksFromSettings, quirksFromSettings } from './openai-quirk-settings.ts';
import type { Dialect, ProviderRow } from './provider-row.ts';

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?$/;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MODEL = /^[\x21-\x7e]+$/;

/** The rows that settings make of the built-in ones: the person's own come first. Throws `settings-invalid`. */
export function withOwnProviders(
  builtIn: readonly ProviderRow[],
  settings: Pick<Settings, 'providers'>,
): readonly ProviderRow[] {
  const own: ProviderRow[] = [];
  const changed = new Map<string, ProviderRow>();
  for (const [name, entry] of Object.entries(settings.providers)) {
    const row = builtIn.find((each) => each.name === name);
    if (row === undefined) own.push(changedRow(freshRow(name, entry, builtIn), entry));
    else changed.set(name, changedRow(withApi(row, entry, builtIn), entry));
  }
  const rows = [...own, ...builtIn.map((row) => changed.get(row.name) ?? row)];
  refuseDuplicates(rows);
  return rows;
}

function freshRow(name: string, entry: ProviderSettings, builtIn: readonly ProviderRow[]): ProviderRow {
  if (!NAME.test(name)) {
    throw invalid(JSON.stringify(name), 'is no name of a provider: letters, digits, dots and dashes are.');
  }
  const { baseUrl, api = OPENAI_CHAT.wire } = entry;
  if (baseUrl === undefined) {
    throw invalid(`${name}.base_url`, `is missing, and there is no built-in provider ${name}.`);
  }
  const model = likeOf(api, name, builtIn);
  const needsKey = [entry.apiKeyEnv, entry.apiKey, entry.apiKeyHelper, entry.oauth].some(
    (from) => from !== undefined,
  );
  const variable = `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`;
  return {
    name,
    baseUrl,
    endpoints: model.endpoints,
    auth: { kind: 'key', variables: [{ name: variable, style: model.style }], style: model.style },
    keyless: !needsKey,
    listsModels: model.listsModels,
    ...(model.listsModels && { probe: 'list' as const }),
    dialect: model.dialect,
  };
}

interface Like {
  readonly endpoints: readonly string[];
  readonly style: KeyStyle;
  readonly listsModels: boolean;
  readonly dialect: Dialect;
}

/** What all providers of a wire have in common. */
function likeOf(api: string, name: string, builtIn: readonly ProviderRow[]): Like {
  if (api === OPENAI_CHAT.wire) return PLAIN_CHAT;
  const row = builtIn.find(({ dialect }) => dialect.wire === api);
  if (row === undefined) {
    const known = [...new Set(builtIn.map(({ dialect }) => dialect.wire))].join(', ');
    throw invalid(`${name}.api`, `${JSON.stringify(api)} is not known: there are ${known}.`);
  }
  const { endpoints, auth, listsModels, dialect } = row;
  return { endpoints, style: auth.kind === 'key' ? auth.style : 'bearer', listsModels, dialect };
}

const PLAIN_CHAT: Like = {
  endpoints: ['/chat/completions'],
  style: 'bearer',
  listsModels: true,
  dialect: OPENAI_CHAT,
};

/** Who names the wire means it, also at an address where it would not be expected. */
function withApi(row: ProviderRow, { api }: ProviderSettings, builtIn: readonly ProviderRow[]): ProviderRow {
  if (api === undefined) return row;
  const { moved: _, ...rest } = row;
  if (api === row.dialect.wire) return rest;
  const { dialect, endpoints } = likeOf(api, row.name, builtIn);
  return { ...rest, dialect, endpoints };
}

/** The row at the address that the person gives it, where most servers speak an older format. */
function movedRow(row: ProviderRow, { baseUrl }: ProviderSettings): ProviderRow {
  if (baseUrl === undefined) return row;
  const own = checkedUrl(baseUrl, row);
  const moved = { ...row, baseUrl: own, ownUrl: true as const };
  if (row.moved === undefined || new URL(own).host === new URL(row.baseUrl).host) return moved;
  const { moved: _, ...rest } = moved;
  return { ...rest, dialect: row.moved };
}

function changedRow(before: ProviderRow, entry: ProviderSettings): ProviderRow {
  const row = movedRow(before, entry);
  const { name } = row;
  const { headers, models, defaultModel, quirks } = entry;
  for (const id of [...(models ?? []), ...(defaultModel === undefined ? [] : [defaultModel])]) {
    if (!MODEL.test(id)) throw invalid(`${name}.models`, `${JSON.stringify(id)} is not the name of a model.`);
  }
  return {
    ...row,
    auth: authOf(row, entry),
    ...(headers !== undefined && { headers: { ...row.headers, ...checkedHeaders(headers, name) } }),
    ...(models !== undefined && { models }),
    ...(defaultModel !== undefined && { defaultModel }),
    ...(quirks !== undefined && withQuirks(row, quirks)),
  };
}

function authOf({ name, auth, place }: ProviderRow, entry: ProviderSettings): AuthScheme {
  const { apiKeyEnv, apiKey, apiKeyHelper, oauth, region, profile, project } = entry;
  if (auth.kind !== 'key') return auth;
  for (const [key, value] of Object.entries({ region, profile, project })) {
    const isMeant = value === undefined || place?.some((part) => part.name === key);
    if (!isMeant) throw invalid(`${name}.${key}`, `means nothing to ${name}, which takes a key.`);
  }
  if (apiKeyEnv !== undefined && !VARIABLE.test(apiKeyEnv)) {
    throw invalid(`${name}.api_key_env`, 'is not the name of an environment variable.');
  }
  return {
    ...auth,
    ...(apiKeyEnv !== undefined && { variables: [{ name: apiKeyEnv, style: auth.style }] }),
    ...(apiKey !== undefined && { literal: apiKey }),
    ...(apiKeyHelper !== undefined && { helper: apiKeyHelper }),
    ...(oauth !== undefined && { oauth: clientOf(oauth, name) }),
  };
}

function clientOf({ scopes = [], ...client }: OAuthSettings, name: string) {
  for (const [key, value] of Object.entries({
    authorize_url: client.authorizeUrl,
    token_url: client.tokenUrl,
  })) {
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const safe = url?.protocol === 'https:' || (url?.protocol === 'http:' && url.hostname === '127.0.0.1');
    if (!safe) throw invalid(`${name}.oauth.${key}`, 'is not an https URL.');
  }
  return { ...client, scopes };
}

/** What the person says of the server goes before whatever the row says, of its models as of its addresses. */
function withQuirks(
  { name, dialect, moved }: ProviderRow,
  given: NonNullable<ProviderSettings['quirks']>,
): Pick<ProviderRow, 'dialect' | 'moved'> {
  const [first] = Object.keys(given);
  if (first === undefined) return { dialect };
  if (dialect.wire === 'anthropic-messages') {
    const own = inSettings(() => anthropicQuirksFromSettings(given, `providers.${name}.quirks`));
    return { dialect: { ...dialect, quirks: { ...dialect.quirks, ...own } } };
  }
  if (![dialect, moved].some((spoken) => spoken?.wire === OPENAI_CHAT.wire)) {
    throw invalid(`${name}.quirks.${first}`, `is not known: ${dialect.wire} has none.`);
  }
  const quirks = inSettings(() => quirksFromSettings(given, `providers.${name}.quirks`));
  const quirky = (spoken: Dialect): Dialect =>
    spoken.wire === OPENAI_CHAT.wire ? { ...spoken, where: [...(spoken.where ?? []), { quirks }] } : spoken;
  return { dialect: quirky(dialect), ...(moved !== undefined && { moved: quirky(moved) }) };
}

function checkedUrl(text: string, row: ProviderRow): string {
  return inSettings(() => parseBaseUrl(text, `providers.${row.name}.base_url`, row).href);
}

/** What is wrong with a value is wrong with the settings. */
function inSettings<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof CrabError)) throw thrown;
    throw new CrabError('settings-invalid', thrown.message, { hint: thrown.hint });
  }
}

function checkedHeaders(
  headers: Readonly<Record<string, string>>,
  name: string,
): Readonly<Record<string, string>> {
  const lower: Record<string, string> = {};
  for (const [header, value] of Object.entries(headers)) {
    const fits = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(header) && /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
    if (!fits) throw invalid(`${name}.headers`, `has ${JSON.stringify(header)}, which no request can carry.`);
    lower[header.toLowerCase()] = value;
  }
  return lower;
}

/** A bare name must mean one provider. */
function refuseDuplicates(rows: readonly ProviderRow[]): void {
  const owners = new Map<string, string>();
  for (const { name, models = [] } of rows) {
    for (const id of new Set(models)) {
      const owner = owners.get(id);
      if (owner !== undefined) {
        throw invalid(`${name}.models`, `has ${JSON.stringify(id)}, which is a model of ${owner} already.`);
      }
      owners.set(id, name);
    }
  }
}

function invalid(key: string, what: string): CrabError {
  return new CrabError('settings-invalid', `providers.${key} ${what}`);
}
