// JSON Schema (draft 2020-12) of the core types that cross the wire as JSON, read from their declarations. It knows the
// part of TypeScript that these are written in; anything else is an error, so that a schema never says less than its type.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'rolldown/utils';

export type Schema = { readonly [keyword: string]: unknown };

/** A node of the syntax tree (ESTree with TypeScript). */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

interface Declared {
  readonly node: Node;
  readonly comment: string;
  readonly file: string;
}

/** What stands on the wire as JSON; the rest is what these are made of. */
export const ROOTS = ['OpenRequest', 'OpenReply', 'Prompt', 'Answer', 'Control', 'Event'] as const;

/** The definitions of `roots` and of everything that they name, in that order. */
export function coreSchema(
  folder: string,
  roots: readonly string[] = ROOTS,
): Readonly<Record<string, Schema>> {
  const definitions: Record<string, Schema> = {};
  const reader = new TypeReader(declarationsOf(folder), folder);
  for (const name of roots) reader.wanted.add(name);
  for (const name of reader.wanted) definitions[name] = reader.define(name);
  return definitions;
}

function declarationsOf(folder: string): Map<string, Declared[]> {
  const found = new Map<string, Declared[]>();
  for (const file of readdirSync(folder).filter((name) => /^[a-z-]+\.ts$/.test(name))) {
    const { program, comments, errors } = parseSync(file, readFileSync(join(folder, file), 'utf8'));
    if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`);
    for (const statement of program.body as unknown as readonly Node[]) {
      const node = ((statement['declaration'] as Node | null) ?? statement) as Node;
      const before = comments.findLast(({ end }) => end <= statement.start);
      const isOwn = before?.type === 'Block' && statement.start - before.end <= 1;
      const comment = isOwn ? said(before.value) : '';
      for (const [name, declared] of namesOf(node))
        found.set(name, [...(found.get(name) ?? []), { node: declared, comment, file }]);
    }
  }
  return found;
}

function namesOf(node: Node): readonly (readonly [string, Node])[] {
  if (node.type === 'TSInterfaceDeclaration' || node.type === 'TSTypeAliasDeclaration')
    return [[nameOf(node['id']), node]];
  if (node.type !== 'VariableDeclaration') return [];
  return (node['declarations'] as readonly Node[]).map((one) => [nameOf(one['id']), one]);
}

function nameOf(node: unknown): string {
  const { name, value } = node as { readonly name?: string; readonly value?: unknown };
  return name ?? String(value);
}

/** A comment without its stars, in one line. */
function said(comment: string): string {
  return comment
    .replaceAll(/^[ \t]*\*+/gm, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

class TypeReader {
  /** Grows while it is gone through. */
  readonly wanted = new Set<string>();
  readonly #all: ReadonlyMap<string, readonly Declared[]>;
  readonly #folder: string;

  constructor(all: ReadonlyMap<string, readonly Declared[]>, folder: string) {
    this.#all = all;
    this.#folder = folder;
  }

  define(name: string): Schema {
    const { node, comment } = this.#find(name);
    const description = comment === '' ? {} : { description: comment };
    if (node.type === 'TSTypeAliasDeclaration')
      return { ...description, ...this.#type(node['typeAnnotation'], name) };
    return { ...description, ...this.#interface(node, name) };
  }

  #find(name: string): Declared {
    const [found, ...others] = this.#all.get(name) ?? [];
    if (found === undefined) throw new Error(`${this.#folder} declares no ${name}.`);
    if (others.length > 0) throw new Error(`${name} is declared in ${found.file} and in ${others[0]?.file}.`);
    return found;
  }

  #interface(node: Node, at: string): Schema {
    const own = this.#object((node['body'] as { readonly body: readonly Node[] }).body, at);
    if ((node['extends'] as readonly Node[]).length === 0) return own;
    const bases = (node['extends'] as readonly Node[]).map((base) => this.#flat(base['expression'], at));
    return merged([...bases, own]);
  }

  #object(members: readonly Node[], at: string): Schema {
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    let others: Schema | false = false;
    for (const member of members) {
      const inner = (member['typeAnnotation'] as Node | null)?.['typeAnnotation'];
      if (member.type === 'TSIndexSignature') others = this.#type(inner, at);
      else if (member.type !== 'TSPropertySignature') throw unknown(member, at);
      else {
        const name = nameOf(member['key']);
        properties[name] = this.#type(inner, `${at}.${name}`);
        if (member['optional'] !== true) required.push(name);
      }
    }
    return {
      type: 'object',
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: others,
    };
  }

  #type(given: unknown, at: string): Schema {
    const node = given as Node;
    const inner = node['typeAnnotation'];
    switch (node.type) {
      case 'TSStringKeyword':
        return { type: 'string' };
      case 'TSNumberKeyword':
        return { type: 'number' };
      case 'TSBooleanKeyword':
        return { type: 'boolean' };
      case 'TSNullKeyword':
        return { type: 'null' };
      case 'TSUnknownKeyword':
        return {};
      case 'TSParenthesizedType':
        return this.#type(inner, at);
      case 'TSLiteralType':
        return { const: (node['literal'] as { readonly value: unknown }).value };
      case 'TSArrayType':
        return { type: 'array', items: this.#type(node['elementType'], at) };
      case 'TSTypeLiteral':
        return this.#object(node['members'] as readonly Node[], at);
      case 'TSUnionType':
        return this.#union(node['types'] as readonly Node[], at);
      case 'TSIntersectionType':
        return merged((node['types'] as readonly Node[]).map((one) => this.#flat(one, at)));
      case 'TSTypeReference':
        return this.#reference(node, at);
      case 'TSIndexedAccessType':
        return { enum: this.#values(node['objectType'], at) };
      case 'TSTypeOperator':
        if (node['operator'] === 'readonly') return this.#type(inner, at);
        if (node['operator'] === 'keyof') return { enum: this.#keys(inner, at) };
        throw unknown(node, at);
      default:
        throw unknown(node, at);
    }
  }

  #reference(node: Node, at: string): Schema {
    const name = nameOf(node['typeName']);
    const given = ((node['typeArguments'] as Node | null)?.['params'] ?? []) as readonly Node[];
    if (given.length === 0) {
      this.wanted.add(name);
      return { $ref: `#/$defs/${name}` };
    }
    if (name === 'Readonly') return this.#type(given[0], at);
    if (name === 'Record') return { type: 'object', additionalProperties: this.#type(given[1], at) };
    if (name === 'Pick') {
      const { properties } = this.#flat(given[0], at) as {
        readonly properties: Readonly<Record<string, Schema>>;
      };
      const { enum: names } = this.#type(given[1], at) as { readonly enum: readonly string[] };
      const picked = Object.fromEntries(names.map((one) => [one, properties[one]]));
      return { type: 'object', properties: picked, required: names, additionalProperties: false };
    }
    throw unknown(node, at);
  }

  #union(types: readonly Node[], at: string): Schema {
    const all = types.map((one) => this.#type(one, at));
    if (all.every((one) => 'const' in one)) return { enum: all.map((one) => one['const']) };
    return { anyOf: all };
  }

  /** As an object that can be put together with others: what it names is looked up. */
  #flat(given: unknown, at: string): Schema {
    const node = given as Node;
    if (node.type === 'Identifier') return this.#interface(this.#find(nameOf(node)).node, at);
    const schema = this.#type(node, at);
    const [, name] = /^#\/\$defs\/(.*)$/.exec(String(schema['$ref'] ?? '')) ?? [];
    if (name === undefined) return schema;
    const { description: _, ...found } = this.define(name);
    return found;
  }

  /** Of `typeof X`, where X is an array of texts. */
  #values(given: unknown, at: string): readonly string[] {
    const { elements } = this.#constant(given, at);
    return (elements as readonly { readonly value: string }[]).map(({ value }) => value);
  }

  /** Of `typeof X`, where X is an object. */
  #keys(given: unknown, at: string): readonly string[] {
    const { properties } = this.#constant(given, at);
    return (properties as readonly Node[]).map(({ key }) => nameOf(key));
  }

  #constant(given: unknown, at: string): Node {
    let node = given as Node;
    if (node.type === 'TSParenthesizedType') node = node['typeAnnotation'] as Node;
    if (node.type !== 'TSTypeQuery') throw unknown(node, at);
    let value = this.#find(nameOf(node['exprName'])).node['init'] as Node;
    while (value.type.startsWith('TS')) value = value['expression'] as Node;
    return value;
  }
}

/** One object with the properties of all. */
function merged(all: readonly Schema[]): Schema {
  const of = (keyword: string) => all.map((one) => (one[keyword] ?? {}) as Record<string, Schema>);
  const required = all.flatMap((one) => (one['required'] ?? []) as readonly string[]);
  if (all.some((one) => one['type'] !== 'object')) throw new Error('Only objects can be put together.');
  return {
    type: 'object',
    properties: Object.assign({}, ...of('properties')),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function unknown(node: Node, at: string): Error {
  return new Error(`${at}: ${node.type} is not understood.`);
}
