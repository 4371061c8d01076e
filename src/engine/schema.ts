// Checks a value against a JSON Schema (draft 2020-12) by walking both, without compiling anything: a tool's
// schema is used a few times, where a compiler would cost more than it saves. A test holds the verdicts against
// a full validator; formats and annotations are not checked.

import type { JsonObject, JsonSchema, SchemaType } from '../core/schema.ts';

/** One fault of a value; `path` is a JSON pointer, empty for the whole. */
export interface Fault {
  readonly path: string;
  readonly message: string;
}

/** The message of a fault about a property that the schema does not have. */
export const UNKNOWN_PROPERTY = 'is not a known property';

const MAX_FAULTS = 8;
const MAX_DEPTH = 64;

/** Alternatives inside of alternatives for the same value: references that lead in a circle would be tried without end. */
const MAX_CHOICES = 6;

/** The faults of a value, at most eight; none means that it is valid. */
export function validate(value: unknown, schema: JsonSchema): readonly Fault[] {
  const faults: Fault[] = [];
  check(value, schema, { path: '', depth: 0, choices: 0, root: schema, faults });
  return faults;
}

/** Whether a value is valid against a part of a schema, in whose root its references begin. */
export function fits(value: unknown, schema: JsonSchema, root: JsonSchema): boolean {
  const faults: Fault[] = [];
  check(value, schema, { path: '', depth: 0, choices: 0, root, faults });
  return faults.length === 0;
}

interface Place {
  readonly path: string;
  readonly depth: number;
  readonly choices: number;
  readonly root: JsonSchema;
  readonly faults: Fault[];
}

function check(value: unknown, schema: JsonSchema | boolean, place: Place): void {
  if (place.faults.length >= MAX_FAULTS || schema === true) return;
  if (schema === false || place.depth > MAX_DEPTH || place.choices > MAX_CHOICES) {
    report(place, schema === false ? 'must not be given' : `is nested deeper than ${MAX_DEPTH} levels`);
    return;
  }
  const target = resolveReference(schema, place.root);
  const types = typesOf(target);
  if (types.length > 0 && !types.some((type) => isType(value, type))) {
    report(place, `must be ${types.join(' or ')}, not ${nameOf(value)}`);
    return;
  }
  checkValue(value, target, place);
  if (typeof value === 'string') checkString(value, target, place);
  else if (typeof value === 'number') checkNumber(value, target, place);
  else if (Array.isArray(value)) checkArray(value, target, place);
  else if (isObject(value)) checkObject(value, target, place);
  checkCombined(value, target, place);
}

function checkValue(value: unknown, schema: JsonSchema, place: Place): void {
  if (schema.enum !== undefined && !schema.enum.some((item) => equal(item, value)))
    report(place, `must be one of ${schema.enum.map((item) => JSON.stringify(item)).join(', ')}`);
  if (Object.hasOwn(schema, 'const') && !equal(schema.const, value))
    report(place, `must be ${JSON.stringify(schema.const)}`);
}

function checkString(value: string, schema: JsonSchema, place: Place): void {
  const { minLength, maxLength, pattern } = schema;
  if (typeof minLength === 'number' && codePoints(value) < minLength)
    report(place, `must have at least ${minLength} characters`);
  if (typeof maxLength === 'number' && codePoints(value) > maxLength)
    report(place, `must have at most ${maxLength} characters`);
  if (typeof pattern === 'string' && !new RegExp(pattern, 'u').test(value))
    report(place, `must match ${pattern}`);
}

function checkNumber(value: number, schema: JsonSchema, place: Place): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (typeof minimum === 'number' && value < minimum) report(place, `must be at least ${minimum}`);
  if (typeof maximum === 'number' && value > maximum) report(place, `must be at most ${maximum}`);
  if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum)
    report(place, `must be more than ${exclusiveMinimum}`);
  if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum)
    report(place, `must be less than ${exclusiveMaximum}`);
  if (typeof multipleOf === 'number' && !Number.isInteger(value / multipleOf))
    report(place, `must be a multiple of ${multipleOf}`);
}

function checkArray(value: readonly unknown[], schema: JsonSchema, place: Place): void {
  const { minItems, maxItems, uniqueItems, prefixItems, items } = schema;
  if (typeof minItems === 'number' && value.length < minItems)
    report(place, `must have at least ${minItems} items`);
  if (typeof maxItems === 'number' && value.length > maxItems)
    report(place, `must have at most ${maxItems} items`);
  if (
    uniqueItems === true &&
    value.some((item, at) => value.slice(0, at).some((other) => equal(other, item)))
  )
    report(place, 'must not hold the same item twice');
  const prefix = Array.isArray(prefixItems) ? (prefixItems as readonly (JsonSchema | boolean)[]) : [];
  for (const [at, item] of value.entries()) {
    const itemSchema = prefix[at] ?? (items as JsonSchema | boolean | undefined);
    if (itemSchema !== undefined) check(item, itemSchema, within(place, String(at)));
  }
}

function checkObject(value: JsonObject, schema: JsonSchema, place: Place): void {
  const { required, additionalProperties, minProperties, maxProperties } = schema;
  for (const key of required ?? []) if (!Object.hasOwn(value, key)) report(within(place, key), 'is required');
  const keys = Object.keys(value);
  if (typeof minProperties === 'number' && keys.length < minProperties)
    report(place, `must have at least ${minProperties} properties`);
  if (typeof maxProperties === 'number' && keys.length > maxProperties)
    report(place, `must have at most ${maxProperties} properties`);
  for (const key of keys) {
    const property = ownProperty(schema.properties, key);
    if (property !== undefined) check(value[key], property, within(place, key));
    else if (additionalProperties === false) report(within(place, key), UNKNOWN_PROPERTY);
    else if (typeof additionalProperties === 'object')
      check(value[key], additionalProperties, within(place, key));
  }
}

function checkCombined(value: unknown, schema: JsonSchema, place: Place): void {
  for (const part of schemas(schema.allOf)) check(value, part, { ...place, choices: place.choices + 1 });
  const any = schemas(schema.anyOf);
  if (any.length > 0 && !any.some((part) => accepts(value, part, place)))
    report(place, 'matches none of the allowed shapes');
  const one = schemas(schema.oneOf);
  if (one.length > 0 && one.filter((part) => accepts(value, part, place)).length !== 1)
    report(place, 'must match exactly one of the allowed shapes');
  const not = schema.not as JsonSchema | boolean | undefined;
  if (not !== undefined && accepts(value, not, place)) report(place, 'has a shape that is excluded');
}

function accepts(value: unknown, schema: JsonSchema | boolean, place: Place): boolean {
  const faults: Fault[] = [];
  check(value, schema, { ...place, depth: place.depth + 1, choices: place.choices + 1, faults });
  return faults.length === 0;
}

export function resolveReference(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let target = schema;
  for (let hops = 0; typeof target.$ref === 'string' && hops < MAX_DEPTH; hops++) {
    const found = lookUp(root, target.$ref);
    if (found === undefined) return {};
    target = found;
  }
  return target;
}

function lookUp(root: JsonSchema, reference: string): JsonSchema | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const part of reference.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key];
  }
  return isObject(at) ? at : undefined;
}

export function schemas(value: unknown): readonly (JsonSchema | boolean)[] {
  return Array.isArray(value) ? (value as readonly (JsonSchema | boolean)[]) : [];
}

function within(place: Place, key: string): Place {
  const step = key.replaceAll('~', '~0').replaceAll('/', '~1');
  return { ...place, path: `${place.path}/${step}`, depth: place.depth + 1, choices: 0 };
}

function report(place: Place, message: string): void {
  place.faults.push({ path: place.path, message });
}

export function typesOf(schema: JsonSchema): readonly SchemaType[] {
  if (schema.type === undefined) return [];
  return typeof schema.type === 'string' ? [schema.type] : schema.type;
}

export function isType(value: unknown, type: SchemaType): boolean {
  switch (type) {
    case 'null':
      return value === null;
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'integer':
      return typeof value === 'number' && Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function ownProperty(
  properties: Readonly<Record<string, JsonSchema>> | undefined,
  key: string,
): JsonSchema | undefined {
  return properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
}

function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal((a as JsonObject)[key], (b as JsonObject)[key]));
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function nameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const TYPE_NAMES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
] satisfies SchemaType[]);

/** What keeps a schema from meaning anything, as far as it can be seen without a value; undefined when nothing does. */
export function schemaFault(schema: unknown, path = ''): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isObject(schema)) return `${path === '' ? 'the schema' : path} must be an object`;
  const { type, pattern, required, items, properties } = schema;
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type];
  const unknown = types.find((name) => !TYPE_NAMES.has(name));
  if (unknown !== undefined) return `${path}/type: there is no type ${JSON.stringify(unknown)}`;
  if (required !== undefined && !Array.isArray(required)) return `${path}/required must be a list`;
  if (properties !== undefined && !isObject(properties)) return `${path}/properties must be an object`;
  try {
    if (typeof pattern === 'string') new RegExp(pattern, 'u');
  } catch {
    return `${path}/pattern is not a regular expression`;
  }
  const inner: (readonly [string, unknown])[] = Object.entries(properties ?? {}).map(([name, value]) => [
    `properties/${name}`,
    value,
  ]);
  if (items !== undefined) inner.push(['items', items]);
  for (const key of ['anyOf', 'oneOf', 'allOf', 'prefixItems'])
    for (const [at, part] of schemas(schema[key]).entries()) inner.push([`${key}/${at}`, part]);
  for (const [step, part] of inner) {
    const fault = schemaFault(part, `${path}/${step}`);
    if (fault !== undefined) return fault;
  }
  return undefined;
}
