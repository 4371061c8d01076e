// The fields of the messages as data, for the JSON form: a client in a browser has no need of the binary one, and the
// daemon speaks JSON rarely enough to look its fields up.

import { camel } from './emit-code.ts';
import type { Field, Schema } from './parse-proto.ts';

export function emitFields(schema: Schema): string {
  const rows = schema.types.map((type) => {
    if (type.kind === 'enum') {
      const values = type.values.map(({ name, number }) => `${name}: ${number}`);
      return `  ${type.name}: { kind: 'enum', values: { ${values.join(', ')} } },`;
    }
    const { oneof, fields, name } = type;
    const cases = (oneof?.fields ?? []).map((field) => row(field));
    const own = fields.map((field) => row(field));
    const group = oneof === undefined ? '' : `, oneof: '${oneof.name}', cases: {${cases.join(', ')}}`;
    return `  ${name}: { kind: 'message', fields: {${own.join(', ')}}${group} },`;
  });
  return [
    '// Generated from crab.proto by `npm run protocol`. Do not edit.\n',
    "import type { Types } from './json-form.ts';\n",
    `export const TYPES: Types = {\n${rows.join('\n')}\n};\n`,
  ].join('\n');
}

function row({ name, type, label }: Field): string {
  return `${camel(name)}: ['${type}', '${label}']`;
}
