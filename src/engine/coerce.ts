// Makes a model's arguments fit a tool's schema where the intent is plain: a number in quotes, a list of one given
// bare, an object sent as JSON text, a null for what was left out. What does not fit is left for the validator.

import type { JsonObject, JsonSchema, SchemaType } from '../core/schema.ts';
import { fits, isObject, isType, ownProperty, resolveReference, schemas, typesOf } from './schema.ts';

/** Alternatives inside of alternatives: each level tries all of them, and references may lead in a circle. */
const MAX_CHOICES = 4;

interface Whole {
  /** Where references begin. */
  readonly root: JsonSchema;
  readonly choices: number;
}

/** Undefined: the value stands for nothing, as if it had not been given. */
export function coerce(
  value: unknown,
  schema: JsonSchema,
  whole: Whole = { root: schema, choices: 0 },
): unknown {
  const target = resolveReference(schema, whole.root);
  const types = typesOf(target);
  const changed = types.length === 0 ? chosen(value, target, whole) : typed(value, types, target);
  if (Array.isArray(changed) && isObject(target.items)) {
    const items: JsonSchema = target.items;
    return changed.map((item) => coerce(item, items, whole) ?? item);
  }
  if (isObject(changed) && target.properties !== undefined) return coerceProperties(changed, target, whole);
  return changed;
}

function typed(value: unknown, types: readonly SchemaType[], schema: JsonSchema): unknown {
  if (isNothing(value, types)) return undefined;
  if (!types.some((type) => isType(value, type))) return convert(value, types, schema);
  return typeof value === 'string' && schema.enum !== undefined ? spelled(value, schema.enum) : value;
}

/** How models write "left out" where nothing of the kind may be. */
function isNothing(value: unknown, types: readonly SchemaType[]): boolean {
  if (value === null) return !types.includes('null');
  return !types.includes('string') && (value === '' || value === 'null' || value === 'None');
}

/** The member of the list that the text is, but for capital letters. */
function spelled(value: string, members: readonly unknown[]): string {
  if (members.includes(value)) return value;
  const same = members.filter(
    (member): member is string =>
      typeof member === 'string' && member.toLowerCase() === value.trim().toLowerCase(),
  );
  return same.length === 1 && same[0] !== undefined ? same[0] : value;
}

/** `anyOf` and `oneOf`: the first alternative that the value can be made to fit, when it fits none as it is. */
function chosen(value: unknown, schema: JsonSchema, { root, choices }: Whole): unknown {
  const parts = [...schemas(schema.anyOf), ...schemas(schema.oneOf)].filter(isObject);
  if (parts.length === 0 || choices >= MAX_CHOICES) return value;
  if (parts.some((part) => fits(value, part, root))) return value;
  for (const part of parts) {
    const changed = coerce(value, part, { root, choices: choices + 1 });
    if (changed !== undefined && fits(changed, part, root)) return changed;
  }
  return value === null ? undefined : value;
}

function coerceProperties(value: JsonObject, schema: JsonSchema, whole: Whole): JsonObject {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const property = ownProperty(schema.properties, key);
    const coerced = property === undefined ? value[key] : coerce(value[key], property, whole);
    if (coerced !== undefined) define(result, key, coerced);
  }
  return result;
}

function convert(value: unknown, types: readonly SchemaType[], schema: JsonSchema): unknown {
  for (const type of types) {
    const converted = convertTo(value, type, schema);
    if (converted !== undefined) return converted;
  }
  return value;
}

function convertTo(value: unknown, type: SchemaType, schema: JsonSchema): unknown {
  switch (type) {
    case 'number':
    case 'integer': {
      if (typeof value !== 'string' || value.trim() === '') return undefined;
      const number = Number(value);
      return isType(number, type) ? number : undefined;
    }
    case 'boolean':
      return truthOf(value);
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
    case 'array':
      return fromJson(value, Array.isArray) ?? listOf(value, schema);
    case 'object':
      return fromJson(value, isObject);
    default:
      return undefined;
  }
}

function truthOf(value: unknown): boolean | undefined {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (word === 'true' || word === 1 || word === '1') return true;
  return word === 'false' || word === 0 || word === '0' ? false : undefined;
}

/** One given bare; an object only where a list of objects is meant. */
function listOf(value: unknown, { items }: JsonSchema): readonly unknown[] | undefined {
  const takesObjects = isObject(items) && typesOf(items).includes('object');
  return typeof value === 'object' && !takesObjects ? undefined : [value];
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
