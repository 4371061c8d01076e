// The tool `lsp`: what a language server knows of the code. This is its face; what answers is loaded with the first call.

import type { JsonObject } from '../../core/schema.ts';
import type { Tool } from '../../core/tool.ts';
import type { LspCalls } from './lsp-calls.ts';

const OPERATIONS = [
  'go_to_definition',
  'go_to_implementation',
  'find_references',
  'hover',
  'document_symbols',
  'workspace_symbols',
  'incoming_calls',
  'outgoing_calls',
  'diagnostics',
] as const;

export type Operation = (typeof OPERATIONS)[number];

const DESCRIPTION =
  'Asks a language server about code: go_to_definition, go_to_implementation, find_references, hover, incoming_calls and outgoing_calls of the symbol at line and character (or at the text symbol in that line); document_symbols and diagnostics of a file; workspace_symbols by query. ' +
  'Exact where grep guesses. Positions count from 1, as editors show them.';

/** For one conversation: what was allowed in one is not allowed in another. */
export function createLspTool(load: () => Promise<LspCalls>): Tool {
  const allowed = new Set<string>();
  return {
    name: 'lsp',
    aliases: ['LSP'],
    source: 'builtin',
    description: DESCRIPTION,
    isDeferred: true,
    input: {
      type: 'object',
      properties: {
        operation: { type: 'string', enum: OPERATIONS },
        path: { type: 'string', description: 'The file; for workspace_symbols any file of the language' },
        line: { type: 'integer', minimum: 1 },
        character: { type: 'integer', minimum: 1 },
        symbol: { type: 'string', description: 'In place of character: a name that stands in the line' },
        query: { type: 'string', description: 'For workspace_symbols' },
      },
      required: ['operation', 'path'],
      additionalProperties: false,
    },
    prepare,
    plan: async (input, cwd) => (await load()).plan(input, cwd, allowed),
    show: async (input) => ({ kind: 'markdown', text: `\`lsp\` ${summary(input)}` }),
    run: async (input, context) => (await load()).run(input, context, allowed),
  };
}

const INPUT_NAMES: Readonly<Record<string, string>> = {
  filePath: 'path',
  file_path: 'path',
  file: 'path',
  column: 'character',
};

/** Names that other agents' tools have for the same. */
const OPERATION_NAMES: Readonly<Record<string, Operation>> = {
  definition: 'go_to_definition',
  implementation: 'go_to_implementation',
  references: 'find_references',
  document_symbol: 'document_symbols',
  workspace_symbol: 'workspace_symbols',
  prepare_call_hierarchy: 'incoming_calls',
  call_hierarchy: 'incoming_calls',
};

function prepare(input: JsonObject): JsonObject {
  const named = Object.fromEntries(
    Object.entries(input).map(([key, value]) => [INPUT_NAMES[key] ?? key, value]),
  );
  const { operation } = named;
  if (typeof operation !== 'string') return named;
  const snake = operation.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return { ...named, operation: OPERATION_NAMES[snake] ?? snake };
}

function summary(input: JsonObject): string {
  const { line, character, symbol } = input;
  const where =
    typeof line === 'number' ? `:${line}${typeof character === 'number' ? `:${character}` : ''}` : '';
  const what = typeof symbol === 'string' ? ` ${symbol}` : '';
  return `${textOf(input, 'operation').replaceAll('_', ' ')} ${textOf(input, 'path')}${where}${what} ${textOf(input, 'query')}`.trim();
}

function textOf(input: JsonObject, key: string): string {
  const value = input[key];
  return typeof value === 'string' ? value : '';
}
