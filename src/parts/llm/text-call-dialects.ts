// The ways in which models print a tool call when their server does not take it out of the text: the formats of their
// chat templates (huggingface.co, `tokenizer_config.json` of each family; vLLM's and llama.cpp's tool parsers). Each
// reader takes what stands between an opening and its end and returns undefined for anything that it does not know whole.

import type { JsonObject, JsonSchema } from '../../core/schema.ts';

export interface ReadCall {
  readonly name: string;
  readonly input: JsonObject;
}

/** The schema of one argument of one tool; undefined where none is declared. */
export type SchemaOf = (tool: string, argument: string) => JsonSchema | undefined;

export interface TextDialect {
  readonly open: string;
  /** Any of them ends it; none: the end of the answer does. */
  readonly close: readonly string[];
  /** Beginnings of what follows the opening, without white space; any when absent. */
  readonly heads?: readonly string[];
  /** The name of a tool may follow the opening, too. */
  readonly named?: true;
  read(body: string, schemaOf: SchemaOf): readonly ReadCall[] | undefined;
}

const JSON_HEADS = [
  'name',
  'type',
  'function',
  'tool',
  'tool_name',
  'arguments',
  'parameters',
  'tool_calls',
].flatMap((field) => [`{"${field}":`, `[{"${field}":`]);
const FENCE_HEADS = ['', 'json', 'tool_call', 'tool_calls', 'tool_code', 'function_call'].flatMap((info) =>
  JSON_HEADS.map((head) => info + head),
);

/** JSON alone, at the very beginning of an answer (Llama 3). */
export const BARE: TextDialect = { open: '', close: [], heads: JSON_HEADS, read: jsonCalls };

/** A code block that holds nothing but calls. */
export const FENCE: TextDialect = {
  open: '```',
  close: ['\n```'],
  heads: FENCE_HEADS,
  read: (body) => jsonCalls(body.replace(/^[a-z_]*/, '')),
};

export const TAGGED: readonly TextDialect[] = [
  // Hermes, Qwen 2.5 and 3; Qwen3-Coder; GLM 4.5.
  {
    open: '<tool_call>',
    close: ['</tool_call>'],
    heads: [...JSON_HEADS, '<function='],
    named: true,
    read: (body, schemaOf) => jsonCalls(body) ?? functionTag(body, schemaOf) ?? argumentTags(body, schemaOf),
  },
  // Llama 3.1 in its own words; Qwen3-Coder without its frame.
  {
    open: '<function=',
    close: ['</function>'],
    read: (body, schemaOf) => functionTag(`<function=${body}</function>`, schemaOf),
  },
  // Mistral.
  { open: '[TOOL_CALLS]', close: [], read: mistralCalls },
  // Llama 3.
  { open: '<|python_tag|>', close: ['<|eom_id|>', '<|eot_id|>'], read: jsonCalls },
  // Phi 4 and Granite.
  { open: '<|tool_call|>', close: ['<|/tool_call|>'], heads: JSON_HEADS, read: jsonCalls },
  // DeepSeek.
  { open: '<｜tool▁calls▁begin｜>', close: ['<｜tool▁calls▁end｜>'], read: deepseekCalls },
  // Kimi K2.
  { open: '<|tool_calls_section_begin|>', close: ['<|tool_calls_section_end|>'], read: kimiCalls },
  // MiniMax, and whoever learned from Claude.
  { open: '<minimax:tool_call>', close: ['</minimax:tool_call>'], read: invokeCalls },
  { open: '<function_calls>', close: ['</function_calls>'], read: invokeCalls },
  {
    open: '<invoke name=',
    close: ['</invoke>'],
    read: (body, schemaOf) => invokeCalls(`<invoke name=${body}</invoke>`, schemaOf),
  },
];

function jsonCalls(text: string): readonly ReadCall[] | undefined {
  const values = jsonValues(text);
  const calls = values?.flat().flatMap((value): (ReadCall | undefined)[] => {
    const list = isObject(value) ? value['tool_calls'] : undefined;
    return Array.isArray(list) ? list.map(callIn) : [callIn(value)];
  });
  return whole(calls);
}

/** All of them or none: half of what a model wanted is not what it wanted. */
function whole(calls: readonly (ReadCall | undefined)[] | undefined): readonly ReadCall[] | undefined {
  const known = calls?.filter((call) => call !== undefined) ?? [];
  return known.length > 0 && known.length === calls?.length ? known : undefined;
}

/** Values side by side, as models write several calls: with commas, semicolons or lines between them. */
function jsonValues(text: string): unknown[] | undefined {
  const values: unknown[] = [];
  for (let rest = text.trim(); rest !== ''; ) {
    const end = jsonEnd(rest);
    const value = end === undefined ? undefined : parsed(rest.slice(0, end));
    if (end === undefined || value === undefined) return undefined;
    values.push(value);
    rest = rest.slice(end).replace(/^[\s,;]+/, '');
  }
  return values;
}

/** Where the object or array that a text begins with ends. */
function jsonEnd(text: string): number | undefined {
  if (text[0] !== '{' && text[0] !== '[') return undefined;
  let depth = 0;
  for (const { 0: mark, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (mark === '{' || mark === '[') depth++;
    else if (mark === '}' || mark === ']') depth--;
    if (depth === 0) return index + 1;
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function callIn(value: unknown): ReadCall | undefined {
  if (!isObject(value)) return undefined;
  const within = isObject(value['function']) ? value['function'] : value;
  const name = within['name'] ?? value['tool_name'] ?? value['tool'] ?? value['function'];
  const given = within['arguments'] ?? within['parameters'] ?? within['args'] ?? within['input'] ?? {};
  const input = typeof given === 'string' ? parsed(given) : given;
  return typeof name === 'string' && isObject(input) ? { name: bareName(name), input } : undefined;
}

function bareName(name: string): string {
  return name.trim().replace(/^functions\./, '');
}

/** `<function=ls>{"path":"."}</function>`, or with `<parameter=path>.</parameter>` in place of JSON. */
function functionTag(text: string, schemaOf: SchemaOf): readonly ReadCall[] | undefined {
  const calls = [...text.matchAll(/<function=([^>\s]+)>(.*?)<\/function>/gs)];
  return whole(
    calls.map(([, name = '', body = '']) => {
      const input = body.trim().startsWith('{') ? parsed(body) : undefined;
      if (isObject(input)) return { name, input };
      return argumentsIn(name, body, /<parameter=([^>\s]+)>(.*?)<\/parameter>/gs, schemaOf);
    }),
  );
}

/** `NAME <arg_key>path</arg_key> <arg_value>.</arg_value> …` */
function argumentTags(text: string, schemaOf: SchemaOf): readonly ReadCall[] | undefined {
  const [, name = '', body = ''] = /^\s*([\w.-]+)\s*(.*)$/s.exec(text) ?? [];
  const pattern = /<arg_key>(.*?)<\/arg_key>\s*<arg_value>(.*?)<\/arg_value>/gs;
  return name === '' ? undefined : whole([argumentsIn(name, body, pattern, schemaOf)]);
}

/** `<invoke name="ls"><parameter name="path">.</parameter></invoke>` */
function invokeCalls(text: string, schemaOf: SchemaOf): readonly ReadCall[] | undefined {
  const calls = [...text.matchAll(/<invoke name="?([^">]+)"?\s*>(.*?)<\/invoke>/gs)];
  const pattern = /<parameter name="?([^">]+)"?[^>]*>(.*?)<\/parameter>/gs;
  return whole(calls.map(([, name = '', body = '']) => argumentsIn(name, body, pattern, schemaOf)));
}

/** Undefined when anything but the arguments stands there. */
function argumentsIn(name: string, body: string, pattern: RegExp, schemaOf: SchemaOf): ReadCall | undefined {
  if (body.replaceAll(pattern, '').trim() !== '') return undefined;
  const tool = bareName(name);
  const entries = [...body.matchAll(pattern)].map(([, key = '', value = '']) => {
    const argument = key.trim();
    return [argument, typed(value, schemaOf(tool, argument))] as const;
  });
  return { name: tool, input: Object.fromEntries(entries) };
}

/** Between tags everything is text; what the schema wants as something else is read as JSON. */
function typed(value: string, schema: JsonSchema | undefined): unknown {
  const text = value.replace(/^\n/, '').replace(/\n$/, '');
  if (schema?.type === undefined || schema.type === 'string') return text;
  return parsed(text.trim()) ?? text;
}

/** `[{"name":…}]`; since 2025 `NAME[ARGS]{…}`, perhaps with `[CALL_ID]` between, once for each call. */
function mistralCalls(text: string): readonly ReadCall[] | undefined {
  const list = jsonCalls(text.replace(/<\/s>\s*$/, ''));
  if (list !== undefined) return list;
  const calls = text.split('[TOOL_CALLS]').map((piece) => {
    const [, name = '', json = ''] =
      /^\s*([\w.-]+)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?(\s*\{.*)$/s.exec(piece) ?? [];
    const input = parsed(json.replace(/<\/s>\s*$/, ''));
    return isObject(input) ? { name, input } : undefined;
  });
  return whole(calls);
}

/** `NAME<sep>{…}` (V3.1), or `function<sep>NAME` with a code block of JSON (V3, R1). */
function deepseekCalls(text: string): readonly ReadCall[] | undefined {
  const [before = '', ...pieces] = text.split('<｜tool▁call▁begin｜>');
  if (before.trim() !== '') return undefined;
  const calls = pieces.map((piece) => {
    const said = piece.replace(/<｜tool▁call▁end｜>\s*$/, '').replace(/^function<｜tool▁sep｜>/, '');
    const [, name = '', json = ''] =
      /^\s*([\w.-]+)\s*(?:<｜tool▁sep｜>|```json)\s*(.*?)\s*(?:```)?\s*$/s.exec(said) ?? [];
    const input = parsed(json);
    return isObject(input) ? { name, input } : undefined;
  });
  return whole(calls);
}

/** `<|tool_call_begin|>functions.ls:0<|tool_call_argument_begin|>{…}<|tool_call_end|>` */
function kimiCalls(text: string): readonly ReadCall[] | undefined {
  const [before = '', ...pieces] = text.split('<|tool_call_begin|>');
  if (before.trim() !== '') return undefined;
  const calls = pieces.map((piece) => {
    const [said = '', json = ''] = piece
      .replace(/<\|tool_call_end\|>\s*$/, '')
      .split('<|tool_call_argument_begin|>');
    const input = parsed(json);
    return isObject(input) ? { name: bareName(said).replace(/:\d+$/, ''), input } : undefined;
  });
  return whole(calls);
}
