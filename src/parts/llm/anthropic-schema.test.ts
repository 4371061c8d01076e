import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedSchema } from './anthropic-schema.ts';

test('objects are closed at every depth, and bounds become words', () => {
  assert.deepEqual(
    closedSchema({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      properties: {
        tags: { type: 'array', items: { $ref: '#/$defs/tag' }, maxItems: 3, description: 'Some.' },
        size: { oneOf: [{ type: 'integer', minimum: 0 }, { const: null }] },
      },
      required: ['tags'],
      $defs: { tag: { type: 'object', properties: { name: { type: 'string', minLength: 1 } } } },
    }),
    {
      type: 'object',
      properties: {
        tags: { type: 'array', items: { $ref: '#/$defs/tag' }, description: 'Some. {maxItems: 3}' },
        size: { anyOf: [{ type: 'integer', description: '{minimum: 0}' }, { const: null }] },
      },
      required: ['tags'],
      $defs: {
        tag: {
          type: 'object',
          properties: { name: { type: 'string', description: '{minLength: 1}' } },
          additionalProperties: false,
        },
      },
      additionalProperties: false,
    },
  );
});

test('an object whose names are open cannot be said', () => {
  for (const schema of [
    { type: 'object' },
    { type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } },
    { type: 'array', items: { type: 'object', patternProperties: { '^x': {} } } },
    { type: 'object', properties: { a: true } },
  ] as const)
    assert.equal(closedSchema(schema as Parameters<typeof closedSchema>[0]), undefined);
});
