// The person's settings: `$CRAB_HOME/config.toml`, the profile chosen in it, then files that the command names, later
// ones winning key by key. A key that nobody knows is an error: one that is passed over would look as if it held.

import { join } from 'node:path';
import { CrabError } from '../../core/errors.ts';
import { NO_SETTINGS, type Settings } from '../../core/settings.ts';
import { type Layer, merge } from './merge.ts';
import { together } from './permission-values.ts';
import { parseTable, readTable } from './read-table.ts';
import { SETTINGS } from './schema.ts';
import type { Context } from './values.ts';

export interface SettingsOptions {
  /** `$CRAB_HOME`. */
  readonly home: string;
  /** For `~/` in paths. */
  readonly homeFolder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files beside the home's own, absolute, the last one winning. They must exist. */
  readonly files: readonly string[];
  /** Takes the place of the file's own `profile`. */
  readonly profile?: string;
  warn(text: string): void;
}

/** Throws `CrabError` (`settings-invalid`) that names the file, the line where it can be told, and the key. */
export async function readSettings(options: SettingsOptions): Promise<Settings> {
  const own = await readTable(join(options.home, 'config.toml'), { required: false });
  const given = await Promise.all(options.files.map((path) => readTable(path, { required: true })));
  const layers = [own, ...given].filter((layer) => layer !== undefined);
  const profile = options.profile ?? chosenProfile(layers);
  const all = layers.flatMap((layer) => withProfile(layer, profile));
  if (profile !== undefined && all.length === layers.length) throw noProfile(profile, layers);
  const settings = all.map((layer) => SETTINGS(layer.table, contextOf(layer, options)));
  for (const layer of layers) if (holdsKey(layer)) warnOfKey(layer, options.warn);
  const permissions = together(settings.map((one) => one.permissions));
  const merged = settings.reduce<Settings>((under, over) => merge(under, over) as Settings, NO_SETTINGS);
  return permissions === undefined ? merged : { ...merged, permissions };
}

/** Throws as `readSettings` does, of a text that is to become the file at `path`. */
export async function checkSettings(
  path: string,
  text: string,
  options: Pick<SettingsOptions, 'env' | 'homeFolder'>,
): Promise<void> {
  const table = await parseTable(path, text);
  const layer: Layer = { path, text, table, prefix: [], openToOthers: false };
  const profiles = isTable(table['profiles']) ? Object.keys(table['profiles']) : [];
  for (const name of [undefined, ...profiles])
    for (const each of withProfile(layer, name)) SETTINGS(each.table, contextOf(each, options));
}

function chosenProfile(layers: readonly Layer[]): string | undefined {
  const named = layers.map(({ table }) => table['profile']).filter((name) => typeof name === 'string');
  return named.at(-1);
}

/** A layer without its profiles, then the profile of that name as a layer of its own. */
function withProfile(layer: Layer, name: string | undefined): readonly Layer[] {
  const { profiles, profile: _, ...table } = layer.table;
  if (profiles !== undefined && !isTable(profiles))
    throw new CrabError('settings-invalid', `${layer.path}: profiles must be tables, as in [profiles.work].`);
  const bare = { ...layer, table };
  if (name === undefined || profiles === undefined || !Object.hasOwn(profiles, name)) return [bare];
  const chosen = profiles[name];
  if (!isTable(chosen))
    throw new CrabError('settings-invalid', `${layer.path}: profiles.${name} is no table.`);
  return [bare, { ...layer, table: chosen, prefix: ['profiles', name] }];
}

function noProfile(name: string, layers: readonly Layer[]): CrabError {
  const known = layers.flatMap(({ table }) =>
    isTable(table['profiles']) ? Object.keys(table['profiles']) : [],
  );
  const hint = known.length > 0 ? `There is ${known.join(', ')}.` : 'Write [profiles.NAME] in config.toml.';
  return new CrabError('settings-invalid', `There is no profile ${JSON.stringify(name)}.`, { hint });
}

function contextOf(layer: Layer, { env, homeFolder }: Pick<SettingsOptions, 'env' | 'homeFolder'>): Context {
  return { path: layer.path, text: layer.text, at: layer.prefix, env, homeFolder };
}

function holdsKey({ table }: Layer): boolean {
  const providers = table['providers'];
  return isTable(providers) && Object.values(providers).some((one) => isTable(one) && 'api_key' in one);
}

function warnOfKey({ path, openToOthers }: Layer, warn: (text: string) => void): void {
  if (openToOthers)
    warn(`${path} holds a key, and other users of this machine can read it: run \`chmod 600\` on it`);
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
