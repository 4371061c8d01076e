// The types of the messages and a codec for each, as TypeScript. Static code and no table: a frame is read on the way of
// every event, and a client must not load a runtime for it.

import type { Enumeration, Field, Message, Schema } from './parse-proto.ts';

const HEAD = `// Generated from crab.proto by \`npm run protocol\`. Do not edit.

import { Reader, Writer } from './wire.ts';

/** A message while it is read. */
type Draft<Message> = {
  -readonly [Key in keyof Message]: Message[Key] extends readonly (infer Item)[] ? Item[] : Message[Key];
};
`;

const ZERO: Readonly<Record<string, string>> = { string: "''", uint32: '0', uint64: '0', bool: 'false' };
const READ: Readonly<Record<string, string>> = {
  string: 'string',
  uint32: 'uint32',
  uint64: 'number',
  bool: 'bool',
};

export function emitCode(schema: Schema): string {
  const enums = new Map(
    schema.types.flatMap((type) => (type.kind === 'enum' ? [[type.name, type] as const] : [])),
  );
  const parts = schema.types.map((type) =>
    type.kind === 'enum' ? emitEnum(type) : emitMessage(type, enums),
  );
  const envelopes = ['ClientMessage', 'ServerMessage'].map(emitEnvelope);
  return [HEAD, ...parts, ...envelopes].join('\n');
}

function emitEnum({ name, values }: Enumeration): string {
  const rows = values.map((value) => `  ${value.name}: ${value.number},`);
  return `export const ${name} = {\n${rows.join('\n')}\n} as const;\n`;
}

export function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

type Enums = ReadonlyMap<string, Enumeration>;

function emitMessage(message: Message, enums: Enums): string {
  const { name, fields, oneof } = message;
  const isEmpty = fields.length === 0 && oneof === undefined;
  if (isEmpty)
    return [
      `export type ${name} = Readonly<Record<never, never>>;\n`,
      `function encode${name}(): void {}\n`,
      `function decode${name}(from: Reader): ${name} {`,
      '  for (let tag = from.tag(); tag !== 0; tag = from.tag()) from.skip(tag);',
      '  return {};',
      '}\n',
    ].join('\n');
  return [...typeOf(message, enums), ...encoderOf(message, enums), ...decoderOf(message, enums)].join('\n');
}

function typeOf({ name, fields, oneof, comment }: Message, enums: Enums): string[] {
  const doc = (text: string, indent = '') =>
    text === '' ? [] : [`${indent}/** ${text.replaceAll('\n', ' ')} */`];
  const union = oneof?.fields.flatMap((field) => [
    ...doc(field.comment, '  '),
    `  | { readonly case: '${camel(field.name)}'; readonly value: ${field.type} }`,
  ]);
  return [
    ...(oneof === undefined || union === undefined
      ? []
      : [`export type ${name}Case =`, `${union.join('\n')};`, '']),
    ...doc(comment),
    `export interface ${name} {`,
    ...(oneof === undefined ? [] : [`  readonly ${oneof.name}?: ${name}Case;`]),
    ...fields.flatMap((field) => {
      const one = enums.has(field.type) || ZERO[field.type] !== undefined ? scalar(field, enums) : field.type;
      const type = field.label === 'repeated' ? `readonly ${one}[]` : one;
      const mark = isAbsentable(field, enums) ? '?' : '';
      return [...doc(field.comment, '  '), `  readonly ${camel(field.name)}${mark}: ${type};`];
    }),
    '}\n',
  ];
}

function scalar({ type }: Field, enums: Enums): string {
  if (type === 'uint32' || type === 'uint64' || enums.has(type)) return 'number';
  return type === 'bool' ? 'boolean' : 'string';
}

function isNested(field: Field, enums: Enums): boolean {
  return ZERO[field.type] === undefined && !enums.has(field.type);
}

/** What has no value of its own for absence. */
function isAbsentable(field: Field, enums: Enums): boolean {
  return field.label === 'optional' || (field.label === 'plain' && isNested(field, enums));
}

function encoderOf({ name, fields, oneof }: Message, enums: Enums): string[] {
  const lines = [`function encode${name}(message: ${name}, to: Writer): void {`];
  if (oneof !== undefined) {
    lines.push(`  switch (message.${oneof.name}?.case) {`);
    for (const field of oneof.fields)
      lines.push(
        `    case '${camel(field.name)}':`,
        `      to.message(${field.number}, message.${oneof.name}.value, encode${field.type});`,
        '      break;',
      );
    lines.push('  }');
  }
  for (const field of fields) {
    const value = `message.${camel(field.name)}`;
    if (field.label === 'repeated') lines.push(`  for (const item of ${value}) ${put(field, 'item', enums)}`);
    else if (isAbsentable(field, enums))
      lines.push(`  if (${value} !== undefined) ${put(field, value, enums)}`);
    else {
      const zero = ZERO[field.type] ?? '0';
      lines.push(`  if (${zero === 'false' ? value : `${value} !== ${zero}`}) ${put(field, value, enums)}`);
    }
  }
  return [...lines, '}\n'];
}

function put(field: Field, value: string, enums: Enums): string {
  const { number, type } = field;
  if (isNested(field, enums)) return `to.message(${number}, ${value}, encode${type});`;
  if (type === 'string') return `to.string(${number}, ${value});`;
  return `to.number(${number}, ${type === 'bool' ? `${value} ? 1 : 0` : value});`;
}

function decoderOf({ name, fields, oneof }: Message, enums: Enums): string[] {
  const zeros = fields.flatMap((field) => {
    if (isAbsentable(field, enums)) return [];
    return `${camel(field.name)}: ${field.label === 'repeated' ? '[]' : (ZERO[field.type] ?? '0')}`;
  });
  const lines = [
    `function decode${name}(from: Reader): ${name} {`,
    `  const message: Draft<${name}> = { ${zeros.join(', ')} };`,
    '  for (let tag = from.tag(); tag !== 0; tag = from.tag()) {',
    '    switch (tag) {',
  ];
  for (const field of oneof?.fields ?? [])
    lines.push(
      `      case ${field.number * 8 + 2}:`,
      `        message.${oneof?.name} = { case: '${camel(field.name)}', value: from.message(decode${field.type}) };`,
      '        break;',
    );
  for (const field of fields) lines.push(...caseOf(field, enums));
  return [...lines, '      default:', '        from.skip(tag);', '    }', '  }', '  return message;', '}\n'];
}

function caseOf(field: Field, enums: Enums): string[] {
  const { number, label, type } = field;
  const to = `message.${camel(field.name)}`;
  const isBytes = type === 'string' || isNested(field, enums);
  const read = isNested(field, enums) ? `from.message(decode${type})` : `from.${READ[type] ?? 'uint32'}()`;
  const take = label === 'repeated' ? `${to}.push(${read});` : `${to} = ${read};`;
  const lines = [`      case ${number * 8 + (isBytes ? 2 : 0)}:`, `        ${take}`, '        break;'];
  if (label === 'repeated' && !isBytes)
    lines.push(`      case ${number * 8 + 2}:`, `        from.packed(${to});`, '        break;');
  return lines;
}

function emitEnvelope(name: string): string {
  return [
    `/** The bytes of one message, with \`before\` bytes left free in front of them. */`,
    `export function write${name}(message: ${name}, before = 0): Uint8Array<ArrayBuffer> {`,
    '  const to = new Writer();',
    `  encode${name}(message, to);`,
    '  return to.finish(before);',
    '}\n',
    '/** Throws `WireError` for what is not well-formed. Fields that are not known are left out. */',
    `export function read${name}(bytes: Uint8Array): ${name} {`,
    `  return decode${name}(new Reader(bytes));`,
    '}\n',
  ].join('\n');
}
