// The verdicts are held against a full validator, on schemas and values drawn at random and on the corners.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../core/schema.ts';
import { seeded } from '../core/seeded.ts';
import { coerce } from './coerce.ts';
import { schemaFault, validate } from './schema.ts';

const ajv = new Ajv2020({ strict: false, allErrors: true });

const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const;

function someValue(random: () => number, depth = 0): unknown {
  const scalars = ['', 'a', 'abc', 'ä😀', '7', 'true', 0, 1, -3, 2.5, true, false, null];
  const pick = Math.floor(random() * (depth > 2 ? scalars.length : scalars.length + 4));
  if (pick < scalars.length) return scalars[pick];
  const size = Math.floor(random() * 4);
  if (pick % 2 === 0) return Array.from({ length: size }, () => someValue(random, depth + 1));
  return Object.fromEntries(
    Array.from({ length: size }, (_, at) => ['abcd'[at], someValue(random, depth + 1)]),
  );
}

function someSchema(random: () => number, depth = 0): JsonSchema {
  const schema: Record<string, unknown> = {};
  const maybe = (chance: number, key: string, make: () => unknown) => {
    if (random() < chance) schema[key] = make();
  };
  const small = () => Math.floor(random() * 4);
  maybe(0.6, 'type', () => TYPES[Math.floor(random() * TYPES.length)]);
  maybe(0.1, 'enum', () => [someValue(random, 2), someValue(random, 2)]);
  maybe(0.1, 'const', () => someValue(random, 2));
  maybe(0.1, 'minLength', small);
  maybe(0.1, 'maxLength', small);
  maybe(0.1, 'pattern', () => '^[a-c]+$');
  maybe(0.1, 'minimum', small);
  maybe(0.1, 'exclusiveMaximum', small);
  maybe(0.1, 'multipleOf', () => small() + 1);
  maybe(0.1, 'minItems', small);
  maybe(0.1, 'maxItems', small);
  maybe(0.1, 'uniqueItems', () => true);
  maybe(0.1, 'minProperties', small);
  maybe(0.1, 'maxProperties', small);
  maybe(0.2, 'required', () => ['a']);
  maybe(0.2, 'additionalProperties', () => (random() < 0.5 ? false : someSchema(random, 3)));
  if (depth > 2) return schema;
  const inner = () => someSchema(random, depth + 1);
  maybe(0.3, 'properties', () => ({ a: inner(), b: inner() }));
  maybe(0.2, 'items', inner);
  maybe(0.1, 'prefixItems', () => [inner()]);
  maybe(0.1, 'anyOf', () => [inner(), inner()]);
  maybe(0.1, 'oneOf', () => [inner(), inner()]);
  maybe(0.1, 'allOf', () => [inner()]);
  maybe(0.1, 'not', inner);
  return schema;
}

describe('validation', () => {
  it('agrees with a full validator', () => {
    const random = seeded(1);
    let accepted = 0;
    for (let round = 0; round < 600; round++) {
      const schema = someSchema(random);
      const judge = ajv.compile(schema);
      for (let each = 0; each < 8; each++) {
        const value = someValue(random);
        const ours = validate(value, schema).length === 0;
        if (ours) accepted++;
        assert.equal(ours, judge(value), `${JSON.stringify(schema)} on ${JSON.stringify(value)}`);
      }
    }
    assert.ok(accepted > 300, 'the generator must make values that are accepted');
  });

  it('follows references, also to itself', () => {
    const schema = {
      $defs: {
        node: {
          type: 'object',
          properties: { next: { $ref: '#/$defs/node' }, n: { type: 'integer' } },
          required: ['n'],
        },
      },
      $ref: '#/$defs/node',
    } as const;
    assert.deepEqual(validate({ n: 1, next: { n: 2 } }, schema), []);
    assert.deepEqual(validate({ n: 1, next: { n: 'x' } }, schema), [
      { path: '/next/n', message: 'must be integer, not string' },
    ]);
  });

  it('names the place and what was expected', () => {
    const schema = {
      type: 'object',
      properties: { path: { type: 'string' }, lines: { type: 'array', items: { type: 'integer' } } },
      required: ['path'],
      additionalProperties: false,
    } as const;
    assert.deepEqual(validate({ lines: [1, 'b'], extra: 1 }, schema), [
      { path: '/path', message: 'is required' },
      { path: '/lines/1', message: 'must be integer, not string' },
      { path: '/extra', message: 'is not a known property' },
    ]);
  });

  it('survives what is nested without end', () => {
    let value: unknown = 1;
    for (let depth = 0; depth < 10_000; depth++) value = [value];
    const schema: JsonSchema = { $ref: '#/$defs/list', $defs: { list: { items: { $ref: '#/$defs/list' } } } };
    assert.match(validate(value, schema)[0]?.message ?? '', /nested deeper/);
  });
});

describe('coercion', () => {
  const schema: JsonSchema = {
    type: 'object',
    properties: {
      count: { type: 'integer' },
      deep: { type: 'boolean' },
      name: { type: 'string' },
      list: { type: 'array', items: { type: 'number' } },
      inner: { type: 'object', properties: { n: { type: 'number' } } },
      either: { type: ['string', 'null'] },
      state: { type: 'string', enum: ['open', 'in_progress'] },
      steps: { type: 'array', items: { type: 'object', properties: { n: { type: 'number' } } } },
      optional: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      point: { $ref: '#/$defs/point' },
      shape: { oneOf: [{ $ref: '#/$defs/point' }, { type: 'array', items: { $ref: '#/$defs/point' } }] },
    },
    $defs: { point: { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] } },
  };
  const cases: readonly (readonly [unknown, unknown])[] = [
    [{ count: '7' }, { count: 7 }],
    [{ count: '7.5' }, { count: '7.5' }],
    [{ count: '' }, {}],
    [{ count: 'null', deep: 'None', list: 'null' }, {}],
    [
      { name: 'null', either: '' },
      { name: 'null', either: '' },
    ],
    [{ deep: 'true' }, { deep: true }],
    [{ deep: 'True' }, { deep: true }],
    [{ deep: 0 }, { deep: false }],
    [{ deep: 'yes' }, { deep: 'yes' }],
    [{ name: 12 }, { name: '12' }],
    [{ list: '3' }, { list: [3] }],
    [{ list: '["1", 2]' }, { list: [1, 2] }],
    [{ inner: '{"n":"4"}' }, { inner: { n: 4 } }],
    [{ name: null }, {}],
    [{ either: null }, { either: null }],
    [{ other: '1' }, { other: '1' }],
    [{ state: 'In_Progress' }, { state: 'in_progress' }],
    [{ state: 'closed' }, { state: 'closed' }],
    [{ steps: { n: '1' } }, { steps: [{ n: 1 }] }],
    [{ list: { n: 1 } }, { list: { n: 1 } }],
    [{ optional: '5' }, { optional: 5 }],
    [{ optional: null }, { optional: null }],
    [{ optional: 'five' }, { optional: 'five' }],
    [{ point: { x: '1' } }, { point: { x: 1 } }],
    [{ point: '{"x": "1"}' }, { point: { x: 1 } }],
    [{ shape: { x: '2' } }, { shape: { x: 2 } }],
    [{ shape: '[{"x": "2"}]' }, { shape: [{ x: 2 }] }],
  ];
  for (const [given, expected] of cases)
    it(`makes ${JSON.stringify(given)} into ${JSON.stringify(expected)}`, () =>
      assert.deepEqual(coerce(given, schema), expected));

  it('ends where alternatives lead back to themselves', () => {
    const circle = { $ref: '#/$defs/a' } as const;
    const schema: JsonSchema = { ...circle, $defs: { a: { anyOf: [circle, circle, { type: 'integer' }] } } };
    assert.equal(coerce('7', schema), 7);
    assert.equal(coerce('seven', schema), 'seven');
  });

  it('does not touch a prototype', () => {
    const given: unknown = JSON.parse('{"__proto__": {"polluted": true}, "count": "1"}');
    const coerced = coerce(given, schema) as Record<string, unknown>;
    assert.equal(coerced.count, 1);
    assert.equal(({} as Record<string, unknown>).polluted, undefined);
    assert.equal(Object.getPrototypeOf(coerced), Object.prototype);
  });
});

describe('a schema', () => {
  const cases: readonly (readonly [unknown, string | undefined])[] = [
    [{ type: 'object', properties: { a: { type: ['string', 'null'] } }, required: ['a'] }, undefined],
    [{}, undefined],
    [{ type: 'nope' }, '/type: there is no type "nope"'],
    [{ properties: { a: { items: { type: 'text' } } } }, '/properties/a/items/type: there is no type "text"'],
    [{ anyOf: [{ pattern: '(' }] }, '/anyOf/0/pattern is not a regular expression'],
    [{ required: 'a' }, '/required must be a list'],
    [{ properties: { a: 1 } }, '/properties/a must be an object'],
  ];
  for (const [schema, fault] of cases)
    it(`${JSON.stringify(schema)}: ${fault ?? 'is one'}`, () => assert.equal(schemaFault(schema), fault));
});
