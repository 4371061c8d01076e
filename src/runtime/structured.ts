// How a run with `--json-schema` ends: by calling a tool whose input is the answer, so that the one validator of all
// calls checks it; or, from a model that answers in a shape when asked to, by a text that is that value. A model that
// gets it wrong is told why and tries again.

import type { Display } from '../core/display.ts';
import { messageOf } from '../core/errors.ts';
import type { JsonObject, JsonSchema } from '../core/schema.ts';
import { type Tool, textOutput } from '../core/tool.ts';
import type { Finish } from '../engine/requests.ts';
import { validate } from '../engine/schema.ts';

export interface StructuredOutput {
  readonly tool: Tool;
  readonly finish: Finish;
}

/** A schema that is no object is wrapped, since inputs and answers are objects: the value then stands under `value`. */
export function structuredOutput(schema: JsonSchema): StructuredOutput {
  const isObject = schema.type === 'object' || schema.properties !== undefined;
  const input: JsonSchema = isObject
    ? schema
    : { type: 'object', properties: { value: schema }, required: ['value'], additionalProperties: false };
  let value: unknown;
  const take = (given: JsonObject) => {
    value = isObject ? given : given.value;
  };
  const tool: Tool = {
    name: 'structured_output',
    aliases: ['StructuredOutput'],
    source: 'builtin',
    description: 'Give the final answer in the shape asked for. Call it once, at the end.',
    input,
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
    run: async (given) => {
      take(given);
      return textOutput('The answer is accepted.');
    },
    show: async (given): Promise<Display> => ({
      kind: 'markdown',
      text: `\`\`\`json\n${JSON.stringify(given, null, 2)}\n\`\`\``,
    }),
  };
  const accept = (text: string): string | undefined => {
    let given: unknown;
    try {
      given = JSON.parse(text);
    } catch (error) {
      return `The answer is not valid JSON: ${messageOf(error)}.`;
    }
    const faults = validate(given, input).map(({ path, message }) => `${path || 'the value'} ${message}`);
    if (faults.length > 0) return `The answer does not have the shape asked for: ${faults.join('; ')}.`;
    take(given as JsonObject);
    return undefined;
  };
  const native = { output: { name: tool.name, schema: input }, accept };
  return { tool, finish: { tool: tool.name, value: () => value, native } };
}
