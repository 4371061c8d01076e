// The tool `config`: reads settings, and changes a few that are harmless to change. What holds keys, addresses or
// commands is not in the list, so that a model can neither learn a secret from it nor turn its own requests elsewhere.
// A change is a write to the file of settings, which lies outside the workspace: permissions ask about it. What it does is loaded with the first call.

import type { Files } from '../../core/host.ts';
import type { Tool } from '../../core/tool.ts';
import { SETTINGS } from './changeable.ts';

export interface ConfigToolOptions {
  /** `config.toml`; absolute. */
  readonly path: string;
  /** Crab's own: those of a call stay out of its home. */
  readonly files: Files;
  /** Reads a text of settings. Throws with a sentence that says what is wrong with it. */
  check(text: string): Promise<void>;
}

const LISTING = Object.entries(SETTINGS)
  .map(([key, means]) => `${key} (${means})`)
  .join(', ');

export function createConfigTool(options: ConfigToolOptions): Tool {
  return {
    name: 'config',
    aliases: ['Config'],
    source: 'builtin',
    isDeferred: true,
    description: `Reads settings of Crab, or changes one when \`value\` is given; null removes it. ${LISTING}.`,
    keywords: ['preferences', 'configuration', 'option'],
    input: {
      type: 'object',
      properties: {
        setting: { type: 'string', enum: Object.keys(SETTINGS), description: 'Default: all are read' },
        value: { type: ['string', 'number', 'boolean', 'null'] },
      },
    },
    plan: async (input) => ({
      access: Object.hasOwn(input, 'value') ? { kind: 'write', paths: [options.path] } : { kind: 'none' },
      parallel: false,
      repeatable: true,
    }),
    run: async (input) => (await import('./config-calls.ts')).runConfig(options, input),
    show: async ({ setting, value }) => ({
      kind: 'markdown',
      text: value === undefined ? String(setting ?? 'all settings') : `${setting} = ${JSON.stringify(value)}`,
    }),
  };
}
