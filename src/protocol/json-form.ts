// Messages as JSON, as Protocol Buffers define it (protobuf.dev/programming-guides/json): camelCase names, 64-bit numbers
// as strings, enums by name, the case of a oneof as a field of its own, and what has its zero value left out.

import { WireError } from './wire.ts';

type Label = 'plain' | 'optional' | 'repeated';

export type Types = Readonly<
  Record<
    string,
    | { readonly kind: 'enum'; readonly values: Readonly<Record<string, number>> }
    | {
        readonly kind: 'message';
        /** Camel-case name to type and label. */
        readonly fields: Readonly<Record<string, readonly [type: string, label: Label]>>;
        readonly oneof?: string;
        readonly cases?: Readonly<Record<string, readonly [type: string, label: Label]>>;
      }
  >
>;

type Json = Record<string, unknown>;

/** A message of that type in the shape of its generated interface, as a value for `JSON.stringify`. */
export function toJson(types: Types, type: string, message: object): Json {
  const known = types[type];
  if (known?.kind !== 'message') throw new WireError(`There is no message ${type}.`);
  const given = message as Json;
  const json: Json = {};
  if (known.oneof !== undefined) {
    const chosen = given[known.oneof] as { readonly case: string; readonly value: object } | undefined;
    const [inner] = (chosen !== undefined && known.cases?.[chosen.case]) || [];
    if (chosen !== undefined && inner !== undefined) json[chosen.case] = toJson(types, inner, chosen.value);
  }
  for (const [name, [inner, label]] of Object.entries(known.fields)) {
    const value = given[name];
    if (value === undefined) continue;
    if (label === 'repeated') {
      const items = value as readonly unknown[];
      if (items.length > 0) json[name] = items.map((item) => valueToJson(types, inner, item));
    } else if (label === 'optional' || !isZero(value)) json[name] = valueToJson(types, inner, value);
  }
  return json;
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || value === false;
}

function valueToJson(types: Types, type: string, value: unknown): unknown {
  if (type === 'uint64') return String(value);
  // Half of a surrogate pair has no form in UTF-8: it leaves as it does on the binary wire.
  if (type === 'string') return (value as string).toWellFormed();
  const known = types[type];
  if (known === undefined) return value;
  if (known.kind === 'message') return toJson(types, type, value as object);
  return Object.entries(known.values).find(([, number]) => number === value)?.[0] ?? value;
}

/** The other way. Throws `WireError` that names the field. Fields that are not known are left out. */
export function fromJson<Message>(types: Types, type: string, json: unknown, at = type): Message {
  const known = types[type];
  if (known?.kind !== 'message') throw new WireError(`There is no message ${type}.`);
  if (typeof json !== 'object' || json === null || Array.isArray(json))
    throw new WireError(`${at} must be an object.`);
  const given = new Map<string, unknown>();
  for (const [name, value] of Object.entries(json)) {
    const wanted = jsonName(name);
    if (given.has(wanted)) throw new WireError(`${at}.${wanted} stands there twice, written in two ways.`);
    given.set(wanted, value);
  }
  const message: Json = {};
  for (const [name, [inner]] of Object.entries(known.cases ?? {})) {
    const value = given.get(name);
    if (value === undefined || value === null) continue;
    const { oneof = '' } = known;
    if (message[oneof] !== undefined) throw new WireError(`${at} has more than one of its messages.`);
    message[oneof] = { case: name, value: fromJson(types, inner, value, `${at}.${name}`) };
  }
  for (const [name, [inner, label]] of Object.entries(known.fields)) {
    const value = given.get(name);
    const where = `${at}.${name}`;
    if (label === 'repeated') message[name] = itemsFromJson(types, inner, value ?? [], where);
    else if (value !== undefined && value !== null) message[name] = valueFromJson(types, inner, value, where);
    else if (label === 'plain' && types[inner]?.kind !== 'message') message[name] = zeroOf(inner);
  }
  return message as Message;
}

/** As it is written in JSON: a name of the schema is taken as well. */
export function jsonName(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function zeroOf(type: string): unknown {
  if (type === 'string') return '';
  return type === 'bool' ? false : 0;
}

function itemsFromJson(types: Types, type: string, value: unknown, at: string): unknown[] {
  if (!Array.isArray(value)) throw new WireError(`${at} must be an array.`);
  return value.map((item, index) => valueFromJson(types, type, item, `${at}[${index}]`));
}

function valueFromJson(types: Types, type: string, value: unknown, at: string): unknown {
  const known = types[type];
  if (known?.kind === 'message') return fromJson(types, type, value, at);
  if (type === 'string' || type === 'bool') {
    if (typeof value === (type === 'bool' ? 'boolean' : 'string')) return value;
    throw new WireError(`${at} must be ${type === 'bool' ? 'true or false' : 'a string'}.`);
  }
  const named = known !== undefined && typeof value === 'string' ? known.values[value] : undefined;
  const number = named ?? (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value);
  const most = type === 'uint64' ? Number.MAX_SAFE_INTEGER : 0xffffffff;
  if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0 || number > most)
    throw new WireError(
      `${at} must be a whole number from 0 to ${most}${known === undefined ? '' : ', or a name'}.`,
    );
  return number;
}
