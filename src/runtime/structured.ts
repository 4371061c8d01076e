// The tool that a run with `--json-schema` must end with: its input is the answer, so the one validator of all calls
// checks it, and a model that gets it wrong is told why and tries again.

import type { Display } from '../core/display.ts';
import type { JsonSchema } from '../core/schema.ts';
import { type Tool, textOutput } from '../core/tool.ts';

export interface StructuredOutput {
  readonly tool: Tool;
  /** The last valid value, undefined until there is one. */
  value(): unknown;
}

/** A schema that is no object is wrapped, since tool inputs are objects: the value then stands under `value`. */
export function structuredOutput(schema: JsonSchema): StructuredOutput {
  const isObject = schema.type === 'object' || schema.properties !== undefined;
  const input: JsonSchema = isObject
    ? schema
    : { type: 'object', properties: { value: schema }, required: ['value'], additionalProperties: false };
  let value: unknown;
  const tool: Tool = {
    name: 'structured_output',
    aliases: ['StructuredOutput'],
    source: 'builtin',
    description: 'Give the final answer in the shape asked for. Call it once, at the end.',
    input,
    plan: async () => ({ access: { kind: 'none' }, parallel: false, repeatable: true }),
    run: async (given) => {
      value = isObject ? given : given.value;
      return textOutput('The answer is accepted.');
    },
    show: async (given): Promise<Display> => ({
      kind: 'markdown',
      text: `\`\`\`json\n${JSON.stringify(given, null, 2)}\n\`\`\``,
    }),
  };
  return { tool, value: () => value };
}
