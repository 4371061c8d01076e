// Reads the part of the Protocol Buffers language (proto3) that crab.proto is written in. Anything else is an error, so
// that a generated file never says less than the schema.

export interface Field {
  readonly name: string;
  readonly number: number;
  /** `string`, `uint32`, `uint64`, `bool`, or the name of a message or an enum. */
  readonly type: string;
  readonly label: 'plain' | 'optional' | 'repeated';
  readonly comment: string;
}

export interface Message {
  readonly kind: 'message';
  readonly name: string;
  readonly comment: string;
  readonly section: string;
  readonly fields: readonly Field[];
  /** At most one, and then it has a name. */
  readonly oneof?: { readonly name: string; readonly fields: readonly Field[] };
}

export interface Enumeration {
  readonly kind: 'enum';
  readonly name: string;
  readonly comment: string;
  readonly section: string;
  readonly values: readonly { readonly name: string; readonly number: number }[];
}

export interface Schema {
  readonly comment: string;
  readonly package: string;
  readonly types: readonly (Message | Enumeration)[];
}

const SCALARS = new Set(['string', 'uint32', 'uint64', 'bool']);

interface State {
  readonly lines: readonly string[];
  at: number;
  comment: string[];
  section: string;
}

export function parseProto(text: string): Schema {
  const state: State = {
    lines: text.split('\n').map((line) => line.trim()),
    at: 0,
    comment: [],
    section: '',
  };
  let head = '';
  let name = '';
  const types: (Message | Enumeration)[] = [];
  for (let line = next(state); line !== undefined; line = next(state)) {
    const [, word, what] = /^(syntax|package|message|enum)\b\s*(.*)$/.exec(line) ?? fail(state, line);
    const comment = taken(state);
    if (word === 'syntax') head = comment;
    else if (word === 'package') name = (what ?? '').replace(';', '');
    else if (word === 'enum') types.push(parseEnum(state, what ?? '', comment));
    else types.push(parseMessage(state, what ?? '', comment));
  }
  const known = new Set([...SCALARS, ...types.map((type) => type.name)]);
  for (const type of types)
    for (const field of type.kind === 'message' ? [...type.fields, ...(type.oneof?.fields ?? [])] : [])
      if (!known.has(field.type))
        throw new Error(`${type.name}.${field.name}: there is no type ${field.type}.`);
  return { comment: head, package: name, types };
}

function parseMessage(state: State, head: string, comment: string): Message {
  const [, name = ''] = /^(\w+) \{(\})?$/.exec(head) ?? fail(state, head);
  const { section } = state;
  const fields: Field[] = [];
  let oneof: Message['oneof'];
  if (head.endsWith('{}')) return { kind: 'message', name, comment, section, fields };
  for (let line = next(state); line !== '}'; line = next(state)) {
    if (line === undefined) throw new Error(`${name} has no end.`);
    const [, group] = /^oneof (\w+) \{$/.exec(line) ?? [];
    if (line.startsWith('reserved ')) taken(state);
    else if (group === undefined) fields.push(parseField(state, line));
    else {
      const cases: Field[] = [];
      for (let inner = next(state); inner !== '}'; inner = next(state))
        cases.push(parseField(state, inner ?? fail(state, line)));
      oneof = { name: group, fields: cases };
    }
  }
  distinct(name, [...fields, ...(oneof?.fields ?? [])]);
  return { kind: 'message', name, comment, section, fields, ...(oneof !== undefined && { oneof }) };
}

function parseField(state: State, line: string): Field {
  const match = /^(?:(optional|repeated) )?(\w+) (\w+) = (\d+);$/.exec(line) ?? fail(state, line);
  const [, label = 'plain', type = '', name = '', number = ''] = match;
  return { name, number: Number(number), type, label: label as Field['label'], comment: taken(state) };
}

function parseEnum(state: State, head: string, comment: string): Enumeration {
  const name = head.replace(' {', '');
  const { section } = state;
  const values: { name: string; number: number }[] = [];
  for (let line = next(state); line !== '}'; line = next(state)) {
    const [, value = '', number = ''] = /^(\w+) = (\d+);$/.exec(line ?? '') ?? fail(state, line ?? name);
    values.push({ name: value, number: Number(number) });
  }
  return { kind: 'enum', name, comment, section, values };
}

function distinct(name: string, fields: readonly Field[]): void {
  for (const what of ['name', 'number'] as const) {
    const twice = fields.find(
      (field, index) => fields.findIndex((other) => other[what] === field[what]) !== index,
    );
    if (twice !== undefined) throw new Error(`${name}: two fields have the ${what} ${twice[what]}.`);
  }
}

/** The next line that is neither blank nor a comment; the comments before it are kept. */
function next(state: State): string | undefined {
  for (;;) {
    const line = state.lines[state.at++];
    if (line === undefined) return undefined;
    const [, section] = /^\/\/ --- (.*?) -+$/.exec(line) ?? [];
    if (section !== undefined) {
      state.section = section;
      state.comment = [];
    } else if (line.startsWith('//')) state.comment.push(line.slice(2).trim());
    else if (line === '')
      state.comment = state.comment.length > 0 && state.at < 10 ? [...state.comment, ''] : [];
    else return line;
  }
}

function taken(state: State): string {
  const text = state.comment
    .join('\n')
    .replaceAll(/(?<!\n)\n(?!\n)/g, ' ')
    .trim();
  state.comment = [];
  return text;
}

function fail(state: State, line: string): never {
  throw new Error(`crab.proto:${state.at}: not understood: ${line}`);
}
