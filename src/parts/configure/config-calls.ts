// What the tool `config` does: a value is checked, written as a line of the file, and the whole read again before it is kept.

import { ToolFailure } from '../../core/errors.ts';
import type { JsonObject } from '../../core/schema.ts';
import { type ToolOutput, textOutput } from '../../core/tool.ts';
import { SETTINGS } from './changeable.ts';
import type { ConfigToolOptions } from './config-tool.ts';
import { topValue, withTopValue } from './toml-line.ts';

type Value = string | number | boolean;

/** The value, or what it has to be. */
type Reader = (value: unknown) => { readonly value: Value } | string;

const text = (value: unknown) =>
  typeof value === 'string' && /^[\w./:@-]{1,200}$/.test(value) ? { value } : 'the name of a model';
const choice =
  (...choices: readonly string[]) =>
  (value: unknown) =>
    choices.includes(String(value)) ? { value: String(value) } : `one of ${choices.join(', ')}`;
const flag = (value: unknown) =>
  value === true || value === 'true'
    ? { value: true }
    : value === false || value === 'false'
      ? { value: false }
      : 'true or false';
const count = (value: unknown) =>
  /^[1-9]\d{0,8}$/.test(String(value)) ? { value: Number(value) } : 'a whole number from 1';

const READERS: Readonly<Record<keyof typeof SETTINGS, Reader>> = {
  model: text,
  small_model: text,
  plan_model: text,
  effort: choice('off', 'low', 'medium', 'high', 'max'),
  fast: flag,
  max_tokens: count,
};

export async function runConfig(
  { path, files, check }: ConfigToolOptions,
  input: JsonObject,
): Promise<ToolOutput> {
  const { setting } = input;
  const there = await files.info(path);
  const source = there === undefined ? '' : new TextDecoder().decode(await files.read(path));
  if (!Object.hasOwn(input, 'value')) {
    const keys = setting === undefined ? Object.keys(SETTINGS) : [String(setting)];
    const rows = keys.map((key) => [key, topValue(source, key) ?? '(not set)'] as const);
    const text = rows.map((row) => row.join(' = ')).join('\n');
    return textOutput(text, { kind: 'table', columns: ['setting', 'value'], rows });
  }
  if (!isSetting(setting)) throw new ToolFailure('Name the setting that is to be changed.');
  const value = checked(setting, input['value']);
  const changed = withTopValue(source, setting, value === undefined ? undefined : JSON.stringify(value));
  try {
    await check(changed);
  } catch (error) {
    throw new ToolFailure(`${path} was left as it was: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  await files.write(path, new TextEncoder().encode(changed));
  const what = value === undefined ? `${setting} is no longer set` : `${setting} = ${JSON.stringify(value)}`;
  return textOutput(`${what} in ${path}. It holds from the next start of Crab on.`);
}

function isSetting(name: unknown): name is keyof typeof SETTINGS {
  return typeof name === 'string' && Object.hasOwn(SETTINGS, name);
}

function checked(key: keyof typeof SETTINGS, given: unknown): Value | undefined {
  if (given === null) return undefined;
  const result = READERS[key](given);
  if (typeof result === 'string')
    throw new ToolFailure(`${key} must be ${result}, not ${JSON.stringify(given)}.`);
  return result.value;
}
