// The keywords of JSON Schema that Gemini takes for the shape of an answer (ai.google.dev/api/generate-content,
// `responseJsonSchema`). It refuses a schema with others, so those are left out; who asked for the shape checks it.

const KEYWORDS: ReadonlySet<string> = new Set([
  ...['$id', '$defs', '$ref', '$anchor', 'type', 'format', 'title', 'description', 'enum'],
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'minimum', 'maximum', 'anyOf', 'oneOf'],
  ...['properties', 'additionalProperties', 'required', 'propertyOrdering'],
]);
/** What stands below these is schemas by names of one's own. */
const MAPS: ReadonlySet<string> = new Set(['properties', '$defs']);
/** What stands below these is values, whatever they look like. */
const VALUES: ReadonlySet<string> = new Set(['enum']);

export function geminiSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(geminiSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.has(keyword)) kept[keyword] = value;
    else if (MAPS.has(keyword)) kept[keyword] = mapped(value);
    else if (keyword === 'const') kept['enum'] = [value];
    else if (KEYWORDS.has(keyword)) kept[keyword] = geminiSchema(value);
  }
  return kept;
}

function mapped(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, geminiSchema(schema)]));
}
