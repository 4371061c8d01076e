// What can be said of a tool from what it declares: its parameters as rows, and what a call of it touches. The last is
// asked of the tool itself, for an input that has everything: there is no second list that could say something else.

import type { JsonObject, JsonSchema } from '../core/schema.ts';
import type { CallPlan, Tool } from '../core/tool.ts';

export interface Parameter {
  /** `todos[].content` for one inside a list. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

export interface ToolFacts {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly source: Tool['source'];
  readonly isDeferred: boolean;
  readonly description: string;
  readonly guidelines: readonly string[];
  readonly parameters: readonly Parameter[];
  readonly safety: Safety;
  readonly input: JsonSchema;
}

/** Of a call that uses every parameter; one that uses fewer may touch less. */
export interface Safety {
  /** The kind of access that permissions judge; `depends` where the tool says nothing without a real input. */
  readonly access: CallPlan['access']['kind'] | 'depends';
  readonly parallel: boolean;
  readonly repeatable: boolean;
}

export async function factsOf(tool: Tool): Promise<ToolFacts> {
  const { name, aliases = [], source, isDeferred = false, description, guidelines = [], input } = tool;
  const parameters = parametersOf(input, '');
  const safety = await safetyOf(tool);
  return { name, aliases, source, isDeferred, description, guidelines, parameters, safety, input };
}

export function firstSentence(text: string): string {
  return (/^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text).replace(/\s+/g, ' ');
}

function parametersOf(schema: JsonSchema, prefix: string): readonly Parameter[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
    const name = `${prefix}${key}`;
    const row = {
      name,
      type: typeOf(value),
      required: required.has(key),
      description: descriptionOf(value),
    };
    const inner =
      value.items === undefined ? parametersOf(value, `${name}.`) : parametersOf(value.items, `${name}[].`);
    return [row, ...inner];
  });
}

function typeOf({ type, items, enum: choices }: JsonSchema): string {
  if (choices !== undefined) return choices.map(String).join(' | ');
  if (items !== undefined) return `${typeOf(items)}[]`;
  return typeof type === 'string' ? type : (type ?? ['any']).join(' | ');
}

function descriptionOf({ description = '', minItems, maxItems }: JsonSchema): string {
  const least = typeof minItems === 'number' ? [`at least ${minItems}`] : [];
  const most = typeof maxItems === 'number' ? [`at most ${maxItems}`] : [];
  return [description, ...least, ...most].filter((part) => part !== '').join('; ');
}

async function safetyOf(tool: Tool): Promise<Safety> {
  try {
    const { access, parallel, repeatable } = await tool.plan(sampleOf(tool.input) as JsonObject, '/');
    return { access: access.kind, parallel, repeatable };
  } catch {
    return { access: 'depends', parallel: false, repeatable: false };
  }
}

function sampleOf({ type, items, enum: choices, properties }: JsonSchema): unknown {
  if (choices !== undefined) return choices.at(-1);
  const [first] = typeof type === 'string' ? [type] : (type ?? ['object']);
  switch (first) {
    case 'string':
      return 'https://example.org/';
    case 'number':
    case 'integer':
      return 1;
    case 'boolean':
      return true;
    case 'array':
      return items === undefined ? [] : [sampleOf(items)];
    case 'null':
      return null;
    default:
      return Object.fromEntries(
        Object.entries(properties ?? {}).map(([key, value]) => [key, sampleOf(value)]),
      );
  }
}
