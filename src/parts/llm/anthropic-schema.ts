// JSON schemas as structured outputs take them (platform.claude.com/docs/en/build-with-claude/structured-outputs): every
// object is closed, and bounds are words in the description. What is left out here is still checked of the answer.

import type { JsonSchema } from '../../core/schema.ts';

type Node = Readonly<Record<string, unknown>>;

const MAPS: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions']);
const LISTS: ReadonlySet<string> = new Set(['anyOf', 'allOf']);
const KEPT: ReadonlySet<string> = new Set([
  '$ref',
  'type',
  'enum',
  'const',
  'title',
  'description',
  'default',
]);
const NOTED = [
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'pattern',
  'format',
  'minItems',
  'maxItems',
  'uniqueItems',
] as const;

/** Undefined for a schema that cannot be said this way: an object whose names are open, or a type that is. */
export function closedSchema(schema: JsonSchema): JsonSchema | undefined {
  try {
    return closed(schema as Node) as JsonSchema;
  } catch (thrown) {
    if (thrown instanceof OpenSchema) return undefined;
    throw thrown;
  }
}

class OpenSchema extends Error {}

function closed(node: unknown): Node {
  if (!isNode(node)) throw new OpenSchema();
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(node)) {
    if (KEPT.has(key)) out[key] = value;
    else if (MAPS.has(key) && isNode(value))
      out[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, closed(inner)]));
    else if (LISTS.has(key) && Array.isArray(value)) out[key] = value.map(closed);
    else if (key === 'oneOf' && Array.isArray(value)) out['anyOf'] = value.map(closed);
    else if (key === 'items') out['items'] = closed(value);
    else if (key === 'required') out['required'] = value;
  }
  if (node['type'] === 'object' || node['properties'] !== undefined) close(node, out);
  const notes = NOTED.filter((name) => node[name] !== undefined).map((name) => `${name}: ${node[name]}`);
  if (notes.length > 0)
    out['description'] = [node['description'], `{${notes.join(', ')}}`].filter(Boolean).join(' ');
  return out;
}

/** An object may have the names that are listed and no others. */
function close(node: Node, out: Record<string, unknown>): void {
  const others = node['additionalProperties'];
  if (isNode(others) || node['patternProperties'] !== undefined) throw new OpenSchema();
  if (node['properties'] === undefined && others !== false) throw new OpenSchema();
  out['type'] = 'object';
  out['additionalProperties'] = false;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
