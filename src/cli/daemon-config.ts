// The person's settings file as the protocol carries it: JSON in the shape of config.toml, without what is secret. What
// comes back with a secret left out keeps the one that is there, so that a client can change the rest of it.

import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { CrabError, messageOf } from '../core/errors.ts';
import { REDACTED } from '../core/redact.ts';
import { maskShapes } from '../core/secret-shapes.ts';
import { RequestFailure } from '../protocol/failure.ts';
import { strictJson } from '../protocol/strict-json.ts';
import { lockFile } from './file-lock.ts';
import { crabHome, type Environment, homeFolder } from './home.ts';

type Table = Readonly<Record<string, unknown>>;

/** Values of these names are secret as often as not, whatever they look like. */
const SECRET = /^(?:api_key|headers|env)$/;

export async function configText(env: Environment): Promise<string> {
  return JSON.stringify(withoutSecrets(await tableAt(pathOf(env)), false));
}

/** Replaces the file in one step. Throws `RequestFailure` 400, or `CrabError` (`settings-invalid`, `storage-failed`). */
export async function writeConfig(env: Environment, json: string): Promise<void> {
  const path = pathOf(env);
  const given = tableOf(json);
  const [{ checkSettings }, { tableText }, { createLocalFiles }] = await Promise.all([
    import('../parts/config/settings.ts'),
    import('../parts/config/write-table.ts'),
    import('../parts/files/local-files.ts'),
  ]);
  const release = await lockFile(path);
  try {
    const text = await tableText(withSecrets(given, await tableAt(path)) as Table);
    await checkSettings(path, text, { env, homeFolder: homeFolder(env) });
    const isNew = !existsSync(path);
    await createLocalFiles().write(path, Buffer.from(text));
    if (isNew) chmodSync(path, 0o600);
  } catch (cause) {
    if (cause instanceof CrabError) throw cause;
    throw new CrabError('storage-failed', `${path} cannot be written: ${messageOf(cause)}.`, { cause });
  } finally {
    release();
  }
}

function pathOf(env: Environment): string {
  return join(crabHome(env), 'config.toml');
}

async function tableAt(path: string): Promise<Table> {
  const { readTable } = await import('../parts/config/read-table.ts');
  return (await readTable(path, { required: false }))?.table ?? {};
}

function tableOf(json: string): Table {
  const value = strictJson(json, 'The configuration');
  if (isTable(value)) return value;
  throw new RequestFailure(400, 'The configuration must be a JSON object.');
}

function withoutSecrets(value: unknown, isSecret: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isSecret));
  if (isTable(value))
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [
        name,
        withoutSecrets(item, isSecret || SECRET.test(name)),
      ]),
    );
  if (typeof value !== 'string') return value;
  return isSecret || maskShapes(value) !== value ? REDACTED : value;
}

function withSecrets(value: unknown, before: unknown): unknown {
  if (value === REDACTED) {
    if (typeof before === 'string') return before;
    throw new RequestFailure(400, `${REDACTED} stands where there is no secret to keep.`);
  }
  if (Array.isArray(value))
    return value.map((item, at) => withSecrets(item, Array.isArray(before) ? before[at] : undefined));
  if (!isTable(value)) return value;
  const old = isTable(before) ? before : {};
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, withSecrets(item, old[name])]),
  );
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
