// JSON Schema (draft 2020-12) of the messages in their JSON form, for those who write or generate a client.

import type { Schema as Json } from './core-schema.ts';
import { camel } from './emit-code.ts';
import type { Enumeration, Field, Message, Schema } from './parse-proto.ts';

const SCALARS: Readonly<Record<string, Json>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  uint32: { type: 'integer', minimum: 0, maximum: 4294967295 },
  // Protocol Buffers writes them as text, since a number of JSON may lose digits; both are read.
  uint64: { type: ['string', 'integer'], pattern: '^[0-9]+$', minimum: 0 },
};

export function emitSchema(schema: Schema): string {
  const definitions = schema.types.map((type) => [
    type.name,
    type.kind === 'enum' ? enumeration(type) : message(type),
  ]);
  return json({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `${schema.package}: messages in their JSON form`,
    description: 'Generated from src/protocol/crab.proto. A field that is absent has its zero value.',
    anyOf: [{ $ref: '#/$defs/ClientMessage' }, { $ref: '#/$defs/ServerMessage' }],
    $defs: Object.fromEntries(definitions),
  });
}

/** The values that messages carry as JSON within a string. */
export function emitCoreSchema(core: Readonly<Record<string, Json>>, roots: readonly string[]): string {
  return json({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The values that Crab’s own clients exchange as JSON in strings',
    description: `Generated from src/core. ${roots.join(', ')} stand in messages; the rest is what these are made of.`,
    $defs: core,
  });
}

function json(value: Json): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function enumeration({ values, comment }: Enumeration): Json {
  return { ...described(comment), enum: values.map(({ name }) => name) };
}

function message({ fields, oneof, comment }: Message): Json {
  const all = [...fields, ...(oneof?.fields ?? [])];
  const cases = oneof?.fields.map(({ name }) => ({ required: [camel(name)] }));
  return {
    ...described(comment),
    type: 'object',
    properties: Object.fromEntries(all.map((field) => [camel(field.name), property(field)])),
    ...(cases !== undefined && { oneOf: cases }),
  };
}

function property({ type, label, comment }: Field): Json {
  const one = SCALARS[type] ?? { $ref: `#/$defs/${type}` };
  return { ...described(comment), ...(label === 'repeated' ? { type: 'array', items: one } : one) };
}

function described(comment: string): Json {
  return comment === '' ? {} : { description: comment };
}
