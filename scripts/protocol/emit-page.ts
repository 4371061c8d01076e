// The page of the wire: what somebody who has nothing else needs to write a client. Its prose is docs/wire/wire.md.in;
// the tables of messages come from crab.proto.

import { camel } from './emit-code.ts';
import type { Field, Message, Schema } from './parse-proto.ts';

/** The place of the tables in the prose. */
const MARK = '<!-- messages -->\n';

/** `answers`: what each message of a client is answered with, by its camel-case name. */
export function emitPage(schema: Schema, prose: string, answers: Readonly<Record<string, string>>): string {
  if (!prose.includes(MARK)) throw new Error('docs/wire/wire.md.in has no place for the messages.');
  const [client, server] = ['ClientMessage', 'ServerMessage'].map((name) => messageOf(schema, name));
  if (client === undefined || server === undefined) throw new Error('crab.proto has no envelopes.');
  const senders = sendersOf(schema, client, server);
  const sections = [...new Set(schema.types.map(({ section }) => section))];
  const tables = sections.flatMap((section) => [
    `### ${section}\n`,
    ...schema.types
      .filter((type) => type.section === section && type !== client && type !== server)
      .map((type) => (type.kind === 'enum' ? enumTable(type) : messageTable(type, senders.get(type.name)))),
  ]);
  const envelopes = [
    '### What a client sends\n',
    table(
      ['#', 'case', 'message', 'answered with', ''],
      (client.oneof?.fields ?? []).map((field) => [
        String(field.number),
        `\`${camel(field.name)}\``,
        `\`${field.type}\``,
        answers[camel(field.name)] ?? fail(field.name),
        field.comment,
      ]),
    ),
    fieldsOf('Beside it', client.fields),
    '### What the server sends\n',
    table(
      ['#', 'case', 'message', ''],
      (server.oneof?.fields ?? []).map((field) => [
        String(field.number),
        `\`${camel(field.name)}\``,
        `\`${field.type}\``,
        field.comment,
      ]),
    ),
    fieldsOf('Beside it', server.fields),
  ];
  const [, ...own] = tables;
  return prose.replace(MARK, () => [...envelopes, ...own].join('\n'));
}

function messageOf({ types }: Schema, name: string): Message | undefined {
  const found = types.find((type) => type.name === name);
  return found?.kind === 'message' ? found : undefined;
}

/** Who sends a message, by its name: what an envelope names, and what that names. */
function sendersOf(schema: Schema, client: Message, server: Message): ReadonlyMap<string, string> {
  const reach = (from: Message, seen = new Set<string>()) => {
    for (const { type } of [...from.fields, ...(from.oneof?.fields ?? [])]) {
      const inner = messageOf(schema, type);
      if (inner === undefined || seen.has(type)) continue;
      seen.add(type);
      reach(inner, seen);
    }
    return seen;
  };
  const [mine, theirs] = [reach(client), reach(server)];
  const names = schema.types.map(({ name }) => name);
  return new Map(
    names.map((name) => [
      name,
      mine.has(name) && theirs.has(name) ? 'both' : mine.has(name) ? 'client' : 'server',
    ]),
  );
}

function messageTable({ name, comment, fields, oneof }: Message, sender = 'server'): string {
  const head = `#### ${name}\n\nSent by ${sender === 'both' ? 'both' : `the ${sender}`}.${comment === '' ? '' : ` ${comment}`}\n`;
  const all = [...(oneof?.fields ?? []), ...fields];
  if (all.length === 0) return `${head}\nIt has no fields.\n`;
  const one = oneof === undefined ? '' : '\nOne of these, never two:\n';
  return `${head}${one}\n${rows(all)}`;
}

function enumTable({
  name,
  values,
}: {
  readonly name: string;
  readonly values: readonly { readonly name: string; readonly number: number }[];
}): string {
  const body = values.map((value) => [String(value.number), `\`${value.name}\``]);
  return `#### ${name}\n\nAn enum; its names stand in the JSON form.\n\n${table(['#', 'name'], body)}`;
}

function fieldsOf(title: string, fields: readonly Field[]): string {
  return `${title}:\n\n${rows(fields)}`;
}

function rows(fields: readonly Field[]): string {
  return table(
    ['#', 'field', 'JSON', 'type', ''],
    fields.map(({ number, name, type, label, comment }) => [
      String(number),
      `\`${name}\``,
      `\`${camel(name)}\``,
      `${label === 'plain' ? '' : `${label} `}\`${type}\``,
      comment,
    ]),
  );
}

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return `${[line(head), `|${head.map(() => '---').join('|')}|`, ...body.map(line)].join('\n')}\n`;
}

function fail(name: string): never {
  throw new Error(`It is not known what ${name} is answered with.`);
}
