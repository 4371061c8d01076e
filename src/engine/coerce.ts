// Makes a model's arguments fit a tool's schema where the intent is plain: a number in quotes, a list of one given
// bare, an object sent as JSON text, a null for what was left out. What does not fit is left for the validator.

import type { JsonObject, JsonSchema, SchemaType } from '../core/schema.ts';
import { isObject, isType, ownProperty, typesOf } from './schema.ts';

export function coerce(value: unknown, schema: JsonSchema): unknown {
  const types = typesOf(schema);
  if (value === null && types.length > 0 && !types.includes('null')) return undefined;
  const fitting = types.length === 0 || types.some((type) => isType(value, type));
  const changed = fitting ? value : convert(value, types);
  if (Array.isArray(changed) && schema.items !== undefined) {
    const items = schema.items;
    return changed.map((item) => coerce(item, items) ?? item);
  }
  if (isObject(changed) && schema.properties !== undefined) return coerceProperties(changed, schema);
  return changed;
}

function coerceProperties(value: JsonObject, schema: JsonSchema): JsonObject {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const property = ownProperty(schema.properties, key);
    const coerced = property === undefined ? value[key] : coerce(value[key], property);
    // A null where none may be is how many models say "left out".
    if (coerced !== undefined) define(result, key, coerced);
  }
  return result;
}

function convert(value: unknown, types: readonly SchemaType[]): unknown {
  for (const type of types) {
    const converted = convertTo(value, type);
    if (converted !== undefined) return converted;
  }
  return value;
}

function convertTo(value: unknown, type: SchemaType): unknown {
  switch (type) {
    case 'number':
    case 'integer': {
      if (typeof value !== 'string' || value.trim() === '') return undefined;
      const number = Number(value);
      return isType(number, type) ? number : undefined;
    }
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : undefined;
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
    case 'array':
      return fromJson(value, Array.isArray) ?? (typeof value === 'object' ? undefined : [value]);
    case 'object':
      return fromJson(value, isObject);
    default:
      return undefined;
  }
}

function fromJson(value: unknown, fits: (value: unknown) => boolean): unknown {
  if (typeof value !== 'string') return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return fits(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Sets a key of any name, `__proto__` among them, as plain data. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, enumerable: true, writable: true, configurable: true });
}
